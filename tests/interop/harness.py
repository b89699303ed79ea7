"""One run of the command-line tool, and a server that it is tried on."""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

BINARY = str(Path(sys.argv[1]).resolve())
MARK = f"MCPWIRE_INTEROP_RUN={os.getpid()}"  # in the environment of each server, to find those that stay behind

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
            command = [server.client, *arguments, "--trace", str(trace), *options]
            command += ["--json"] if json_output else []
            command += server.target()
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


class Background:
    """A run of the tool that ends when it is told to, and is ended when nobody looks at it any more."""

    def __init__(self, server, *arguments):
        command = [server.client, *arguments, *server.target()]
        server.last_run = self
        self.command, self.status, self.stderr = shlex.join(command), None, ""
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8"
        )

    def __enter__(self):
        return self.process

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait()
        self.status = self.process.returncode
        self.process.stderr.close()


class Server:
    """A server to try: how it is started, what it must say of itself, and the checks of its own."""

    def __init__(self, title, ecosystem, era, name, tools, command, checks, cwd=None):
        self.title, self.ecosystem, self.era, self.name, self.tools = title, ecosystem, era, name, tools
        self.command, self.checks, self.cwd = command, checks, cwd
        self.client, self.speaks_to_people = BINARY, True
        self.last_run = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def target(self):
        """What stands on the command line for this server."""
        return ["--env", MARK, "--", *self.command]

    def cases(self):
        yield "info", self.check_info
        yield "tools", self.check_tools
        if self.speaks_to_people:
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


class HttpServer(Server):
    """A server that is spoken to by HTTP. It runs while its checks do, on a free port of this machine's own address."""

    LISTENS = re.compile(r"http://127\.0\.0\.1:[1-9][0-9]*")

    def __init__(self, title, ecosystem, era, name, tools, command, path, checks, client=None):
        super().__init__(title, ecosystem, era, name, tools, command, checks)
        self.path, self.process, self.url = path, None, None
        if client is not None:
            # It prints JSON alone.
            self.client, self.speaks_to_people = client, False

    def __enter__(self):
        name, value = MARK.split("=")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            encoding="utf-8", errors="replace", env=os.environ | {name: value, "PORT": "0"},
        )
        watchdog = threading.Timer(60, self.process.kill)
        watchdog.start()
        for line in self.process.stderr:
            if found := self.LISTENS.search(line):
                self.url = found.group() + self.path
                break
        watchdog.cancel()
        # What it says from now on is of no interest, and must not stop it.
        threading.Thread(target=self.process.stderr.read, daemon=True).start()
        if self.url is None:
            self.__exit__()
            raise Wrong(f"it does not listen: {shlex.join(self.command)}")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def target(self):
        return ["--url", self.url]
