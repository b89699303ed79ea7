"""An MCP server written with FastMCP: on stdio, or with `--http` by HTTP.

Tools: `echo` answers, `weather` answers structured content, `book` asks the user first (in the way of revision 2026-07-28). A note to
read, one for each name, a prompt.
"""

import os
import sys

from fastmcp import Context, FastMCP
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult
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


@server.tool
async def book(day: str, context: Context) -> str | InputRequiredResult:
    """Ask for the number of seats, and book them."""
    if not context.input_responses:
        schema = {"type": "object", "properties": {"seats": {"type": "integer", "minimum": 1}}, "required": ["seats"]}
        question = ElicitRequest(params=ElicitRequestFormParams(message="How many seats?", requested_schema=schema))
        return InputRequiredResult(input_requests={"seats": question})
    return f"booked {context.input_responses['seats'].content['seats']} seats on {day}"


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
    if sys.argv[1:] == ["--http"]:
        server.run("http", host="127.0.0.1", port=int(os.environ["PORT"]), show_banner=False)
    else:
        server.run("stdio", show_banner=False)
