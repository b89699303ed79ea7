"""An MCP server on stdio, written with FastMCP.

Tools: `echo` answers, `weather` answers structured content. A note to read, one for each name, a prompt.
"""

from fastmcp import FastMCP
from pydantic import BaseModel


server = FastMCP("interop-fastmcp", version="1.0.0", cache_ttl=60_000, cache_scope="private")


class Weather(BaseModel):
    """What `weather` answers."""

    city: str
    degrees: float


@server.tool
def echo(message: str) -> str:
    """Answer with the message."""
    return message


@server.tool
def weather(city: str) -> Weather:
    """Invent the weather of a city."""
    return Weather(city=city, degrees=21.5)


@server.resource("interop://note", mime_type="text/plain")
def note() -> str:
    """A note to read."""
    return "a note"


@server.resource("interop://notes/{name}", mime_type="text/plain")
def note_of(name: str) -> str:
    """A note of this name."""
    return f"the note {name}"


@server.prompt
def review(code: str) -> str:
    """Ask for a review."""
    return f"Look at {code}."


if __name__ == "__main__":
    server.run("stdio", show_banner=False)
