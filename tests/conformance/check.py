"""Runs the client scenarios of the conformance suite, strictly one by one, and says what came of each.

    check.py CLIENT NODE CACHE VERSION...

VERSION is a version of the suite: the folder below CACHE in which it is installed. Ends with a table and
`N passed, N failed`; the exit status is 1 when anything failed. ONLY in the environment names the scenarios to run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLIENT, NODE, CACHE, VERSIONS = sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4:]
ONLY = os.environ.get("ONLY", "").split()

# Each wire that a scenario is run on: with a handshake, and without.
LEGACY, MODERN = "2025-11-25", "2026-07-28"
EARLIER = ("2025-03-26", "2025-06-18")

# Scenarios that demand what is not built yet, by the start of their names. SEP-2640 has rules for hosts: list skills, load one by
# reading its files, and compare each file with the size, the digest and the front matter of the list. mcpwire does not load skills;
# programs can send `skills/list` as a raw request and read the resources. Only code of this test client could pass the scenarios.
NOT_YET = {"sep-2640-": "skills: no host of mcpwire loads them"}

# Scenarios that a client must not pass, because the suite is at fault. One that passes anyway fails the run.
AT_FAULT = {
    ("0.1.16", "auth/2025-03-26-oauth-metadata-backcompat"): "its metadata names another issuer than the one that was asked",
}

# A scenario is given this long by the suite, in milliseconds; the suite itself, in seconds, is given more.
SCENARIO_LIMIT, SUITE_LIMIT = 30_000, 60


def entry(version):
    return str(CACHE / version / "node_modules/@modelcontextprotocol/conformance/dist/index.js")


def environment():
    """Ours, without what would send requests elsewhere."""
    return {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}


def suite(version, *arguments):
    return subprocess.run(
        [NODE, entry(version), *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, errors="replace", timeout=SUITE_LIMIT, env=environment(),
    )


def scenarios(version):
    """The names of the client scenarios, with the revisions that each is for."""
    listed = suite(version, "list", "--client").stdout
    found = re.findall(r"^\s*- (\S+)(?: \[(.*)\])?\s*$", listed, re.MULTILINE)
    if not found:
        sys.exit(f"{version} lists no scenarios:\n{listed}")
    return [(name, revisions.split(",") if revisions else []) for name, revisions in found]


def wires(version, revisions):
    """What to say of the revision: nothing where the suite knows but one."""
    if version.startswith("0.1."):
        return [None]
    return [wire for wire in (*EARLIER, LEGACY, MODERN) if wire in revisions]


def run(version, name, wire):
    """Why a scenario failed; None if it passed."""
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["client", "--command", CLIENT, "--scenario", name, "--timeout", str(SCENARIO_LIMIT), "-o", folder]
        if wire:
            arguments += ["--spec-version", wire]
        try:
            ended = suite(version, *arguments)
        except subprocess.TimeoutExpired:
            return "the suite did not end", ""
        checks = [check for file in Path(folder).glob("**/checks.json") for check in json.loads(file.read_text())]
        said = "\n".join(file.read_text() for file in sorted(Path(folder).glob("**/stderr.txt")))
    bad = [check for check in checks if check["status"] in ("FAILURE", "WARNING")]
    if bad:
        why = "; ".join(f"{check['id']}: {check.get('errorMessage') or check['description']}" for check in bad)
        return why, ended.stdout + said
    if ended.returncode != 0:
        return f"exit status {ended.returncode}", ended.stdout + said
    # A client that does nothing passes some of them.
    if not any(check["status"] == "SUCCESS" for check in checks):
        return "nothing was checked", ended.stdout + said
    return None, ""


def main():
    rows, counts = [], {"pass": 0, "FAIL": 0, "not yet": 0, "suite": 0}
    for version in VERSIONS:
        for name, revisions in scenarios(version):
            if ONLY and name not in ONLY:
                continue
            wanting = next((what for start, what in NOT_YET.items() if name.startswith(start)), None)
            for wire in wires(version, revisions) or [None]:
                why = wanting
                if wanting:
                    outcome = "not yet"
                else:
                    why, said = run(version, name, wire)
                    outcome = "FAIL" if why else "pass"
                    at_fault = AT_FAULT.get((version, name))
                    if at_fault:
                        outcome = "suite" if why else "FAIL"
                        why = at_fault if why else "it passes, although the suite is said to be at fault"
                    if outcome == "FAIL":
                        print(f"--- {version} {name} {wire or ''}\n{said}", flush=True)
                counts[outcome] += 1
                rows.append((version, name, wire or "", outcome, (why or "")[:160]))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)), row[4])
    if counts["not yet"]:
        print(f"not yet: {counts['not yet']} runs were left out: they demand what is not built")
    if counts["suite"]:
        print(f"suite: {counts['suite']} runs fail because of a fault of the suite")
    print(f"{counts['pass']} passed, {counts['FAIL']} failed")
    sys.exit(1 if counts["FAIL"] or not counts["pass"] else 0)


main()
