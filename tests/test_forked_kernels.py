"""Kernels that are forked from one process, which has imported the libraries: kernels like any other, but for their start."""

import os
import signal
import subprocess
import sys

import pytest

from cluster_toys import wait_until

pytestmark = pytest.mark.slow

SCRIPT = """
import os, time
if __name__ == "__main__":
    import nbformat
    from nbclient import NotebookClient
    from press import side_by_side

    def run(*sources):
        cells = [nbformat.v4.new_code_cell(source) for source in sources]
        client = NotebookClient(nbformat.v4.new_notebook(cells=cells), kernel_name="python3")
        client.execute(cwd={folder!r}, env=dict(os.environ, WHO="forked"))
        return [cell.outputs[0]["text"].strip() for cell in cells if cell.outputs]

    with side_by_side.available():
        print(run("import os, sys; x = 1", "print(os.environ['WHO'], os.getcwd(), x)", "print('transformers' in sys.modules)",
                  "print(os.getpgid(0) == os.getpid())"))
        first, second = run("import os; print(os.getpid())") + run("import os; print(os.getpid())")
        print(first != second, os.path.exists("/proc/" + first))
        {more}
"""


def test_each_is_a_process_of_its_own_with_the_libraries_in_memory_and_one_that_dies_is_noticed(tmp_path):
    more = """
        from nbclient.exceptions import DeadKernelError
        try:
            run("import multiprocessing, os, signal; lock = multiprocessing.RLock(); os.kill(os.getpid(), signal.SIGKILL)")
        except DeadKernelError:
            print("dead")
        print(run("print('and the next one lives')")[0])"""
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(folder=str(tmp_path), more=more))
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0 and "leaked" not in done.stderr, done.stderr
    assert done.stdout.splitlines() == [
        str([f"forked {tmp_path} 1", "True", "True"]), "True False", "dead", "and the next one lives"]


def test_all_end_with_the_process_that_started_them(tmp_path):
    script = tmp_path / "script.py"
    source = f"import os, time; open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid())); time.sleep(100)"
    script.write_text(SCRIPT.format(folder=str(tmp_path), more=f"run({source!r})"))
    process = subprocess.Popen([sys.executable, script], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until((tmp_path / "pid").exists)
    process.send_signal(signal.SIGKILL)
    process.wait()
    pid = (tmp_path / "pid").read_text()
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
