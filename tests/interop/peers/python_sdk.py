"""`python_sdk.py call|list-and-call TOOL COMMAND ARGS...`: connect with the official Python SDK, list the tools if asked to,
call one with the arguments on standard input and a deadline of 3 s, close; a line for each. Stock settings."""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


def one_line(error):
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return " ".join(f"{type(error).__name__}: {error}".split())


async def list_tools(client):
    try:
        print("tools:", ", ".join(tool.name for tool in (await client.list_tools()).tools))
    except Exception as error:
        print("tools:", one_line(error))


async def call(client, tool, arguments):
    try:
        result = await asyncio.wait_for(client.call_tool(tool, arguments), 3)
        print("call:", json.dumps([block.model_dump(exclude_none=True) for block in result.content]))
    except TimeoutError:
        print("call: no answer in 3 s")
    except Exception as error:
        print("call:", one_line(error))


async def main(what, tool, command, *rest):
    arguments = json.load(sys.stdin)
    connected = False
    try:
        async with Client(StdioServerParameters(command=command, args=list(rest))) as client:
            connected = True
            if what == "list-and-call":
                await list_tools(client)
            await call(client, tool, arguments)
    except Exception as error:
        print("close:" if connected else "connect:", one_line(error))
    else:
        print("close: done")


asyncio.run(main(*sys.argv[1:]))
