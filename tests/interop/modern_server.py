"""A small MCP server of the modern era (2026-07-28) on stdio, written with the official Python SDK.

Tools: `echo` and `add` answer, `count` reports progress on the way, `fail` reports an error. There is a note to read, and a prompt.
"""

from pydantic import BaseModel

from mcp.server.mcpserver import Context, MCPServer

server = MCPServer("interop-modern", version="1.0.0", instructions="A server to try a client on.")


class Sum(BaseModel):
    """What `add` answers, as structured content."""

    sum: int


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


@server.resource("interop://note", mime_type="text/plain")
def note() -> str:
    """A note to read."""
    return "a note"


@server.prompt()
def review(code: str) -> str:
    """Ask for a review."""
    return f"Look at {code}."


@server.tool()
def fail(message: str) -> str:
    """Report an error."""
    raise ValueError(message)


if __name__ == "__main__":
    server.run("stdio")
