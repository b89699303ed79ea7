"""Logs in at authorization servers that others wrote, with an MCP server behind each.

    check.py BINARY CACHE ECOSYSTEM...

ECOSYSTEM names the folders below CACHE in which servers are installed. Prints a line for each server and step, and at the
end `N passed, N failed`; the exit status is 1 when a step failed.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

from browser import Browser

BINARY, CACHE, ECOSYSTEMS = str(Path(sys.argv[1]).resolve()), Path(sys.argv[2]), sys.argv[3:]
SERVERS = Path(__file__).resolve().parent / "servers"
LIFETIME = 6  # seconds: the shortest that lets a call be made before the token expires
WATCHDOG = 120
ECHO = ["call", "--server", "notes", "echo", '{"message":"hi"}']


class Wrong(Exception):
    """A step did not do what it must."""


def expect(condition, complaint):
    if not condition:
        raise Wrong(complaint)


class Server:
    """An authorization server with an MCP server behind it, which runs while its steps do."""

    def __init__(self, title, ecosystem, command, steps):
        self.title, self.ecosystem, self.command, self.steps = title, ecosystem, command, steps

    def __enter__(self):
        self.log = tempfile.NamedTemporaryFile(mode="r", suffix=".log")
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.DEVNULL, stdout=self.log.file, stderr=self.log.file,
            env=os.environ | {"LIFETIME": str(LIFETIME)},
        )
        until = time.monotonic() + 60
        self.origin = None
        while self.origin is None and self.process.poll() is None and time.monotonic() < until:
            time.sleep(0.1)
            found = re.search(r"http://127\.0\.0\.1:[1-9][0-9]*", Path(self.log.name).read_text())
            if found and self.answers(found.group()):
                self.origin = found.group()
        if self.origin is None:
            self.__exit__()
            raise Wrong(f"it does not listen: {Path(self.log.name).read_text()[-500:]}")
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def answers(self, origin):
        try:
            with urllib.request.urlopen(f"{origin}/counters", timeout=30):
                return True
        except OSError:
            return False

    def counters(self):
        with urllib.request.urlopen(f"{self.origin}/counters", timeout=30) as response:
            return json.load(response)


class User:
    """A user of the tool on one machine: a folder with the configuration and the logins."""

    def __init__(self, server, folder):
        self.server, self.folder, self.tokens = server, Path(folder), set()
        self.oauth = {}
        self.write_configuration()

    def write_configuration(self):
        file = self.folder / "mcp" / "servers.json"
        if not file.exists():
            self.run("server", "add", "notes", "--url", f"{self.server.origin}/mcp", "--lazy")
        configuration = json.loads(file.read_text())
        servers = configuration["servers"]
        for entry in servers.values() if isinstance(servers, dict) else servers:
            entry.pop("oauth", None)
            if self.oauth:
                entry["oauth"] = self.oauth
        file.write_text(json.dumps(configuration))

    def start(self, *arguments):
        # No browser is opened: the address is read from stderr.
        environment = os.environ | {"PATH": str(self.folder / "no-programs"), "DISPLAY": ""}
        return subprocess.Popen(
            [BINARY, *arguments, "--config-dir", str(self.folder)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=environment,
        )

    def end(self, process, *, status=0, text=None):
        try:
            stdout, stderr = process.communicate(text, timeout=WATCHDOG)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Wrong(f"no end after {WATCHDOG} s") from None
        expect(process.returncode == status, f"exit status {process.returncode} instead of {status}: {stderr.strip()[-600:]}")
        return stdout, stderr

    def run(self, *arguments, status=0):
        return self.end(self.start(*arguments), status=status)

    def read_until(self, process, pattern):
        """Reads stderr to the first line with this pattern, and returns what the pattern's group has."""
        watchdog = threading.Timer(WATCHDOG, process.kill)
        watchdog.start()
        seen = []
        for line in process.stderr:
            seen.append(line)
            if found := re.search(pattern, line):
                watchdog.cancel()
                return found.group(1)
        watchdog.cancel()
        raise Wrong(f"no address is shown: {''.join(seen)[-600:]}")

    def remember_tokens(self):
        """Notes what is stored now, so that a later step can look for what is left of it."""
        for file in self.folder.rglob("*"):
            if file.is_file():
                text = file.read_bytes().decode(errors="replace")
                self.tokens |= set(re.findall(r'"(?:access_token|refresh_token)"\s*:\s*"([^"]+)"', text))


def call(user):
    stdout, _ = user.run(*ECHO, "--json")
    expect(json.loads(stdout)["content"][0]["text"] == "hi", f"another answer: {stdout[:300]}")
    user.remember_tokens()


def login_by_redirect(user):
    process = user.start("login", "notes")
    page = user.read_until(process, r"(https?://127\.0\.0\.1\S+/(?:authorize|auth)\?\S+)")
    Browser().visit(page)
    user.end(process)
    call(user)


def login_by_paste(user):
    process = user.start("login", "notes", "--no-browser")
    page = user.read_until(process, r"(https?://127\.0\.0\.1\S+/(?:authorize|auth)\?\S+)")
    redirect = re.search(r"redirect_uri=(http%3A%2F%2F[^&]+)", page).group(1)
    address, _ = Browser().visit(page, stop_at=urllib.parse.unquote(redirect))
    user.end(process, text=address + "\n")
    call(user)


def login_by_device(user):
    process = user.start("login", "notes", "--device", "--json")
    shown = json.loads(user.read_until(process, r"^(\{.*\"user_code\".*\})"))
    Browser(user_code=shown["user_code"]).visit(shown["verification_uri"])
    user.end(process)
    call(user)


def call_with_an_expired_token(user):
    before = user.server.counters()
    time.sleep(LIFETIME + 1)
    calls = [user.start(*ECHO, "--json") for _ in range(2)]
    for process in calls:
        user.end(process)
    after = user.server.counters()
    expect(after["refreshes"] > before["refreshes"], "no token was refreshed")
    expect(after["refused_refreshes"] == before["refused_refreshes"], "a refresh token was used twice")
    call(user)


def register_once(user):
    count = user.server.counters()["registrations"]
    expect(count == 1, f"{count} registrations")


def logout_and_revoke(user):
    before = user.server.counters()["revocations"]
    user.remember_tokens()
    expect(user.tokens, "no token was stored")
    user.run("logout", "notes", "--revoke")
    expect(user.server.counters()["revocations"] > before, "nothing was revoked")
    user.run(*ECHO, status=6)
    for file in user.folder.rglob("*"):
        text = file.read_bytes().decode(errors="replace") if file.is_file() else ""
        expect(not any(token in text for token in user.tokens), f"a token is left in {file.name}")


def bind_tokens(user):
    user.oauth = {"dpop": True}
    user.write_configuration()


LOGIN = [
    login_by_redirect, call_with_an_expired_token, register_once, logout_and_revoke, login_by_redirect, logout_and_revoke,
    login_by_paste, logout_and_revoke,
]
DEVICE = [login_by_device, call_with_an_expired_token, logout_and_revoke]
BOUND = [bind_tokens, login_by_redirect, call_with_an_expired_token, logout_and_revoke, *DEVICE]


def servers():
    def python(folder):
        return str(CACHE / folder / "bin" / "python")

    return [
        Server("python sdk 2.3.0", "python", [python("python"), str(SERVERS / "python_sdk_server.py")], LOGIN),
        Server("fastmcp 4.2.3", "fastmcp", [python("fastmcp"), str(SERVERS / "fastmcp_server.py")], LOGIN),
        Server("typescript sdk 1.32.2", "logins", ["node", str(CACHE / "logins" / "typescript_sdk_server.mjs")], LOGIN),
        Server("typescript sdk 1.11.5", "logins-1.11", ["node", str(CACHE / "logins-1.11" / "typescript_sdk_server.mjs")], LOGIN),
        Server("oidc-provider 9.13.3", "logins", ["node", str(CACHE / "logins" / "oidc_provider_server.mjs")], LOGIN + DEVICE),
        Server("oidc-provider 9.13.3, DPoP", "logins", ["node", str(CACHE / "logins" / "oidc_provider_server.mjs")], BOUND),
    ]


def run_step(server, user, step):
    started = time.monotonic()
    try:
        step(user)
        complaint = None
    except (Wrong, KeyError, TypeError, ValueError, AttributeError, IndexError, OSError, RuntimeError) as error:
        complaint = f"{type(error).__name__}: {error}"
    title = step.__name__.replace("_", " ")
    print(f"{server.title:<28} {title:<32} {'FAILED' if complaint else 'ok':<6} {time.monotonic() - started:5.1f} s", flush=True)
    if complaint:
        print(f"    {complaint}")
    return complaint is None


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    passed = failed = 0
    for server in servers():
        if server.ecosystem not in ECOSYSTEMS:
            print(f"{server.title:<28} SKIPPED: not installed")
            continue
        try:
            with server, tempfile.TemporaryDirectory() as folder:
                user = User(server, folder)
                for step in server.steps:
                    good = run_step(server, user, step)
                    passed, failed = passed + good, failed + (not good)
                    if not good:
                        for line in Path(server.log.name).read_text().splitlines()[-6:]:
                            print(f"    | {line[:200]}")
        except Wrong as error:
            print(f"{server.title:<28} FAILED: {error}")
            failed += 1
    print(f"{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
