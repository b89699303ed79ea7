"""An MCP server of the modern era (2026-07-28), written with the official Python SDK: on stdio, or with `--http` by HTTP.

Tools: `echo` and `add` answer, `count` reports progress on the way, `fail` reports an error, `picture` answers an image, `greet` and
`book` ask the user first (`book` twice), `think` asks for a language model, `where` for the roots, `touch` says that the note has
changed. There is a note to read, which may be kept for a minute, and a prompt whose argument is completed.
"""

import base64
import sys
from typing import Annotated

from mcp_types import Completion, SamplingMessage, TextContent
from pydantic import BaseModel, Field

from mcp.server.caching import CacheHint
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp.server.mcpserver.utilities.types import Image
from mcp_types import CreateMessageResult, ListRootsResult

NOTE = "interop://note"
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

server = MCPServer(
    "interop-modern",
    version="1.0.0",
    instructions="A server to try a client on.",
    cache_hints={"tools/list": CacheHint(ttl_ms=60_000), "resources/read": CacheHint(ttl_ms=60_000, scope="public")},
)


class Sum(BaseModel):
    """What `add` answers, as structured content."""

    sum: int


class Name(BaseModel):
    """What `greet` asks for."""

    name: str = Field(description="Your name", min_length=1)
    loudly: bool = Field(default=True, description="Shout?")


class Day(BaseModel):
    """What `book` asks for first."""

    day: str = Field(description="A day of the week")


class Seats(BaseModel):
    """What `book` asks for then."""

    seats: int = Field(ge=1, le=9, description="How many seats")


@server.tool()
def echo(message: str) -> str:
    """Answer with the message."""
    return message


@server.tool()
def add(a: int, b: int) -> Sum:
    """Add two whole numbers."""
    return Sum(sum=a + b)


@server.tool()
async def count(to: int, context: Context) -> str:
    """Count up and report each step as progress."""
    for step in range(1, to + 1):
        await context.report_progress(step, to, f"step {step}")
    return f"counted to {to}"


@server.tool()
def fail(message: str) -> str:
    """Report an error."""
    raise ValueError(message)


@server.tool()
def picture() -> Image:
    """Answer a picture of one dot."""
    return Image(data=PIXEL, format="png")


async def ask_name() -> Elicit[Name]:
    return Elicit("Who is there?", Name)


@server.tool()
async def greet(person: Annotated[Name, Resolve(ask_name)]) -> str:
    """Ask for a name and greet it."""
    greeting = f"hello {person.name}"
    return greeting.upper() if person.loudly else greeting


async def ask_day() -> Elicit[Day]:
    return Elicit("On which day?", Day)


async def ask_seats(day: Annotated[Day, Resolve(ask_day)]) -> Elicit[Seats]:
    return Elicit(f"How many seats on {day.day}?", Seats)


@server.tool()
async def book(day: Annotated[Day, Resolve(ask_day)], seats: Annotated[Seats, Resolve(ask_seats)]) -> str:
    """Ask for a day, then for a number of seats, and book them."""
    return f"{seats.seats} seats on {day.day}"


async def ask_model() -> Sample:
    question = SamplingMessage(role="user", content=TextContent(type="text", text="What is six times seven?"))
    return Sample([question], max_tokens=100)


@server.tool()
async def think(thought: Annotated[CreateMessageResult, Resolve(ask_model)]) -> str:
    """Ask the client's language model."""
    return f"{thought.model} says {thought.content.text}"


async def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool()
async def where(roots: Annotated[ListRootsResult, Resolve(ask_roots)]) -> str:
    """Ask for the client's roots."""
    return " ".join(str(root.uri) for root in roots.roots)


@server.tool()
async def touch(context: Context) -> str:
    """Say that the note, and the list of tools, have changed."""
    await context.notify_resource_updated(NOTE)
    await context.notify_tools_changed()
    return "touched"


@server.resource(NOTE, mime_type="text/plain")
def note() -> str:
    """A note to read."""
    return "a note"


@server.prompt()
def review(code: str, language: str = "rust") -> str:
    """Ask for a review."""
    return f"Look at {code}, in {language}."


@server.completion()
async def complete(ref, argument, context):
    languages = ["python", "rust", "ruby"]
    return Completion(values=[language for language in languages if language.startswith(argument.value)])


if __name__ == "__main__":
    if "--http" in sys.argv:
        server.run("streamable-http", host="127.0.0.1", port=0)
    else:
        server.run("stdio")
