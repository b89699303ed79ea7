// An MCP server with its own authorization server: the TypeScript SDK's `mcpAuthRouter`, with a page of consent. Runs with
// version 1.11, which has no metadata of protected resources, and with later ones.
//
// `LIFETIME` is the lifetime of its access tokens in seconds. `GET /counters` tells what was asked of it. Refresh tokens are
// replaced with each use, and a second use of one ends the login.

import { randomBytes } from "node:crypto";
import { createServer } from "node:net";
import express from "express";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as router from "@modelcontextprotocol/sdk/server/auth/router.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { InvalidGrantError, InvalidTokenError } from "@modelcontextprotocol/sdk/server/auth/errors.js";
import { z } from "zod";

const lifetime = Number(process.env.LIFETIME);
const counters = { registrations: 0, refreshes: 0, refused_refreshes: 0, revocations: 0 };
const clients = new Map();
const waiting = new Map();
const codes = new Map();
const access = new Map();
const refresh = new Map();
const used = new Map();
const ended = new Set();

const random = () => randomBytes(32).toString("hex");
const now = () => Math.floor(Date.now() / 1000);

function tokens(client, scopes, family) {
  const [token, next] = [random(), random()];
  access.set(token, { token, clientId: client.client_id, scopes, expiresAt: now() + lifetime, family });
  refresh.set(next, { clientId: client.client_id, scopes, family });
  return { access_token: token, token_type: "bearer", expires_in: lifetime, refresh_token: next, scope: scopes.join(" ") };
}

const provider = {
  clientsStore: {
    getClient: (id) => clients.get(id),
    registerClient(client) {
      counters.registrations += 1;
      const registered = { client_id: random(), client_id_issued_at: now(), ...client };
      clients.set(registered.client_id, registered);
      return registered;
    },
  },
  async authorize(client, params, response) {
    const ticket = random();
    waiting.set(ticket, { client, params });
    response.type("html").send(
      `<form method="post" action="/consent"><input type="hidden" name="ticket" value="${ticket}">` +
        '<input name="user"><button type="submit">Allow</button></form>',
    );
  },
  async challengeForAuthorizationCode(_client, code) {
    if (!codes.has(code)) throw new InvalidGrantError("no such code");
    return codes.get(code).params.codeChallenge;
  },
  async exchangeAuthorizationCode(client, code) {
    const { params } = codes.get(code);
    codes.delete(code);
    return tokens(client, params.scopes ?? [], random());
  },
  async exchangeRefreshToken(client, token) {
    const found = refresh.get(token);
    if (!found || ended.has(found.family)) {
      counters.refused_refreshes += 1;
      if (used.has(token)) ended.add(used.get(token));
      throw new InvalidGrantError("this refresh token is not valid");
    }
    counters.refreshes += 1;
    refresh.delete(token);
    used.set(token, found.family);
    return tokens(client, found.scopes, found.family);
  },
  async verifyAccessToken(token) {
    const found = access.get(token);
    if (!found || found.expiresAt <= now() || ended.has(found.family)) throw new InvalidTokenError("this token is not valid");
    return found;
  },
  async revokeToken(_client, { token }) {
    counters.revocations += 1;
    const found = refresh.get(token) ?? access.get(token);
    if (found) ended.add(found.family);
  },
};

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const origin = `http://127.0.0.1:${port}`;
const resource = new URL("/mcp", origin);

const app = express();
const hasResourceMetadata = "mcpAuthMetadataRouter" in router;
app.use(router.mcpAuthRouter({ provider, issuerUrl: new URL(origin), resourceServerUrl: resource, scopesSupported: ["notes"] }));
app.post("/consent", express.urlencoded({ extended: false }), (request, response) => {
  const { client: _client, params } = waiting.get(request.body.ticket);
  waiting.delete(request.body.ticket);
  const code = random();
  codes.set(code, { params });
  const target = new URL(params.redirectUri);
  target.searchParams.set("code", code);
  if (params.state !== undefined) target.searchParams.set("state", params.state);
  response.redirect(target.href);
});
app.get("/counters", (_request, response) => response.json(counters));

const bearer = { verifier: provider, provider, requiredScopes: [] };
if (hasResourceMetadata) bearer.resourceMetadataUrl = router.getOAuthProtectedResourceMetadataUrl(resource);
app.all("/mcp", requireBearerAuth(bearer), express.json(), async (request, response) => {
  const server = new McpServer({ name: "logins-typescript-sdk", version: "1.0.0" });
  server.tool("echo", { message: z.string() }, ({ message }) => ({ content: [{ type: "text", text: message }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on("close", () => transport.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.listen(port, "127.0.0.1", () => console.error(origin));
