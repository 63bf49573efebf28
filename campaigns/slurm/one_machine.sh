#!/usr/bin/env bash
# A Slurm of two nodes on this machine, for one command: `one_machine.sh COMMAND ...` (as root; Debian's packages slurmctld, slurmd,
# slurm-client and munge). Configuration, keys, state and logs lie in a temporary folder; when the command ends, so do the daemons.
set -euo pipefail
for program in munged slurmctld slurmd sbatch; do
    PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "no $program: apt-get install slurmctld slurmd slurm-client munge" >&2; exit 3; }
done
PATH=$PATH:/usr/sbin
place=$(mktemp -d /tmp/slurm.XXXXXX)
chmod 755 "$place"
daemons=()
stop() {
    scancel --user root 2>/dev/null || true
    for ((n = ${#daemons[@]} - 1; n >= 0; n--)); do kill "${daemons[n]}" 2>/dev/null || true; done
    wait "${daemons[@]}" 2>/dev/null || true
    [ -n "${KEEP:-}" ] || rm -rf "$place"
}
trap stop EXIT

mkdir "$place/state" "$place/n1" "$place/n2"
export SLURM_CONF=$place/slurm.conf
cat > "$SLURM_CONF" <<CONF
ClusterName=one
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmctldPort=17817
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$place/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
MinJobAge=3600
ReturnToService=2
StateSaveLocation=$place/state
SlurmdSpoolDir=$place/%n
SlurmctldPidFile=$place/slurmctld.pid
SlurmdPidFile=$place/%n/slurmd.pid
NodeName=n1 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=17818 CPUs=1 RealMemory=16000 State=UNKNOWN
NodeName=n2 NodeHostname=$(hostname) NodeAddr=127.0.0.1 Port=17819 CPUs=1 RealMemory=16000 State=UNKNOWN
PartitionName=all Nodes=n1,n2 Default=YES MaxTime=60 State=UP
CONF

start() {
    "$@" > "$place/$(basename "$1")-${#daemons[@]}.log" 2>&1 &
    daemons+=($!)
}

dd if=/dev/urandom of="$place/munge.key" bs=64 count=1 status=none
chmod 400 "$place/munge.key"
start munged --foreground --force --key-file "$place/munge.key" --socket "$place/munge.socket" --pid-file "$place/munge.pid" \
    --log-file "$place/munge.log" --seed-file "$place/munge.seed"
for _ in $(seq 50); do [ -S "$place/munge.socket" ] && break; sleep 0.2; done
start slurmctld -D
start slurmd -D -N n1
start slurmd -D -N n2
for _ in $(seq 150); do
    [ "$(sinfo --noheader --Node --states idle 2>/dev/null | wc -l)" = 2 ] && break
    sleep 0.2
done
[ "$(sinfo --noheader --Node --states idle | wc -l)" = 2 ] || { sinfo >&2; tail -n 20 "$place"/*.log >&2; exit 4; }

# workers and scheduler talk on this machine only
export DASK_JOBQUEUE__SLURM__INTERFACE=lo DASK_JOBQUEUE__SLURM__LOG_DIRECTORY=$place DASK_JOBQUEUE__SLURM__MEMORY="2 GB"
"$@"
