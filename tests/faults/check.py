"""Kills hubs and commands at random moments with SIGKILL, and checks that nothing is lost, left running or harmed.

    check.py MCPWIRE WORKER [--kills N] [--seed N]

Two hubs share one configuration: `mcpwire hub run`, and the example `worker`, a program with a hub of its own. Six loops run
commands all the time. Between rounds everything is killed, and the next hub has to clean up.
"""

import argparse
import collections
import json
import os
import random
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
ROUND = 50  # kills
SERVERS = ("plain", "stubborn", "boxed")


class Place:
    """The directory of one run: configuration, servers, and the programs that nobody may touch."""

    def __init__(self, mcpwire, worker):
        self.mcpwire, self.worker = mcpwire, worker
        self.started = time.monotonic()
        self.root = Path(tempfile.mkdtemp(prefix="mcpwire-faults-"))
        (self.root / "containers").mkdir()
        for file in ("server.py", "engine.py"):
            shutil.copy(HERE / file, self.root)
        engine = self.root / "bin" / "docker"
        engine.parent.mkdir()
        engine.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S {self.root}/engine.py "$@"\n')
        engine.chmod(0o755)
        self.environment = {"HOME": str(self.root), "PATH": f"{engine.parent}:{os.environ['PATH']}"}
        for name in ("CONFIG", "DATA", "CACHE", "STATE", "RUNTIME"):
            place = f"XDG_{name}_{'DIR' if name == 'RUNTIME' else 'HOME'}"
            self.environment[place] = str(self.root / name.lower())
        self.violations, self.seen, self.lock = [], collections.Counter(), threading.Lock()
        self.bystanders = [self.bystander({}), self.bystander({"MCPWIRE_SERVER": f"{'0' * 8}-0000-4000-8000-{'0' * 12}.1.1-1"})]
        self.forged = self.bystander({})
        self.bystanders.append(self.forged)
        # Containers of others, one with a name like those of the hub.
        for name in ("theirs", "mcp-00000000-1-1"):
            process = self.bystander({})
            self.bystanders.append(process)
            (self.root / "containers" / name).write_text(str(process.pid))

    def server(self, kind):
        return [sys.executable, "-I", "-S", str(self.root / "server.py"), str(self.root), kind]

    def bystander(self, environment):
        command, nowhere = self.server("bystander"), subprocess.DEVNULL
        return subprocess.Popen(command, env={**self.environment, **environment}, stdin=nowhere, start_new_session=True)

    def start(self, command, log, stdin=subprocess.DEVNULL):
        with open(self.root / log, "ab") as errors:
            process = subprocess.Popen(command, env=self.environment, stdin=stdin, stdout=subprocess.PIPE, stderr=errors)
        self.note(f"{process.pid} starts: {shlex.join(command[1:])}")
        return process

    def note(self, text):
        """Adds a line to the history, from which a violation can be understood."""
        with self.lock, open(self.root / "history", "a") as history:
            history.write(f"{time.monotonic() - self.started:8.3f} {text}\n")

    def violation(self, text):
        with self.lock:
            self.violations.append(text)
        self.note(f"VIOLATION {text}")
        print(f"VIOLATION {text}", flush=True)

    def count(self, what):
        with self.lock:
            self.seen[what] += 1

    def configurations(self):
        """Returns the configurations by name, as the file has them now."""
        file = self.root / "config/mcpwire/mcp/servers.json"
        try:
            return {entry["name"]: entry for entry in json.loads(file.read_bytes())["servers"]}
        except FileNotFoundError:
            return {}

    def processes(self):
        """Returns all processes of this run's servers but the bystanders, by id."""
        found = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and int(entry.name) not in [process.pid for process in self.bystanders]:
                try:
                    command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                    environment = (entry / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                if str(self.root) in command:
                    mark = [entry.decode() for entry in environment if entry.startswith(b"MCPWIRE_SERVER=")]
                    found[int(entry.name)] = f"{command.split(maxsplit=4)[-1]} {mark}"
        return found


class Loop(threading.Thread):
    """Runs programs one after the other until it is stopped. The killer finds the present one in `process`."""

    def __init__(self, place, kind, seed):
        super().__init__(daemon=True)
        self.place, self.kind, self.random = place, kind, random.Random(f"{seed} {kind}")
        self.process, self.is_stopped = None, threading.Event()

    def run(self):
        while not self.is_stopped.is_set():
            try:
                self.turn()
            except Exception as error:  # A defect of this test must not look like success.
                self.place.violation(f"{self.kind}: {error!r}")
                return

    def command(self, *arguments, stdin=None):
        """Returns what the tool printed if it succeeded, and `None` if it failed or was killed."""
        place = self.place
        command = [place.mcpwire, *arguments]
        self.process = place.start(command, "errors", subprocess.DEVNULL if stdin is None else subprocess.PIPE)
        try:
            output = self.process.communicate(None if stdin is None else stdin.encode(), timeout=90)[0].decode()
        except subprocess.TimeoutExpired:
            place.violation(f"{arguments} hangs")
            self.process.kill()
            self.process.communicate()
            return None
        status = self.process.returncode
        place.note(f"{self.process.pid} ended: {status}")
        if status < 0 and status != -signal.SIGKILL or status == 101:
            place.violation(f"{arguments} ended with {status}")
        place.count((self.kind, "succeeded" if status == 0 else "killed" if status < 0 else "failed"))
        return output if status == 0 else None


class HubLoop(Loop):
    def turn(self):
        time.sleep(self.random.uniform(0, 0.6))
        place = self.place
        command = [place.mcpwire, "hub", "run"]
        if self.kind == "worker":
            command = [place.worker, "plain__note", '{"token":"worker"}']
        self.process = place.start(command, f"{self.kind}.log")
        output = self.process.communicate()[0]
        place.note(f"{self.process.pid} ended: {self.process.returncode}")
        place.count((self.kind, "saw" if b"worker" in output else "killed" if self.process.returncode < 0 else "ended"))


class Editor(Loop):
    """Adds, changes and removes servers of its own. It knows what the file must say about each."""

    def __init__(self, place, kind, seed):
        super().__init__(place, kind, seed)
        self.settled, self.unclear, self.made = {}, set(), 0

    def turn(self):
        if len(self.settled) < 3 and self.random.random() < 0.5 or not self.settled:
            self.made += 1
            name = f"{self.kind}{self.made}"
            has_secret = self.random.random() < 0.5
            options = ["--secret", "TOKEN"] if has_secret else ["--lazy"] if self.random.random() < 0.5 else []
            command = ("server", "add", name, *options, "--", *self.place.server("plain"))
            self.edit(name, {"enabled": True, "secret": "missing" if has_secret else None, "value": None}, *command)
            return
        name = self.random.choice(sorted(self.settled))
        known = self.settled[name]
        what = self.random.choice(["secret", "secret", "enabled", "enabled", "remove"])
        if what == "secret" and known["secret"]:
            value = f"value-{self.random.getrandbits(64)}"
            changed = {**known, "secret": "set", "value": value}
            self.edit(name, changed, "secret", "set", name, "TOKEN", stdin=value)
        elif what == "remove":
            self.edit(name, None, "server", "remove", name)
        elif known["enabled"]:
            self.edit(name, {**known, "enabled": False}, "server", "disable", name)
        elif known["secret"] != "missing":
            self.edit(name, {**known, "enabled": True}, "server", "enable", name, "--trust")

    def edit(self, name, becomes, *arguments, stdin=None):
        before = self.settled.pop(name, None)
        if self.command(*arguments, stdin=stdin) is None:
            # It may have happened or not, and may still happen in the hub.
            self.unclear.add(name)
        elif becomes is None:
            self.place.count("removals")
            if name in self.place.configurations():
                self.place.violation(f"{name} is there after its removal")
        else:
            self.settled[name] = becomes
            self.place.count("additions" if before is None else "changes")
            self.check(name)

    def check(self, name):
        entry = self.place.configurations().get(name)
        if entry is None:
            self.place.violation(f"{name} is lost")
        elif entry.get("enabled", True) != self.settled[name]["enabled"]:
            self.place.violation(f"{name} is {entry} instead of {self.settled[name]}")

    def check_all(self):
        """With all else at rest: checks each server, reads its secret through it, and removes those that are unclear."""
        for name, known in self.settled.items():
            self.check(name)
            if known["value"] and known["enabled"]:
                token = self.command("call", f"{name}__token", "{}")
                self.place.count("secrets read")
                if token is None or token.strip() != known["value"]:
                    self.place.violation(f"the secret of {name} is {token!r} instead of {known['value']!r}")
        for name in self.unclear & set(self.place.configurations()):
            if self.command("server", "remove", name) is None:
                self.place.violation(f"{name} cannot be removed")
        self.unclear.clear()


class Caller(Loop):
    """Calls tools that write down that they were called."""

    def __init__(self, place, kind, seed):
        super().__init__(place, kind, seed)
        self.made, self.answered = 0, set()

    def turn(self):
        self.made += 1
        token, server = f"{self.kind}-{self.made}", self.random.choice(SERVERS)
        output = self.command("call", f"{server}__note", json.dumps({"token": token}))
        if output is not None:
            self.answered.add(token)
            self.place.count("calls")
            if output.strip() != f"noted {token}":
                self.place.violation(f"the call {token} returned {output!r}")

    def check_all(self):
        noted = collections.Counter((self.place.root / "journal").read_text().split())
        for token in self.answered:
            if noted[token] != 1:
                self.place.violation(f"the call {token} succeeded and was made {noted[token]} times")
        for token, times in noted.items():
            if times > 1 and token.startswith(f"{self.kind}-"):
                self.place.violation(f"the call {token} was made {times} times")


class Starter(Loop):
    def turn(self):
        server = self.random.choice(SERVERS)
        what = self.random.choice(["restart", "restart", "restart", "stop", "start", "start", "reload"])
        done = self.command("hub", "reload") if what == "reload" else self.command("server", what, server)
        if what == "stop":
            done = self.command("server", "start", server)
        if done is not None:
            self.place.count("starts")
        else:
            time.sleep(0.05)  # There is no hub at the moment.


class Watcher(Loop):
    def turn(self):
        self.command(*self.random.choice([("status", "--json"), ("tools", "--json"), ("server", "doctor")]))


def settle(place, loops):
    """Ends the round: kills all that runs, lets the next hub clean up, and checks what is left."""
    for loop in loops:
        loop.is_stopped.set()
    for loop in loops:
        while loop.is_alive():
            if loop.process and isinstance(loop, HubLoop):
                loop.process.kill()
            loop.join(0.1)
    # A process of somebody else that has the id of one that was recorded.
    registry = place.root / "state/mcpwire/mcp/ledger.json"
    recorded = json.loads(registry.read_bytes()) if registry.exists() else {"children": []}
    if recorded["children"]:
        forged = json.loads(json.dumps(recorded["children"][0]))
        forged["child"]["pid"] = place.forged.pid
        recorded["children"].append(forged)
        registry.write_text(json.dumps(recorded))
        place.count("forged records")
    checker = Loop(place, "checker", 0)
    if checker.command("status", "--json") is None:
        place.violation("no hub can be opened after the kills")
    until = time.monotonic() + 60
    while place.processes() and time.monotonic() < until:
        time.sleep(0.1)
    for pid, command in place.processes().items():
        place.violation(f"left running: {pid} {command}")
        os.kill(pid, signal.SIGKILL)
    containers = {path.name for path in (place.root / "containers").iterdir()}
    if containers != {"theirs", "mcp-00000000-1-1"}:
        place.violation(f"containers are left or gone: {sorted(containers)}")
        for name in containers - {"theirs", "mcp-00000000-1-1"}:
            (place.root / "containers" / name).unlink(missing_ok=True)
    log = (place.root / "engine.log").read_text()
    if any(line.split()[-1] in ("theirs", "mcp-00000000-1-1") for line in log.splitlines()):
        place.violation("the containers of others were named to the engine")
    for process in place.bystanders:
        if process.poll() is not None:
            place.violation(f"the process {process.pid} of somebody else ended with {process.returncode}")
    signals = place.root / "foreign-signals"
    if signals.exists():
        place.violation(signals.read_text().strip())
        signals.unlink()
    for loop in loops:
        if isinstance(loop, (Editor, Caller)):
            loop.check_all()


def configure(place):
    checker = Loop(place, "checker", 0)
    for name in ("plain", "stubborn"):
        assert checker.command("server", "add", name, "--", *place.server(name)) is not None
    assert checker.command("server", "add", "boxed", "--docker", "example/image:1") is not None
    for name in SERVERS:
        assert checker.command("call", f"{name}__note", json.dumps({"token": "first"})) == "noted first\n"


def play(place, kills, seed):
    randomness = random.Random(seed)
    loops = []
    killed = collections.Counter()
    done = 0
    while done < kills:
        loops = [renewed(place, kind, seed, done, loops) for kind in KINDS]
        for loop in loops:
            loop.start()
        until = min(done + ROUND, kills)
        while done < until:
            time.sleep(randomness.uniform(0, 1.0))
            victim = randomness.choice(loops[:2] + loops)
            process = victim.process
            if process is None or process.poll() is not None:
                continue
            process.kill()
            killed[victim.kind] += 1
            done += 1
        settle(place, loops)
        print(f"{done} kills, {len(place.violations)} violations", flush=True)
    return killed


KINDS = {"hub": HubLoop, "worker": HubLoop, "a": Editor, "b": Editor, "c": Caller, "d": Caller, "s": Starter, "w": Watcher}


def renewed(place, kind, seed, done, old):
    """Returns a new thread that goes on with what the thread of the round before knew."""
    loop = KINDS[kind](place, kind, f"{seed} {done}")
    for before in old:
        if before.kind == kind:
            for known in ("settled", "unclear", "made", "answered"):
                if hasattr(before, known):
                    setattr(loop, known, getattr(before, known))
    return loop


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mcpwire")
    parser.add_argument("worker")
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    place = Place(*(str(Path(program).resolve()) for program in (options.mcpwire, options.worker)))
    started = time.monotonic()
    try:
        configure(place)
        killed = play(place, options.kills, options.seed)
    finally:
        for process in place.bystanders:
            process.kill()
            process.wait()
    errors = (place.root / "errors").read_text(errors="replace")
    if "panicked" in errors + "".join((place.root / f"{hub}.log").read_text(errors="replace") for hub in ("hub", "worker")):
        place.violation("a program panicked")
    temporary = sum(path.name.endswith(".tmp") for path in place.root.rglob("*"))
    counts = ", ".join(f"{' '.join([what] if isinstance(what, str) else what)} {n}" for what, n in sorted(place.seen.items(), key=str))
    print(f"killed: {dict(killed)}; {counts}; temporary files left: {temporary}")
    for what in ("additions", "changes", "removals", "calls", "starts"):
        # With few kills, it is chance on a busy machine whether there is a hub when a command wants one.
        if options.kills >= 100 and place.seen[what] < options.kills / 25:
            place.violation(f"too few {what} succeeded to say anything: {place.seen[what]}")
    verdict = f"{len(place.violations)} violations" if place.violations else "nothing lost, left running or harmed"
    print(f"{sum(killed.values())} kills in {time.monotonic() - started:.0f} s, seed {options.seed}: {verdict}")
    if place.violations:
        print(f"the files are kept in {place.root}")
        sys.exit(1)
    shutil.rmtree(place.root)


main()
