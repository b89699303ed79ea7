"""Runs every command on twelve servers that others wrote: directly, by name without a hub, and by name through the running hub.

    all_commands.py MCPWIRE CACHE

Prints a table: a line for each server and way, a column for each command, in it the milliseconds of the command, or `exit N` where it
failed. What a server does not offer must be refused in the same way by all three ways. Ends with 1 if something is wrong.
"""

import json
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BINARY, CACHE = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2])
HERE = Path(__file__).resolve().parent
COMMANDS = ["info", "tools", "tool", "call", "resources", "read", "prompts", "prompt", "complete", "ping", "request", "listen"]
# Exit statuses: a tool that reported an error, and a server that does not offer something or refuses a request.
REFUSED = 4
DEADLINE = 120


class Server:
    """A server, and what is asked of it. `calls` is a tool with its arguments; None stands for what it does not offer."""

    def __init__(self, name, command, call, read=None, prompt=None, complete=None):
        self.name, self.command, self.call = name, command, call
        self.read, self.prompt, self.complete = read, prompt, complete

    def words(self, command):
        return {
            "tool": ["tools", self.call[0]],
            "call": ["call", *self.call],
            "read": ["read", self.read or "nowhere://nothing"],
            "prompt": ["prompt", *(self.prompt or ["no-such-prompt"])],
            "complete": ["complete", *(self.complete or ["prompt", "no-such-prompt", "a", ""])],
            "request": ["request", "tools/list"],
        }.get(command, [command])


def servers(scratch):
    def node(package, *arguments):
        folder = CACHE / "twelve" / "node_modules" / package
        entry = json.loads((folder / "package.json").read_text())["bin"]
        entry = entry if isinstance(entry, str) else sorted(entry.values())[0]
        return ["node", str(folder / entry), *arguments]

    def python(venv, program, *arguments):
        return [str(CACHE / venv / "bin" / program), *arguments]

    git = scratch / "repository"
    subprocess.run(["git", "init", "-q", str(git)], check=True)
    (scratch / "files").mkdir()
    (scratch / "files" / "note.txt").write_text("a note\n")
    everything = "demo://resource/dynamic/text/7"
    notes = str(HERE / "servers" / "fastmcp_server.py")
    return [
        Server("everything", node("@modelcontextprotocol/server-everything", "stdio"), ["echo", "message=hi"], everything,
               ["args-prompt", "city=Bern"], ["prompt", "completable-prompt", "department", "E"]),
        Server("filesystem", node("@modelcontextprotocol/server-filesystem", str(scratch / "files")),
               ["list_directory", f"path={scratch / 'files'}"]),
        Server("memory", node("@modelcontextprotocol/server-memory"), ["read_graph"]),
        Server("thinking", node("@modelcontextprotocol/server-sequential-thinking"),
               ["sequentialthinking", "thought=so", "nextThoughtNeeded=false", "thoughtNumber=1", "totalThoughts=1"]),
        Server("playwright", node("@playwright/mcp", "--headless"), ["browser_close"]),
        Server("context7", node("@upstash/context7-mcp"), None),
        Server("github", node("@modelcontextprotocol/server-github"), None),
        Server("git", python("twelve-python", "mcp-server-git"), ["git_status", f"repo_path={git}"]),
        Server("fetch", python("twelve-python", "mcp-server-fetch"), None),
        Server("time", python("twelve-python", "mcp-server-time"), ["get_current_time", "timezone=Europe/Zurich"]),
        Server("sqlite", python("twelve-sqlite", "mcp-server-sqlite", "--db-path", str(scratch / "a.db")), ["list_tables"],
               "memo://insights"),
        Server("fastmcp", [str(CACHE / "fastmcp" / "bin" / "python"), notes], ["echo", "message=hi"],
               "interop://notes/today", ["review", "code=x"]),
    ]


class Way:
    """A way to name a server on the command line."""

    def __init__(self, name, config):
        self.name, self.config = name, config

    def line(self, server, command):
        words = server.words(command)
        line = [BINARY, *words, "--config-dir", self.config, "--timeout", "60s"]
        if self.name == "direct":
            return [*line, "--", *server.command]
        return [BINARY, words[0], server.name, *words[1:], "--config-dir", self.config, "--timeout", "60s"]


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
    return process.returncode, int((time.monotonic() - started) * 1000), out, said + err


def main():
    scratch = Path(tempfile.mkdtemp(prefix="mcpwire-commands-"))
    config = str(scratch / "config")
    wrong = []
    tried = servers(scratch)
    for server in tried:
        if server.call is None:
            # Its tools need an account or the network: one that fails says so.
            server.call = {"context7": ["resolve-library-id", "libraryName=serde", "query=serde"],
                           "github": ["get_issue", "owner=a", "repo=b", "issue_number=1"],
                           "fetch": ["fetch", "url=http://127.0.0.1:9/"]}[server.name]
        added = run([BINARY, "server", "add", server.name, "--config-dir", config, "--", *server.command])
        if added[0] != 0:
            wrong.append(f"{server.name}: server add: {added[3]}")
    print(f"{'server':12}{'way':8}" + "".join(f"{command:>11}" for command in COMMANDS))
    statuses = {}
    for way in [Way("direct", config), Way("by name", config), Way("hub", config)]:
        if way.name == "hub":
            status, took, _, err = run([BINARY, "hub", "start", "--config-dir", config])
            print(f"hub start: {took} ms" if status == 0 else f"hub start failed: {err}", flush=True)
        for server in tried:
            cells = []
            for command in COMMANDS:
                status, took, out, err = run(way.line(server, command), command == "listen")
                cells.append(f"{took} ms" if status == 0 else f"exit {status}")
                before = statuses.setdefault((server.name, command), (status, way.name))
                if status not in (0, 1, REFUSED) or status != before[0]:
                    wrong.append(f"{server.name} {command} {way.name}: exit {status}, {before[1]} had {before[0]}\n    {err.strip()[:400]}")
            print(f"{server.name:12}{way.name:8}" + "".join(f"{cell:>11}" for cell in cells), flush=True)
    for command in [["status"], ["server", "doctor"], ["tools"], ["hub", "status"], ["hub", "stop"]]:
        status, took, out, err = run([BINARY, *command, "--config-dir", config])
        print(f"{' '.join(command)}: exit {status}, {took} ms")
        if status != 0:
            wrong.append(f"{' '.join(command)}: exit {status}\n    {(out + err).strip()[:2000]}")
    shutil.rmtree(scratch, ignore_errors=True)
    left = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    wrong += [f"left behind: {line}" for line in left.splitlines() if str(scratch) in line]
    for line in wrong:
        print("WRONG", line)
    print(f"{len(tried)} servers, {len(COMMANDS)} commands, 3 ways: {len(wrong)} wrong")
    sys.exit(1 if wrong else 0)


main()
