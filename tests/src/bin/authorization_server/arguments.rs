//! The command line.

use std::time::Duration;

use mcpwire_testkit::ScriptedServer;
use mcpwire_testkit::authorization::{AuthorizationServer, Client, MetadataPlace, ProtectedServer};
use serde_json::{Value, json};

use super::deviations::deviate;

pub(crate) const USAGE: &str = "\
Usage: authorization-server [OPTION]...

Serves an MCP server with the tools `echo` and `add`, and its authorization server. Prints their URLs.

  --port PORT              Port of the authorization server (default: a free one)
  --server-port PORT       Port of the MCP server (default: a free one)
  --same-origin            Serve both at the port of the MCP server, as for protocol revision 2025-03-26
  --agree                  Agree to each login at once, without a page
  --lifetime SECONDS       Lifetime of access tokens (default: 3600)
  --client ID[,SECRET[,REDIRECT_URI]]   Add a registered client
  --client-document URL    Accept the client that is identified by this URL, with the redirect URI http://127.0.0.1:33418/callback
  --no-registration        Turn dynamic client registration off
  --no-devices             Turn device codes off
  --metadata PLACE         Where the metadata is: oauth, openid, openid-after-path or none
  --scopes SCOPES          `scopes_supported` of both servers, separated by spaces
  --require [OPERATION=]SCOPES   Want scopes, for an operation such as `tools/call echo` or for all
  --dpop                   Accept only tokens that are bound to a key
  --nonces                 Want nonces in DPoP proofs
  --deviate NAME[=VALUE]   Deviate from the specification. `--deviate help` lists the names

Lines of standard input are commands: revoke-access-tokens, revoke-logins, forget-clients, renew-nonces, deviate NAME[=VALUE],
conform, requests.";

/// The servers, as the command line describes them.
pub(crate) struct Arguments {
    pub(crate) authorization: AuthorizationServer,
    pub(crate) server: ProtectedServer,
    pub(crate) port: u16,
    pub(crate) server_port: u16,
    pub(crate) is_same_origin: bool,
}

impl Arguments {
    pub(crate) fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
        let arguments: Vec<_> = arguments.collect();
        let is_same_origin = arguments.iter().any(|argument| argument == "--same-origin");
        let authorization =
            if is_same_origin { AuthorizationServer::at("https://mcp.test") } else { AuthorizationServer::new() };
        let server = authorization.protect(tools());
        authorization.with_login_page();
        let mut parsed = Arguments { authorization, server, port: 0, server_port: 0, is_same_origin };
        let mut arguments = arguments.into_iter();
        while let Some(option) = arguments.next() {
            parsed.apply(&option, || arguments.next().ok_or_else(|| format!("{option} needs a value")))?;
        }
        Ok(parsed)
    }

    fn apply(&mut self, option: &str, value: impl FnOnce() -> Result<String, String>) -> Result<(), String> {
        let (authorization, server) = (&self.authorization, &self.server);
        match option {
            "--port" => self.port = number(&value()?)?,
            "--server-port" => self.server_port = number(&value()?)?,
            "--same-origin" => {}
            "--agree" => drop(authorization.without_login_page()),
            "--lifetime" => drop(authorization.token_lifetime(Duration::from_secs(number(&value()?)?))),
            "--client" => drop(authorization.client(client(&value()?))),
            "--client-document" => {
                let url = value()?;
                drop(authorization.client_document(&url, document(&url)));
            }
            "--no-registration" => drop(authorization.without_registration()),
            "--no-devices" => drop(authorization.without_devices()),
            "--metadata" => match &*value()? {
                "oauth" => drop(authorization.metadata_at(MetadataPlace::OAuth)),
                "openid" => drop(authorization.metadata_at(MetadataPlace::OpenId)),
                "openid-after-path" => drop(authorization.metadata_at(MetadataPlace::OpenIdAfterPath)),
                "none" => drop(authorization.without_metadata()),
                other => return Err(format!("`{other}` is no place of metadata")),
            },
            "--scopes" => {
                let scopes = value()?;
                authorization.scopes_supported(scopes.split_ascii_whitespace());
                server.scopes_supported(scopes.split_ascii_whitespace());
            }
            "--require" => {
                let value = value()?;
                let (operation, scopes) = value.split_once('=').unwrap_or(("", &value));
                server.require(operation, scopes);
            }
            "--dpop" => drop(server.require_dpop()),
            "--nonces" => {
                authorization.renew_dpop_nonce();
                server.renew_dpop_nonce();
            }
            "--deviate" => deviate(&value()?, authorization, server)?,
            _ => return Err(format!("unknown option `{option}`")),
        }
        Ok(())
    }
}

fn tools() -> ScriptedServer {
    ScriptedServer::new()
        .server_info("protected", "1.0.0")
        .tool("echo", |arguments| arguments.member::<String>("message").unwrap_or_default())
        .tool("add", |arguments| {
            let number = |name| arguments.member::<f64>(name).unwrap_or_default();
            (number("a") + number("b")).to_string()
        })
}

fn client(text: &str) -> Client {
    let mut parts = text.splitn(3, ',');
    let mut client = Client::new(parts.next().unwrap_or_default());
    if let Some(secret) = parts.next().filter(|secret| !secret.is_empty()) {
        client = client.secret(secret);
    }
    client.redirect_uri(parts.next().unwrap_or("http://127.0.0.1:33418/callback"))
}

fn document(url: &str) -> Value {
    json!({
        "client_id": url, "client_name": url, "redirect_uris": ["http://127.0.0.1:33418/callback"],
        "grant_types": ["authorization_code", "refresh_token"],
    })
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number in range"))
}
