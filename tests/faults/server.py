"""A server for the fault test. It writes each call to a journal before it answers, and reports who tells it to end.

    server.py FOLDER KIND

A `plain` server ends when its input does. A `stubborn` one ends only when it is killed, and has a descendant in its
process group. A `container` is as stubborn, but has no descendant. A `descendant` and a `bystander` only exist.
"""

import json
import os
import signal
import sys
import threading

FOLDER, KIND = sys.argv[1:3]
PARENT = os.getppid()


def append(file, line):
    """Appends a line in one write, so that lines of several processes do not mix."""
    handle = os.open(os.path.join(FOLDER, file), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(handle, f"{line}\n".encode())
    os.close(handle)


def watch_signals():
    """Notes a SIGTERM of a process that is not the living parent: nobody else may end this server. The engine kills containers."""
    while True:
        sender = signal.sigwaitinfo({signal.SIGTERM}).si_pid
        # Without its hub, the server belongs to process 1.
        if KIND == "container" or os.getppid() == PARENT not in (1, sender):
            append("foreign-signals", f"the {KIND} server {os.getpid()} of {PARENT} was told to end by {sender}")
        if KIND == "plain":
            os._exit(0)


def answer(message):
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize":
        info = {"name": KIND, "version": "1"}
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("note", "token")]}
    if method == "tools/call" and params["name"] == "note":
        token = params["arguments"]["token"]
        append("journal", token)
        return {"content": [{"type": "text", "text": f"noted {token}"}]}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": os.environ.get("TOKEN", "")}]}
    return {} if method == "ping" else None


def serve():
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        outcome = {"error": {"code": -32601, "message": "unknown"}} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome}), flush=True)


signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
if KIND == "stubborn":
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    nowhere = [(os.POSIX_SPAWN_OPEN, stream, os.devnull, os.O_RDWR, 0) for stream in range(3)]
    command = [sys.executable, "-I", "-S", __file__, FOLDER, "descendant"]
    os.posix_spawn(sys.executable, command, os.environ, file_actions=nowhere)
if KIND in ("descendant", "bystander"):
    while True:
        signal.pause()
threading.Thread(target=watch_signals, daemon=True).start()
try:
    serve()
except (BrokenPipeError, ValueError):
    pass
while KIND != "plain":
    signal.pause()
os._exit(0)
