"""Stands in for the client of a container engine: `run`, `stop` and `rm`, for the fault test.

A container is a file with the id of its process. The process outlives this client, as one of a real engine does.
"""

import os
import signal
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).parent
CONTAINERS = FOLDER / "containers"


def run(name):
    file = CONTAINERS / name
    file.write_text("")
    starter = os.fork()
    if starter == 0:
        os.setsid()
        # A container is no descendant of the client.
        if os.fork() > 0:
            os._exit(0)
        new = FOLDER / f"{name}.new"
        new.write_text(str(os.getpid()))
        new.rename(file)
        command = [sys.executable, "-I", "-S", str(FOLDER / "server.py"), str(FOLDER), "container"]
        os.execve(sys.executable, command, {"PATH": os.environ["PATH"]})
    os.waitpid(starter, 0)
    while file.exists():
        time.sleep(0.05)


def end(name):
    file = CONTAINERS / name
    until = time.monotonic() + 2
    while file.exists() and not file.read_text() and time.monotonic() < until:
        time.sleep(0.01)
    try:
        os.kill(int(file.read_text()), signal.SIGKILL)
    except (FileNotFoundError, ProcessLookupError, ValueError):
        pass
    file.unlink(missing_ok=True)


with (FOLDER / "engine.log").open("a") as log:
    log.write(" ".join(sys.argv[1:]) + "\n")
if sys.argv[1] == "run":
    run(sys.argv[sys.argv.index("--name") + 1])
else:
    end(sys.argv[-1])
