// An MCP server behind a certified OpenID provider (`oidc-provider`): registration, rotation, device flow, DPoP, revocation.
//
// `LIFETIME` is the lifetime of its access tokens in seconds. `GET /counters` tells what was asked of it.

import { createServer } from "node:net";
import express from "express";
import { Provider } from "oidc-provider";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const lifetime = Number(process.env.LIFETIME);
const counters = { registrations: 0, refreshes: 0, refused_refreshes: 0, revocations: 0 };

const port = await new Promise((resolve) => {
  const probe = createServer().listen(0, "127.0.0.1", () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});
const origin = `http://127.0.0.1:${port}`;
const issuer = `${origin}/oidc`;
const resource = `${origin}/mcp`;

const provider = new Provider(issuer, {
  scopes: ["openid", "offline_access", "notes"],
  clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
  clientDefaults: { grant_types: ["authorization_code", "refresh_token"] },
  ttl: { AccessToken: lifetime, RefreshToken: 3600, Grant: 3600, Interaction: 600, Session: 3600, DeviceCode: 600 },
  rotateRefreshToken: true,
  issueRefreshToken: async (_context, client) => client.grantTypeAllowed("refresh_token"),
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: true },
    registration: { enabled: true },
    deviceFlow: { enabled: true },
    dPoP: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => resource,
      useGrantedResource: () => true,
      getResourceServerInfo: () => ({ scope: "notes", accessTokenTTL: lifetime, accessTokenFormat: "opaque" }),
    },
  },
});
provider.on("registration_create.success", () => (counters.registrations += 1));
provider.on("grant.success", ({ oidc }) => (counters.refreshes += oidc.params?.grant_type === "refresh_token"));
provider.on("grant.error", ({ oidc }, error) => {
  counters.refused_refreshes += oidc?.params?.grant_type === "refresh_token" && error.error === "invalid_grant";
});

const app = express();
app.get("/counters", (_request, response) => response.json(counters));
app.get("/.well-known/oauth-protected-resource/mcp", (_request, response) => {
  response.json({ resource, authorization_servers: [issuer], scopes_supported: ["notes"], bearer_methods_supported: ["header"] });
});
const challenge = `resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp", scope="notes"`;

async function isAllowed(request) {
  const [scheme, value] = (request.headers.authorization ?? "").split(" ");
  const token = value && (await provider.AccessToken.find(value));
  if (!token || token.isExpired || !token.scope?.split(" ").includes("notes")) return false;
  // A token that is bound to a key is sent with a proof. That the provider has checked proofs is not tried again here.
  return token.jkt ? scheme.toLowerCase() === "dpop" && "dpop" in request.headers : scheme.toLowerCase() === "bearer";
}

app.all("/mcp", express.json(), async (request, response) => {
  if (!(await isAllowed(request))) {
    const error = request.headers.authorization ? 'error="invalid_token", ' : "";
    response.set("WWW-Authenticate", [`Bearer ${error}${challenge}`, `DPoP ${error}algs="ES256", ${challenge}`]);
    response.status(401).json({ error: "invalid_token" });
    return;
  }
  const server = new McpServer({ name: "logins-oidc-provider", version: "1.0.0" });
  server.tool("echo", { message: z.string() }, ({ message }) => ({ content: [{ type: "text", text: message }] }));
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined });
  response.on("close", () => transport.close());
  await server.connect(transport);
  await transport.handleRequest(request, response, request.body);
});
app.use("/oidc/token/revocation", (_request, response, next) => {
  response.on("finish", () => (counters.revocations += response.statusCode === 200));
  next();
});
app.use("/oidc", provider.callback());
app.listen(port, "127.0.0.1", () => console.error(origin));
