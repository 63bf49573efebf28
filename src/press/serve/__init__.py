"""`book serve`: the study's search application as a service on this machine, for programs and for people (`page/`)."""

import ipaddress
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from helpers.data.runs import adhoc_queries
from helpers.errors import BadInput
from helpers.systems.testbed import Testbed
from press.rerankers import named

TIMEOUT = 60  # seconds in which a request is answered: the two models read what the default asks for, on a slow processor too


def serve(collection: str, unit: str, rerankers: Sequence[str], host: str, port: int, names: Sequence[str]) -> int:
    """Listen until SIGTERM or Ctrl-C; requests that run are answered first. BadInput for names of no model, or if nothing can
    listen there."""
    try:
        import uvicorn

        from press.serve import app, batching, engine
    except ImportError as error:
        raise BadInput(f"{error.name} is not installed", mend="`pip install starlette uvicorn`, or `make env`") from None

    asked = rerankers or ("both",)  # as in `book search`
    wanted = dict.fromkeys([*asked, *(part for name in asked for part in named(name).models), "none"])
    engine.check(wanted)

    def make() -> engine.Engine:
        bed = Testbed(collection, unit, adhoc_queries=adhoc_queries([]))
        loaded = {Path(name).name if Path(name).is_dir() else name: engine.load(name, bed) for name in wanted}
        return engine.Engine(bed, loaded)

    try:
        sixth = ":" in host
        listening = socket.create_server((host, port), family=socket.AF_INET6 if sixth else socket.AF_INET,
                                         dualstack_ipv6=host == "::" and socket.has_dualstack_ipv6())
    except (OSError, OverflowError, ValueError) as error:  # the last for a host that is no name
        raise BadInput(f"cannot listen on {host}:{port} ({error})", mend="give another one, or end its listener") from None

    with listening:
        batcher = batching.Batcher(make, TIMEOUT)
        address, own = listening.getsockname()[:2]
        known = tuple(dict.fromkeys(name.lower() for name in (*app.HOSTS, host, *names)))
        if beyond := not ipaddress.ip_address(address).is_loopback:
            print(f"anybody who reaches {host or address} can ask, without a password or encryption, by a numeric address or as "
                  f"{', '.join(filter(None, known))}; --name adds a name", file=sys.stderr)
        print(f"listening on http://{f'[{host}]' if sixth else host}:{own}; Ctrl-C ends it", flush=True)
        usual = signal.signal(signal.SIGTERM, signal.SIG_IGN)  # uvicorn hears it first, stops, and raises it again
        try:
            uvicorn.Server(uvicorn.Config(app.application(batcher, known, beyond), ws="none", lifespan="off", log_level="error",
                                          access_log=False, server_header=False,
                                          timeout_graceful_shutdown=TIMEOUT + 1)).run(sockets=[listening])
        finally:
            signal.signal(signal.SIGTERM, usual)
            batcher.close()
    return 0
