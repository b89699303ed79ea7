"""Runs every command on servers that others wrote: directly, by name without a hub, and by name through the running hub.

    all_commands.py MCPWIRE CACHE [ECOSYSTEM]...

ECOSYSTEM is `twelve`, `twelve-python`, `twelve-sqlite` or `fastmcp`: the folders below CACHE in which servers are installed (without
one: all). Prints a table: a line for each server and way, a column for each command. A cell has the milliseconds of the command;
`refused` where the server does not offer the thing, and the tool has said so; `error` where a tool reports an error as it should;
`wrong` for everything else. Ends with 1 if something is wrong.
"""

import contextlib
import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from harness import HttpServer

BINARY, CACHE = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
ECOSYSTEMS = sys.argv[3:] or ["twelve", "twelve-python", "twelve-sqlite", "fastmcp"]
SERVERS = Path(__file__).resolve().parent / "servers"
COMMANDS = ["info", "tools", "tool", "call", "resources", "read", "prompts", "prompt", "complete", "ping", "request", "listen"]
OK, ERROR, REFUSED = 0, 1, 4
CELLS = {ERROR: "error", REFUSED: "refused"}
DEADLINE = 120


class Server:
    """A server, and what each command must make of it.

    `name` is the name that it gives itself. `call` is a tool with its arguments, and `called` the outcomes that are right: an exit
    status and a part of the output (what needs a browser or the network may fail, and must say so). The others are the arguments of
    the command and a part of its output. None stands for what the server does not offer, "" for an empty list.
    """

    def __init__(self, title, target, name, call, called, resources=None, read=None, prompts=None, prompt=None, complete=None,
                 listen=(OK, "listening:")):
        self.title, self.target = title, target
        tool = call[0]
        self.words = {
            "tool": ["tools", tool],
            "call": ["call", *call],
            "read": ["read", read[0] if read else "nowhere://nothing"],
            "prompt": ["prompt", *(prompt[0] if prompt else ["no-such-thing"])],
            "complete": ["complete", *(complete[0] if complete else ["prompt", "no-such-thing", "a", ""])],
            "request": ["request", "tools/list"],
        }
        listed = {None: "does not offer ", "": "The server has no "}
        self.expected = {
            "info": [(OK, name)],
            "tools": [(OK, tool)],
            "tool": [(OK, tool)],
            "call": called,
            "resources": [(OK if resources is not None else REFUSED, resources or listed[resources] + "resources")],
            "read": [(OK, read[1]) if read else (REFUSED, "`resources/read` failed")],
            "prompts": [(OK if prompts is not None else REFUSED, prompts or listed[prompts] + "prompts")],
            "prompt": [(OK, prompt[1]) if prompt else (REFUSED, "`prompts/get` failed")],
            "complete": [(OK, complete[1]) if complete else (REFUSED, "completion")],
            "ping": [(OK, "The server answered in ")],
            "request": [(OK, f'"{tool}"')],
            "listen": [listen],
        }

    def line(self, way, command, config):
        words = self.words.get(command, [command])
        options = ["--config-dir", config, "--timeout", "60s"]
        if way == "direct":
            return [BINARY, *words, *options, *self.target]
        return [BINARY, words[0], self.title, *words[1:], *options]


def servers(scratch, running):
    def node(package, *arguments):
        folder = CACHE / "twelve" / "node_modules" / package
        entry = json.loads((folder / "package.json").read_text())["bin"]
        entry = entry if isinstance(entry, str) else sorted(entry.values())[0]
        return ["--", "node", str(folder / entry), *arguments]

    def python(venv, program, *arguments):
        return ["--", str(CACHE / venv / "bin" / program), *arguments]

    files, git = scratch / "files", scratch / "repository"
    files.mkdir()
    (files / "note.txt").write_text("a note\n")
    everything, note = "demo://resource/dynamic/text/7", "interop://notes/today"
    tried = []
    if "twelve" in ECOSYSTEMS:
        tried += [
            Server("everything", node("@modelcontextprotocol/server-everything", "stdio"), "mcp-servers/everything",
                   ["echo", "message=hi"], [(OK, "Echo: hi")], "architecture.md", (everything, "Resource 7"), "args-prompt",
                   (["args-prompt", "city=Bern"], "weather in Bern"),
                   (["prompt", "completable-prompt", "department", "E"], "Engineering")),
            Server("filesystem", node("@modelcontextprotocol/server-filesystem", str(files)), "secure-filesystem-server",
                   ["list_directory", f"path={files}"], [(OK, "[FILE] note.txt")]),
            Server("memory", node("@modelcontextprotocol/server-memory"), "memory-server", ["read_graph"], [(OK, '"entities": []')],
                   "memory://knowledge-graph", ("memory://knowledge-graph", "entities")),
            Server("thinking", node("@modelcontextprotocol/server-sequential-thinking"), "sequential-thinking-server",
                   ["sequentialthinking", "thought=so", "nextThoughtNeeded=false", "thoughtNumber=1", "totalThoughts=1"],
                   [(OK, '"thoughtNumber": 1')]),
            Server("playwright", node("@playwright/mcp", "--headless"), "Playwright", ["browser_close"],
                   [(OK, "page.close"), (ERROR, "is not found")]),
            Server("context7", node("@upstash/context7-mcp"), "Context7", ["resolve-library-id", "libraryName=serde", "query=serde"],
                   [(OK, "libraries")], "", None, "", listen=(REFUSED, "`subscriptions/listen` failed")),
            Server("github", node("@modelcontextprotocol/server-github"), "github-mcp-server",
                   ["get_issue", "owner=a", "repo=b", "issue_number=1"], [(REFUSED, "`tools/call` of `get_issue` failed")]),
        ]
    if "twelve-python" in ECOSYSTEMS:
        subprocess.run(["git", "init", "-q", str(git)], check=True)
        tried += [
            Server("git", python("twelve-python", "mcp-server-git"), "mcp-git", ["git_status", f"repo_path={git}"],
                   [(OK, "No commits yet")], "", None, ""),
            Server("fetch", python("twelve-python", "mcp-server-fetch"), "mcp-fetch", ["fetch", "url=http://127.0.0.1:9/"],
                   [(ERROR, "not a public address")], "", None, "fetch"),
            Server("time", python("twelve-python", "mcp-server-time"), "mcp-time", ["get_current_time", "timezone=Europe/Zurich"],
                   [(OK, '"timezone": "Europe/Zurich"')], "", None, ""),
        ]
    if "twelve-sqlite" in ECOSYSTEMS:
        tried.append(
            Server("sqlite", python("twelve-sqlite", "mcp-server-sqlite", "--db-path", str(scratch / "a.db")), "sqlite",
                   ["list_tables"], [(OK, "[]")], "memo://insights", ("memo://insights", "No business insights"), "mcp-demo",
                   (["mcp-demo", "topic=tea"], "tea")))
    if "fastmcp" in ECOSYSTEMS:
        command = [str(CACHE / "fastmcp" / "bin" / "python"), str(SERVERS / "fastmcp_server.py")]
        http = HttpServer("", "", None, "", [], [*command, "--http"], "/mcp", [])
        answers = scratch / "answers.json"
        seats = {"message": "How many seats?", "action": "accept", "content": {"seats": 3}, "repeat": True}
        answers.write_text(json.dumps({"elicitation": [seats]}))
        for title, target in [("fastmcp", ["--", *command]), ("by-http", ["--url", running.enter_context(http).url])]:
            tried.append(
                Server(title, target, "interop-fastmcp", ["book", "day=monday", "--answers", str(answers)],
                       [(OK, "booked 3 seats on monday")], "interop://note", (note, "the note today"), "review",
                       (["review", "code=x"], "Look at x.")))
    return tried


def run(line, is_listening=False):
    """Returns the exit status, the milliseconds, and what was written. `listen` is interrupted as soon as it listens."""
    started = time.monotonic()
    process = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                               errors="replace", start_new_session=True)
    watchdog = threading.Timer(DEADLINE, process.kill)
    watchdog.start()
    said = ""
    while is_listening and (line := process.stderr.readline()):
        said += line
        if "listening" in line:
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate()
    watchdog.cancel()
    return process.returncode, int((time.monotonic() - started) * 1000), out + said + err


def table(tried, config):
    """Prints the table, and returns what is wrong."""
    wrong = []

    def must(title, *line, target=()):
        status, took, output = run([BINARY, *line, "--config-dir", config, *target])
        if status != 0:
            wrong.append(f"{title}: exit {status}\n    {output.strip()[:2000]}")
        return f"{title}: exit {status}, {took} ms"

    for server in tried:
        must(f"server add {server.title}", "server", "add", server.title, target=server.target)
    print(f"{'server':12}{'way':8}" + "".join(f"{command:>11}" for command in COMMANDS), flush=True)
    for way in ["direct", "by name", "hub"]:
        if way == "hub":
            print(must("hub start", "hub", "start"), flush=True)
        for server in tried:
            cells = []
            for command in COMMANDS:
                status, took, output = run(server.line(way, command, config), command == "listen")
                if any(status == right and part in output for right, part in server.expected[command]):
                    cells.append(CELLS.get(status, f"{took} ms"))
                else:
                    cells.append("wrong")
                    wrong.append(f"{server.title} {command} {way}: exit {status} after {took} ms, not "
                                 f"{server.expected[command]}\n    {output.strip()[:400]}")
            print(f"{server.title:12}{way:8}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
    for line in [["status"], ["server", "doctor"], ["tools"], ["hub", "status"], ["hub", "stop"]]:
        print(must(" ".join(line), *line))
    return wrong


def main():
    scratch = Path(tempfile.mkdtemp(prefix="mcpwire-commands-"))
    with contextlib.ExitStack() as running:
        tried = servers(scratch, running)
        wrong = table(tried, str(scratch / "config"))
    shutil.rmtree(scratch, ignore_errors=True)
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout.splitlines()
    wrong += [f"left behind: {line}" for line in left if str(scratch) in line or str(CACHE / "twelve") in line]
    for line in wrong:
        print("WRONG", line)
    print(f"{len(tried)} servers, {len(COMMANDS)} commands, 3 ways: {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


main()
