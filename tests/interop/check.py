"""Runs the command-line tool against real servers and checks what comes back.

    check.py BINARY CACHE ECOSYSTEM...

ECOSYSTEM is `node` or `python`: the folders below CACHE in which servers are installed. Ends with a table and
`N passed, N failed`; the exit status is 1 when anything failed.
"""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BINARY, CACHE, ECOSYSTEMS = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]), sys.argv[3:]
HERE = Path(__file__).resolve().parent
MARK = f"MCPWIRE_INTEROP_RUN={os.getpid()}"  # in the environment of each server, to find those that stay behind
SECRET = "MCPWIRE_INTEROP_SECRET"  # in our own environment, and no business of a server

LEGACY, MODERN = ("legacy", "2025-11-25"), ("modern", "2026-07-28")


class Wrong(Exception):
    """What came back is not what it must be."""


def expect(condition, complaint):
    if not condition:
        raise Wrong(complaint)


class Run:
    """One run of the tool: its exit status, its streams, how long it took, and the messages that went over the wire."""

    def __init__(self, server, *arguments, options=(), json_output=True):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder) / "trace.jsonl"
            command = [BINARY, *arguments, "--env", MARK, "--trace", str(trace), *options]
            command += ["--json"] if json_output else []
            command += ["--", *server.command]
            server.last_run = self
            self.command, self.status, self.stderr = shlex.join(command), None, ""
            started = time.monotonic()
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", timeout=120, cwd=server.cwd
            )
            self.seconds = time.monotonic() - started
            lines = trace.read_bytes().split(b"\n") if trace.exists() else []
        self.status, self.stdout, self.stderr = done.returncode, done.stdout, done.stderr
        self.trace = [json.loads(line) for line in lines if line]

    def status_is(self, status):
        expect(self.status == status, f"exit status {self.status} instead of {status}")
        return self

    def json(self):
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise Wrong(f"stdout is no JSON document: {error}") from error

    def error(self):
        try:
            return json.loads(self.stderr.strip().splitlines()[-1])
        except (ValueError, IndexError) as error:
            raise Wrong(f"stderr does not end with a JSON object: {error}") from error

    def text(self):
        return "\n".join(block["text"] for block in self.json()["content"] if block["type"] == "text")

    def messages(self, direction, method):
        return [
            line["message"]
            for line in self.trace
            if line["direction"] == direction
            and isinstance(line["message"], dict)
            and line["message"].get("method") == method
        ]


class Server:
    """A server to try: how it is started, what it must say of itself, and the checks of its own."""

    def __init__(self, title, ecosystem, era, name, tools, command, checks, cwd=None):
        self.title, self.ecosystem, self.era, self.name, self.tools = title, ecosystem, era, name, tools
        self.command, self.checks, self.cwd = command, checks, cwd
        self.last_run = None

    def cases(self):
        yield "info", self.check_info
        yield "tools", self.check_tools
        yield "tools, for people", self.check_tools_for_people
        yield from self.checks

    def check_info(self, server):
        info = Run(server, "info").status_is(0).json()
        expect((info["era"], info["protocolVersion"]) == self.era, f"{info['era']} {info['protocolVersion']}")
        expect(info["serverInfo"]["name"] == self.name, f"the server's name is {info['serverInfo']['name']!r}")
        expect("tools" in info["capabilities"], "no tools among the capabilities")

    def check_tools(self, server):
        listed = Run(server, "tools").status_is(0).json()
        names = {tool["name"] for tool in listed["tools"]}
        expect(set(self.tools) <= names, f"{sorted(set(self.tools) - names)} missing from the list")
        expect(listed["rejected"] == [], f"rejected: {listed['rejected']}")

    def check_tools_for_people(self, server):
        output = Run(server, "tools", json_output=False).status_is(0).stdout
        missing = [tool for tool in self.tools if tool not in output]
        expect(not missing, f"{missing} missing from the output")


def call(server, tool, arguments, **kwargs):
    return Run(server, "call", tool, json.dumps(arguments), **kwargs)


def answers(tool, arguments, text):
    def check(server):
        got = call(server, tool, arguments).status_is(0).text()
        expect(got == text, f"answered {got!r}")

    return f"call {tool}", check


def prints(tool, arguments, text):
    def check(server):
        got = call(server, tool, arguments, json_output=False).status_is(0).stdout
        expect(got.strip() == text, f"printed {got!r}")

    return f"call {tool}, for people", check


def answers_structured(tool, arguments, value):
    def check(server):
        got = call(server, tool, arguments).status_is(0).json()["structuredContent"]
        expect(got == value, f"structured content {got}")

    return f"call {tool}, structured", check


def lists(what, key, name, value):
    """`mcpwire WHAT` names this entry, in both of its forms."""

    def check(server):
        entries = Run(server, what).status_is(0).json()[key]
        expect(any(entry.get(name) == value for entry in entries), f"{value} is not among {entries}")
        printed = Run(server, what, json_output=False).status_is(0).stdout
        expect(value in printed, f"printed {printed!r}")

    return f"{what} has {value}", check


def shows(what, arguments, part):
    """`mcpwire WHAT ...` prints a text with this in it, and its JSON has it too."""

    def check(server):
        for json_output in (True, False):
            printed = Run(server, what, *arguments, json_output=json_output).status_is(0).stdout
            expect(part in printed, f"printed {printed!r}")

    return f"{what} {arguments[0]}", check


def reports_error(tool, arguments, part):
    """The tool ran and failed: status 1, and the result is printed all the same."""

    def check(server):
        run = call(server, tool, arguments).status_is(1)
        expect(run.json().get("isError") is True, "isError is not true")
        expect(part in run.text(), f"the text is {run.text()!r}")

    return f"call {tool} {json.dumps(arguments)}", check


def not_found(tool):
    """However the server says so: some answer with a JSON-RPC error, others with a result that has `isError`."""

    def check(server):
        error = call(server, tool, {}).status_is(4).error()
        expect(error["code"] == "NOT_FOUND", f"the error's code is {error['code']}")
        expect(tool in error["message"], f"the message does not name the tool: {error['message']!r}")

    return f"call {tool}", check


def shows_progress(tool, arguments, steps):
    def check(server):
        run = call(server, tool, arguments).status_is(0)
        got = len(run.messages("received", "notifications/progress"))
        expect(got >= steps, f"{got} progress notifications instead of {steps}")

    return f"call {tool}, with progress", check


def times_out(tool, arguments):
    def check(server):
        run = call(server, tool, arguments, options=["--timeout", "3s"]).status_is(5)
        expect(run.seconds < 8, f"took {run.seconds:.1f} s")
        expect(run.messages("sent", "notifications/cancelled"), "the server was not told of the cancellation")

    return f"call {tool}, timed out", check


def forced(protocol, era):
    def check(server):
        info = Run(server, "info", options=["--protocol", protocol]).status_is(0).json()
        expect((info["era"], info["protocolVersion"]) == era, f"{info['era']} {info['protocolVersion']}")

    return f"info --protocol {protocol}", check


def cannot_connect(protocol):
    def check(server):
        run = Run(server, "info", options=["--protocol", protocol]).status_is(3)
        expect(run.stdout == "", "something on stdout")
        run.error()

    return f"info --protocol {protocol}, refused", check


def keeps_secrets(tool):
    """The environment is an allow-list: a server sees PATH, and our secret only when it is handed over by name."""

    def check(server):
        environment = json.loads(call(server, tool, {}).status_is(0).text())
        expect("PATH" in environment, "no PATH in the server's environment")
        expect(SECRET not in environment, "the server sees what it was not given")
        environment = json.loads(call(server, tool, {}, options=["--env", SECRET]).status_is(0).text())
        expect(environment.get(SECRET) == os.environ[SECRET], "--env NAME does not hand the variable over")

    return f"call {tool}, environment", check


def shows_image(tool):
    def check(server):
        kinds = [block["type"] for block in call(server, tool, {}).status_is(0).json()["content"]]
        expect("image" in kinds, f"the blocks are {kinds}")
        output = call(server, tool, {}, json_output=False).status_is(0).stdout
        expect("image/png" in output, "the image is not named in the output for people")

    return f"call {tool}", check


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
                reports_error("echo", {}, "-32602"),
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
            "modern_server.py", "python", MODERN, "interop-modern", ["echo", "add", "count", "fail"],
            [python, str(HERE / "modern_server.py")],
            [
                answers("echo", {"message": "grüß \u2028 Gott"}, "grüß \u2028 Gott"),
                prints("echo", {"message": "grüß Gott"}, "grüß Gott"),
                answers_structured("add", {"a": 2, "b": 3}, {"sum": 5}),
                shows_progress("count", {"to": 5}, 5),
                reports_error("fail", {"message": "no"}, "fail"),
                lists("resources", "resources", "uri", "interop://note"),
                shows("read", ["interop://note"], "a note"),
                lists("prompts", "prompts", "name", "review"),
                shows("prompt", ["review", '{"code":"this"}'], "Look at this."),
                not_found("no-such-tool"),
                forced("modern", MODERN),
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
    os.environ[SECRET] = "no business of a server"
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for server in servers(Path(folder).resolve()):
            if server.ecosystem not in ECOSYSTEMS:
                print(f"{server.title:<22} SKIPPED: not installed")
                continue
            for title, check in server.cases():
                good = run_case(title, check, server)
                passed, failed = passed + good, failed + (not good)
    left = left_behind()
    print(f"{'':<22} {'nothing is left in the process table':<46} {'FAILED' if left else 'ok'}")
    for process in left:
        print(f"    {process}")
    passed, failed = passed + (not left), failed + bool(left)
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
