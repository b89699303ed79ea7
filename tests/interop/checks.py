"""What is checked: each function gives the title of a check, and the check."""

import json
import os
import signal
import tempfile
from pathlib import Path

from harness import Background, Run, expect

SECRET = "MCPWIRE_INTEROP_SECRET"  # in our own environment, and no business of a server


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
        if not server.speaks_to_people:
            return
        printed = Run(server, what, json_output=False).status_is(0).stdout
        expect(value in printed, f"printed {printed!r}")

    return f"{what} has {value}", check


def shows(what, arguments, part):
    """`mcpwire WHAT ...` prints a text with this in it, and its JSON has it too."""

    def check(server):
        for json_output in (True, False)[: 1 + server.speaks_to_people]:
            printed = Run(server, what, *arguments, json_output=json_output).status_is(0).stdout
            expect(part in printed, f"printed {printed!r}")

    return f"{what} {arguments[0]}", check


def reports_error(tool, arguments, part, options=()):
    """The tool ran and failed: status 1, and the result is printed all the same."""

    def check(server):
        run = call(server, tool, arguments, options=options).status_is(1)
        expect(run.json().get("isError") is True, "isError is not true")
        expect(part in run.text(), f"the text is {run.text()!r}")

    return f"call {tool} {json.dumps(arguments)}", check


def misses_argument(tool, name):
    """A call without an argument that the schema requires is refused before it is sent."""

    def check(server):
        error = call(server, tool, {}).status_is(2).error()
        expect(error["code"] == "VALIDATION_ERROR", f"the error's code is {error['code']}")
        expect(error["message"] == f"{tool}: missing argument: {name}", f"the message is {error['message']!r}")

    return f"call {tool}, argument missing", check


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


def asks(tool, arguments, answers, text):
    """What the server asks on the way is answered from a file."""

    def check(server):
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(answers, file)
            file.flush()
            got = call(server, tool, arguments, options=["--answers", file.name]).status_is(0).text()
        expect(text in got, f"answered {got!r}")

    return f"call {tool}, which asks", check


def is_not_answered(tool, arguments, status):
    """Without a terminal and a file, a question is dismissed: the call ends, also where the server asks again and again."""

    def check(server):
        run = call(server, tool, arguments).status_is(status)
        expect(run.messages("sent", "tools/call"), "the tool was not called")

    return f"call {tool}, nobody to ask", check


def completes(kind, name, argument, begin, values):
    def check(server):
        run = Run(server, "complete", kind, name, argument, begin, json_output=False).status_is(0)
        expect(run.stdout.split() == values, f"printed {run.stdout!r}")

    return f"complete {kind} {name}", check


def pings():
    def check(server):
        Run(server, "ping", json_output=False).status_is(0)

    return "ping", check


def saves(tool, begins):
    """The bytes of an answer are in a file of the folder, whole."""

    def check(server):
        with tempfile.TemporaryDirectory() as folder:
            call(server, tool, {}, options=["--save", folder], json_output=False).status_is(0)
            files = list(Path(folder).iterdir())
            expect(len(files) == 1, f"saved {files}")
            expect(files[0].read_bytes().startswith(begins), f"{files[0].name} begins with other bytes")

    return f"call {tool}, saved", check


def caches():
    """A list that its server says holds for a minute is asked for once, and again by who wants it anew."""

    def check(server):
        run = Run(server, "cached").status_is(0)
        asked = len(run.messages("sent", "tools/list"))
        expect(asked == 2, f"tools/list was sent {asked} times instead of 2")
        expect(run.json() == {"cached": 2}, f"said {run.json()}")

    return "tools, from the cache", check


def follows_task(tool, arguments, part):
    def check(server):
        run = call(server, tool, arguments, options=["--task"]).status_is(0)
        expect(part in run.text(), f"the text is {run.text()!r}")
        expect(run.messages("sent", "tasks/get"), "the task was not asked about")

    return f"call {tool}, as a task", check


def listens(*options):
    """`mcpwire listen` says what it listens to, and ends well on Ctrl-C."""

    def check(server):
        with Background(server, "listen", *options) as listening:
            line = listening.stderr.readline()
            expect(line.startswith("listening"), f"said {line!r}")
            listening.send_signal(signal.SIGINT)
            expect(listening.wait(timeout=30) == 0, f"exit status {listening.returncode}")

    return " ".join(["listen", *options]), check
