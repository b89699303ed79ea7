"""An MCP server with its own authorization server: FastMCP's `InMemoryOAuthProvider`.

`LIFETIME` is the lifetime of its access tokens in seconds. `GET /counters` tells what was asked of it.
"""

import os
import socket
import sys

import fastmcp.server.auth.providers.in_memory as in_memory
from fastmcp import FastMCP
from mcp.server.auth.settings import ClientRegistrationOptions, RevocationOptions
from starlette.responses import JSONResponse

in_memory.DEFAULT_ACCESS_TOKEN_EXPIRY_SECONDS = int(os.environ["LIFETIME"])
counters = {"registrations": 0, "refreshes": 0, "refused_refreshes": 0, "revocations": 0}


class Provider(in_memory.InMemoryOAuthProvider):
    """The provider of FastMCP, counted."""

    async def register_client(self, client_info):
        counters["registrations"] += 1
        await super().register_client(client_info)

    async def load_refresh_token(self, client, refresh_token):
        found = await super().load_refresh_token(client, refresh_token)
        counters["refused_refreshes"] += found is None
        return found

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        counters["refreshes"] += 1
        return await super().exchange_refresh_token(client, refresh_token, scopes)

    async def revoke_token(self, token):
        counters["revocations"] += 1
        await super().revoke_token(token)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
listener.close()
origin = f"http://127.0.0.1:{port}"

server = FastMCP(
    "logins-fastmcp",
    auth=Provider(
        base_url=origin,
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["notes"], default_scopes=["notes"]),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["notes"],
    ),
)


@server.tool
def echo(message: str) -> str:
    """Answer with the message."""
    return message


@server.custom_route("/counters", methods=["GET"])
async def tell(_request):
    return JSONResponse(counters)


print(origin, file=sys.stderr, flush=True)
server.run("http", host="127.0.0.1", port=port, path="/mcp", show_banner=False, log_level="warning")
