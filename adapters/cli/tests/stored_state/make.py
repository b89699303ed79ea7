#!/usr/bin/env python3
"""Makes `home`: the files that a version of mcpwire keeps, for the test that later versions can use them.

Usage: make.py MCPWIRE AUTHORIZATION_SERVER

MCPWIRE is the program whose files are wanted, and AUTHORIZATION_SERVER is `target/debug/authorization-server`. All secrets in the
files are those of that test server or of this script. All tokens have expired, and the login that waits is too old, so that the
test does not depend on the time.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

ISSUER = "http://127.0.0.1:18471"
SERVER = "http://127.0.0.1:18472/mcp"
REDIRECT_URI = "http://127.0.0.1:18473/callback"
SECRET = "fake-secret-of-the-client"
HOME = Path(__file__).with_name("home")

# The settings of the logins of each configured server over HTTP.
CLIENT = {"client_id": "registered", "client_secret": {"secret_ref": "SECRET"}, "redirect_uri": REDIRECT_URI}
SETTINGS = {
    "browser": {},
    "device": {},
    "registered": CLIENT,
    "machine": {**CLIENT, "client_credentials": True},
    "bound": {"dpop": True},
    "waiting": {},
}


class Program:
    def __init__(self, program, place):
        self.bin = place / "bin"
        self.bin.mkdir()
        shutil.copy(program, self.bin / "mcpwire")
        self.home = place / "home"
        self.environment = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(place)}

    def start(self, *arguments):
        command = [self.bin / "mcpwire", *arguments, "--config-dir", self.home]
        if "--" in arguments:
            at = arguments.index("--")
            command = [self.bin / "mcpwire", *arguments[:at], "--config-dir", self.home, *arguments[at:]]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=self.environment, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def run(self, *arguments, text=""):
        process = self.start(*arguments)
        out, err = process.communicate(text)
        if process.returncode != 0:
            sys.exit(f"mcpwire {' '.join(arguments)} failed: {out}{err}")
        return out

    def log_in(self, *arguments):
        process = self.start("login", "--json", *arguments)
        step = json.loads(process.stderr.readline())
        if step["step"] == "open_url":
            urllib.request.urlopen(step["url"]).read()
        else:
            form = urllib.parse.urlencode({"user_code": step["user_code"], "decision": "allow"})
            urllib.request.urlopen(step["verification_uri"], form.encode()).read()
        out, err = process.communicate()
        if process.returncode != 0:
            sys.exit(f"login {arguments} failed: {out}{err}")


def main(program, server):
    with tempfile.TemporaryDirectory() as place:
        place = Path(place)
        mcpwire = Program(program, place)
        options = ["--port", "18471", "--server-port", "18472", "--agree", "--lifetime", "60"]
        options += ["--client", f"registered,{SECRET},{REDIRECT_URI}"]
        servers = subprocess.Popen([server, *options], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            servers.stdout.readline()
            make(mcpwire, place)
        finally:
            servers.kill()
            servers.wait()
        # Any other boot than this one.
        registry = mcpwire.home / "state" / "ledger.json"
        registry.write_text(re.sub(r'"[0-9a-f-]{36}:', '"00000000-0000-4000-8000-000000000000:', registry.read_text()))
        for lock in mcpwire.home.rglob("*.lock"):
            lock.unlink()
        shutil.rmtree(HOME, ignore_errors=True)
        # Logs have the times and paths of this run. A socket cannot be kept.
        shutil.copytree(mcpwire.home, HOME, ignore=shutil.ignore_patterns("logs", "*.sock", "*.bak"))


def make(mcpwire, place):
    for name in SETTINGS:
        mcpwire.run("server", "add", name, "--url", SERVER)
    file = mcpwire.home / "mcp" / "servers.json"
    whole = json.loads(file.read_text())
    for config in whole["servers"]:
        text = json.dumps({"account": config["name"], **SETTINGS[config["name"]]})
        config["oauth"] = json.loads(text.replace("SECRET", f"mcp_{config['id']}#client_secret"))
    file.write_text(json.dumps(whole, indent=2))
    for name in ("registered", "machine"):
        mcpwire.run("secret", "set", name, "client_secret", text=f"{SECRET}\n")
    for name in ("browser", "registered", "bound"):
        mcpwire.log_in(name)
    mcpwire.log_in("device", "--device")
    mcpwire.log_in("--url", SERVER, "--account", "listed")
    waiting = mcpwire.start("login", "--json", "waiting")
    waiting.stderr.readline()
    waiting.send_signal(signal.SIGINT)
    waiting.communicate()

    # A server that the user has approved, and the tools of both.
    mcpwire.run("server", "add", "demo", "--", "mcpwire", "demo-server")
    imported = place / "imported.json"
    imported.write_text(json.dumps({"mcpServers": {"approved": {"command": "mcpwire", "args": ["demo-server"]}}}))
    mcpwire.run("server", "import", str(imported), "--trust")
    for name in ("demo", "approved", "browser", "machine"):
        mcpwire.run("tools", "--server", name)
    hub = mcpwire.start("hub", "run")
    registry = mcpwire.home / "state" / "ledger.json"
    # A hub that is killed leaves the records of its processes.
    for name in ("demo", "approved"):
        wait_for(lambda: (mcpwire.home / "state" / "hub.sock").exists())
        mcpwire.run("call", f"{name}__echo", '{"message":"hi"}')
    wait_for(lambda: registry.exists() and re.search(r'"pid": [1-9]', registry.read_text()))
    hub.kill()
    hub.wait()


def wait_for(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    sys.exit("it did not come")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
