"""An MCP server with its own authorization server: the official Python SDK's `mcp.server.auth`, with a page of consent.

`LIFETIME` is the lifetime of its access tokens in seconds. `GET /counters` tells what was asked of it. Refresh tokens are
replaced with each use, and a second use of one ends the login (RFC 9700, 4.14.2).
"""

import os
import secrets
import socket
import sys
import time

from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken, construct_redirect_uri
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse

LIFETIME = int(os.environ["LIFETIME"])
counters = {"registrations": 0, "refreshes": 0, "refused_refreshes": 0, "revocations": 0}


class Provider:
    """Clients, pages of consent that wait for the user, codes and tokens, in memory."""

    def __init__(self):
        self.clients, self.waiting, self.codes, self.access, self.refresh = {}, {}, {}, {}, {}
        self.families, self.ended = {}, set()

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        counters["registrations"] += 1
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        ticket = secrets.token_hex(16)
        self.waiting[ticket] = (client.client_id, params)
        return f"{origin}/consent?ticket={ticket}"

    def consented(self, ticket):
        """The address to send the browser to."""
        client_id, params = self.waiting.pop(ticket)
        code = secrets.token_hex(32)
        self.codes[code] = AuthorizationCode(
            code=code, scopes=params.scopes or ["notes"], expires_at=time.time() + 60, client_id=client_id,
            code_challenge=params.code_challenge, redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly, resource=params.resource,
        )
        return construct_redirect_uri(str(params.redirect_uri), code=code, state=params.state)

    async def load_authorization_code(self, client, authorization_code):
        code = self.codes.get(authorization_code)
        return code if code and code.client_id == client.client_id else None

    def tokens(self, client, scopes, resource, family):
        access, refresh = secrets.token_hex(32), secrets.token_hex(32)
        expires_at = int(time.time()) + LIFETIME
        self.access[access] = AccessToken(
            token=access, client_id=client.client_id, scopes=scopes, expires_at=expires_at, resource=resource
        )
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=scopes, resource=resource)
        self.families[access] = self.families[refresh] = family
        return OAuthToken(access_token=access, expires_in=LIFETIME, scope=" ".join(scopes), refresh_token=refresh)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        return self.tokens(client, authorization_code.scopes, authorization_code.resource, secrets.token_hex(8))

    async def load_refresh_token(self, client, refresh_token):
        found = self.refresh.get(refresh_token)
        if found is None or found.client_id != client.client_id:
            counters["refused_refreshes"] += 1
            self.ended.add(self.families.get(refresh_token))
            return None
        return None if self.families[refresh_token] in self.ended else found

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        counters["refreshes"] += 1
        del self.refresh[refresh_token.token]
        return self.tokens(client, scopes, refresh_token.resource, self.families[refresh_token.token])

    async def load_access_token(self, token):
        found = self.access.get(token)
        if found is None or found.expires_at <= time.time() or self.families[token] in self.ended:
            return None
        return found

    async def revoke_token(self, token):
        counters["revocations"] += 1
        self.ended.add(self.families[token.token])


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
port = listener.getsockname()[1]
listener.close()
origin = f"http://127.0.0.1:{port}"
provider = Provider()

server = MCPServer(
    "logins-python-sdk",
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=origin,
        resource_server_url=f"{origin}/mcp",
        client_registration_options=ClientRegistrationOptions(enabled=True, valid_scopes=["notes"], default_scopes=["notes"]),
        revocation_options=RevocationOptions(enabled=True),
        required_scopes=["notes"],
        validate_token_resource=True,
    ),
)


@server.tool()
def echo(message: str) -> str:
    """Answer with the message."""
    return message


@server.custom_route("/consent", methods=["GET"])
async def ask(request):
    ticket = request.query_params["ticket"]
    return HTMLResponse(
        f'<form method="post" action="/consent"><input type="hidden" name="ticket" value="{ticket}">'
        '<input name="user"><button type="submit">Allow</button></form>'
    )


@server.custom_route("/consent", methods=["POST"])
async def consent(request):
    form = await request.form()
    return RedirectResponse(provider.consented(form["ticket"]), status_code=302)


@server.custom_route("/counters", methods=["GET"])
async def tell(_request):
    return JSONResponse(counters)


print(origin, file=sys.stderr, flush=True)
server.run("streamable-http", host="127.0.0.1", port=port)
