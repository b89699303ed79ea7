"""Runs the command-line tool against real servers and checks what comes back.

    check.py BINARY CACHE TOKIO ECOSYSTEM...

TOKIO is a program on tokio that knows some of the tool's commands, for servers that are spoken to by HTTP. ECOSYSTEM is `node`, `python` or `fastmcp`: the folders below CACHE in which servers are installed. Ends with a table and
`N passed, N failed`; the exit status is 1 when anything failed.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checks import *  # noqa: F403
from harness import LEGACY, MARK, MODERN, HttpServer, Server, Wrong

CACHE, TOKIO, ECOSYSTEMS = Path(sys.argv[2]), str(Path(sys.argv[3]).resolve()), sys.argv[4:]
SERVERS = Path(__file__).resolve().parent / "servers"

ACCEPTED = {"action": "accept"}
ON_MONDAY = {"message": "On which day?", "action": "accept", "content": {"day": "monday"}}
THREE_SEATS = {"message": "How many seats on monday?", "action": "accept", "content": {"seats": 3}}


def servers(scratch):
    modules = CACHE / "node" / "node_modules" / "@modelcontextprotocol"
    python = str(CACHE / "python" / "bin" / "python")
    everything_tools = ["echo", "get-sum", "get-env", "get-tiny-image", "trigger-long-running-operation"]
    long_run = "trigger-long-running-operation"
    (scratch / "note.txt").write_text("a note\n")
    return [
        Server(
            "server-everything", "node", LEGACY, "mcp-servers/everything", everything_tools,
            ["node", str(modules / "server-everything" / "dist" / "index.js"), "stdio"],
            [
                answers("echo", {"message": "hi"}, "Echo: hi"),
                prints("echo", {"message": "hi"}, "Echo: hi"),
                answers("get-sum", {"a": 2, "b": 3}, "The sum of 2 and 3 is 5."),
                misses_argument("echo", "message"),
                reports_error("echo", {}, "-32602", ["--no-check"]),
                not_found("no-such-tool"),
                shows_image("get-tiny-image"),
                keeps_secrets("get-env"),
                shows_progress(long_run, {"duration": 1, "steps": 4}, 3),
                times_out(long_run, {"duration": 30, "steps": 2}),
                lists("resources", "resources", "name", "architecture.md"),
                lists("resources", "resourceTemplates", "uriTemplate", "demo://resource/dynamic/text/{resourceId}"),
                shows("read", ["demo://resource/dynamic/text/7"], "Resource 7"),
                lists("prompts", "prompts", "name", "args-prompt"),
                shows("prompt", ["args-prompt", '{"city":"Oslo"}'], "What's weather in Oslo?"),
                completes("prompt", "completable-prompt", "department", "E", ["Engineering"]),
                pings(),
                asks("trigger-elicitation-request", {}, {"elicitation": [ACCEPTED | {"content": {"name": "ada"}}]}, "ada"),
                asks("trigger-sampling-request", {"prompt": "x"}, {"sampling": [{"model": "m", "text": "answered"}]}, "answered"),
                asks("get-roots-list", {}, {"roots": ["file:///tmp"]}, "file:///tmp"),
                follows_task("simulate-research-query", {"topic": "x"}, "Research Report"),
                listens(),
                forced("2024-11-05", ("legacy", "2024-11-05")),
                cannot_connect("modern"),
            ],
        ),
        Server(
            "npx server-everything", "node", LEGACY, "mcp-servers/everything", everything_tools,
            ["npx", "-y", "@modelcontextprotocol/server-everything"],
            [prints("echo", {"message": "hi"}, "Echo: hi")],
            cwd=CACHE / "node",
        ),
        Server(
            "server-filesystem", "node", LEGACY, "secure-filesystem-server", ["read_text_file", "list_directory"],
            ["node", str(modules / "server-filesystem" / "dist" / "index.js"), str(scratch)],
            [
                answers("read_text_file", {"path": str(scratch / "note.txt")}, "a note\n"),
                answers_structured("list_directory", {"path": str(scratch)}, {"content": "[FILE] note.txt"}),
                reports_error("read_text_file", {"path": "/etc/hostname"}, "Access denied"),
                not_found("no-such-tool"),
            ],
        ),
        Server(
            "python sdk", "python", MODERN, "interop-modern", ["echo", "add", "count", "fail"],
            [python, str(SERVERS / "python_server.py")],
            [
                answers("echo", {"message": "grüß \u2028 Gott"}, "grüß \u2028 Gott"),
                prints("echo", {"message": "grüß Gott"}, "grüß Gott"),
                answers_structured("add", {"a": 2, "b": 3}, {"sum": 5}),
                shows_progress("count", {"to": 5}, 5),
                reports_error("fail", {"message": "no"}, "fail"),
                lists("resources", "resources", "uri", "interop://note"),
                shows("read", ["interop://note"], "a note"),
                lists("prompts", "prompts", "name", "review"),
                shows("prompt", ["review", '{"code":"this"}'], "Look at this, in rust."),
                not_found("no-such-tool"),
                completes("prompt", "review", "language", "r", ["rust", "ruby"]),
                pings(),
                saves("picture", b"\x89PNG"),
                asks("greet", {}, {"elicitation": [ACCEPTED | {"content": {"name": "ada"}}]}, "HELLO ADA"),
                asks("book", {}, {"elicitation": [ON_MONDAY, THREE_SEATS]}, "3 seats on monday"),
                asks("think", {}, {"sampling": [{"model": "m", "text": "42"}]}, "m says 42"),
                asks("where", {}, {"roots": ["file:///tmp"]}, "file:///tmp"),
                is_not_answered("greet", {}, 1),
                listens("--resource", "interop://note"),
                forced("modern", MODERN),
                forced("legacy", LEGACY),
            ],
        ),
        Server(
            "fastmcp", "fastmcp", MODERN, "interop-fastmcp", ["echo", "weather"],
            [str(CACHE / "fastmcp" / "bin" / "python"), str(SERVERS / "fastmcp_server.py")],
            [
                answers("echo", {"message": "hi"}, "hi"),
                answers_structured("weather", {"city": "Oslo"}, {"city": "Oslo", "degrees": 21.5}),
                lists("resources", "resourceTemplates", "uriTemplate", "interop://notes/{name}"),
                shows("read", ["interop://notes/today"], "the note today"),
                shows("prompt", ["review", '{"code":"this"}'], "Look at this."),
                not_found("no-such-tool"),
                forced("legacy", LEGACY),
            ],
        ),
        Server(
            "typescript sdk", "node", MODERN, "interop-typescript", ["echo", "deploy", "touch"],
            ["node", str(CACHE / "node" / "typescript_server.mjs")],
            [
                answers("echo", {"message": "hi"}, "hi"),
                lists("resources", "resources", "uri", "interop://note"),
                shows("read", ["interop://note"], "a note"),
                shows("prompt", ["review", '{"language":"rust"}'], "in rust"),
                completes("prompt", "review", "language", "r", ["rust", "ruby"]),
                asks(
                    "deploy", {"env": "prod"}, {"elicitation": [ACCEPTED | {"content": {"confirm": True}}]},
                    "deployed to prod: none",
                ),
                is_not_answered("deploy", {"env": "prod"}, 4),
                listens(),
                not_found("no-such-tool"),
                forced("legacy", LEGACY),
            ],
        ),
        Server(
            "mcp-server-time", "python", MODERN, "mcp-time", ["get_current_time", "convert_time"],
            [python, "-m", "mcp_server_time", "--local-timezone", "UTC"],
            [
                reports_error("get_current_time", {"timezone": "Nowhere/Never"}, "Nowhere/Never"),
                not_found("no-such-tool"),
                forced("legacy", LEGACY),
            ],
        ),
    ]


def http_servers():
    """Servers that are spoken to by HTTP, each through the command-line tool and through a program on tokio."""
    everything = CACHE / "node" / "node_modules" / "@modelcontextprotocol" / "server-everything" / "dist" / "index.js"
    node = ["node", "--import", str(SERVERS / "loopback.mjs"), str(everything)]
    python = [str(CACHE / "python" / "bin" / "python"), str(SERVERS / "python_server.py"), "--http"]
    long_run = "trigger-long-running-operation"

    def everything_by(transport, path, more, client=None):
        by = "sse" if transport == "sse" else "http"
        return HttpServer(
            f"everything, {by}" + (", tokio" if client else ""), "node", LEGACY, "mcp-servers/everything", ["echo", "get-sum", long_run], [*node, transport], path,
            [
                answers("echo", {"message": "grüß \u2028 Gott"}, "Echo: grüß \u2028 Gott"),
                answers("get-sum", {"a": 2, "b": 3}, "The sum of 2 and 3 is 5."),
                reports_error("echo", {}, "-32602", () if client else ["--no-check"]),
                shows_progress(long_run, {"duration": 1, "steps": 4}, 3),
                lists("resources", "resources", "name", "architecture.md"),
                lists("resources", "resourceTemplates", "uriTemplate", "demo://resource/dynamic/text/{resourceId}"),
                shows("read", ["demo://resource/dynamic/text/7"], "Resource 7"),
                forced("legacy", LEGACY),
                *more,
            ],
            client,
        )

    def python_by(more, client=None):
        return HttpServer(
            "python, http" + (", tokio" if client else ""), "python", MODERN, "interop-modern", ["echo", "add", "count", "fail"],
            python, "/mcp",
            [
                answers("echo", {"message": "grüß \u2028 Gott"}, "grüß \u2028 Gott"),
                answers_structured("add", {"a": 2, "b": 3}, {"sum": 5}),
                shows_progress("count", {"to": 5}, 5),
                reports_error("fail", {"message": "no"}, "fail"),
                lists("resources", "resources", "uri", "interop://note"),
                shows("read", ["interop://note"], "a note"),
                forced("modern", MODERN),
                forced("legacy", LEGACY),
                *more,
            ],
            client,
        )

    of_the_tool = [
        not_found("no-such-tool"),
        shows_image("get-tiny-image"),
        times_out(long_run, {"duration": 30, "steps": 2}),
        lists("prompts", "prompts", "name", "args-prompt"),
        completes("prompt", "completable-prompt", "department", "E", ["Engineering"]),
        pings(),
        asks("trigger-elicitation-request", {}, {"elicitation": [ACCEPTED | {"content": {"name": "ada"}}]}, "ada"),
        asks("trigger-sampling-request", {"prompt": "x"}, {"sampling": [{"model": "m", "text": "answered"}]}, "answered"),
        asks("get-roots-list", {}, {"roots": ["file:///tmp"]}, "file:///tmp"),
        listens(),
        cannot_connect("modern"),
    ]
    return [
        everything_by("streamableHttp", "/mcp", of_the_tool),
        everything_by("streamableHttp", "/mcp", [], TOKIO),
        everything_by("sse", "/sse", of_the_tool),
        everything_by("sse", "/sse", [], TOKIO),
        python_by(
            [
                not_found("no-such-tool"),
                shows("prompt", ["review", '{"code":"this"}'], "Look at this, in rust."),
                completes("prompt", "review", "language", "r", ["rust", "ruby"]),
                pings(),
                saves("picture", b"\x89PNG"),
                asks("greet", {}, {"elicitation": [ACCEPTED | {"content": {"name": "ada"}}]}, "HELLO ADA"),
                asks("book", {}, {"elicitation": [ON_MONDAY, THREE_SEATS]}, "3 seats on monday"),
                asks("where", {}, {"roots": ["file:///tmp"]}, "file:///tmp"),
                listens("--resource", "interop://note"),
            ]
        ),
        python_by([caches()], TOKIO),
    ]


def left_behind():
    """The servers of this run that are still in the process table (Linux)."""
    found = []
    for environ in Path("/proc").glob("[0-9]*/environ"):
        try:
            if MARK.encode() in environ.read_bytes().split(b"\0"):
                found.append(environ.with_name("cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace"))
        except OSError:
            continue  # it ended while we looked, or is not ours
    return found


def run_case(title, check, server):
    started = time.monotonic()
    try:
        check(server)
        complaint = None
    except (Wrong, KeyError, TypeError, ValueError, subprocess.TimeoutExpired) as error:
        complaint = f"{type(error).__name__}: {error}"
    row = f"{server.title:<22} {title:<46} {'ok' if complaint is None else 'FAILED':<6} {time.monotonic() - started:5.1f} s"
    print(row, flush=True)
    if complaint is not None:
        print(f"    {complaint}\n    {server.last_run.command}\n    exit status {server.last_run.status}")
        for line in server.last_run.stderr.splitlines()[-10:]:
            print(f"    | {line}")
    return complaint is None


def main():
    # However it ends, the servers end first.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    os.environ[SECRET] = "no business of a server"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for server in [*servers(Path(folder).resolve()), *http_servers()]:
            if server.ecosystem not in ECOSYSTEMS:
                print(f"{server.title:<22} SKIPPED: not installed")
                continue
            try:
                with server:
                    for title, check in server.cases():
                        good = run_case(title, check, server)
                        passed, failed = passed + good, failed + (not good)
            except Wrong as error:
                print(f"{server.title:<22} FAILED: {error}")
                failed += 1
    left = left_behind()
    print(f"{'':<22} {'nothing is left in the process table':<46} {'FAILED' if left else 'ok'}")
    for process in left:
        print(f"    {process}")
    passed, failed = passed + (not left), failed + bool(left)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
