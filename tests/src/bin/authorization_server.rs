//! An MCP server that wants a login, and its authorization server, over real HTTP on this machine. For tests and trials by hand.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::time::Duration;
use std::{env, thread};

use mcpwire_testkit::ScriptedServer;
use mcpwire_testkit::authorization::{
    AuthorizationServer, Client, Deviation, Endpoint, MetadataPlace, ProtectedServer, ResourceDeviation,
};
use serde_json::{Value, json};

fn main() -> ExitCode {
    let arguments = match Arguments::parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (authorization, server) = (&arguments.authorization, &arguments.server);
    let own_origin = if arguments.is_same_origin { None } else { Some(authorization.serve(arguments.port)?) };
    let _serving = (own_origin, server.serve(arguments.server_port)?);
    println!("server {}", server.url());
    println!("authorization {}", authorization.issuer());
    println!("device {}", authorization.endpoint(Endpoint::DevicePage));
    io::stdout().flush()?;
    for line in io::stdin().lock().lines() {
        println!("{}", obey(&line?, authorization, server));
        io::stdout().flush()?;
    }
    // Without a terminal or a pipe that commands come from, the servers go on.
    loop {
        thread::park();
    }
}

/// Does what a line of standard input says. Returns what to print.
fn obey(line: &str, authorization: &AuthorizationServer, server: &ProtectedServer) -> String {
    let (command, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    match command {
        "revoke-access-tokens" => authorization.revoke_access_tokens(),
        "revoke-logins" => authorization.revoke_logins(),
        "forget-clients" => authorization.forget_clients(),
        "renew-nonces" => {
            authorization.renew_dpop_nonce();
            server.renew_dpop_nonce();
        }
        "conform" => {
            authorization.conform();
            server.conform();
        }
        "deviate" => match deviate(argument, authorization, server) {
            Ok(()) => {}
            Err(error) => return format!("error: {error}"),
        },
        "requests" => {
            let count = |endpoint| authorization.requests_to(endpoint).len();
            return format!(
                "registrations {} logins {} tokens {} revocations {} reused {} server {}",
                count(Endpoint::Registration),
                count(Endpoint::Authorization),
                count(Endpoint::Token),
                count(Endpoint::Revocation),
                authorization.reused_refresh_tokens(),
                server.requests().len()
            );
        }
        _ => return format!("error: unknown command `{command}`"),
    }
    "ok".into()
}

// The command line.

const USAGE: &str = "\
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
struct Arguments {
    authorization: AuthorizationServer,
    server: ProtectedServer,
    port: u16,
    server_port: u16,
    is_same_origin: bool,
}

impl Arguments {
    fn parse(arguments: impl Iterator<Item = String>) -> Result<Self, String> {
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

// The names of deviations.

const HELP: &str = "\
Authorization server: omit-code-challenge-methods, issuer-in-metadata=ISSUER, advertise-confidential-methods-only,
  ENDPOINT-url=URL (authorization, token, registration, revocation, device), metadata=MEMBER=JSON, no-iss, omit-promised-iss,
  unpromised-iss, iss=ISSUER, state=STATE, refuse-logins=ERROR, any-loopback-port, refuse-redirect-uris, refuse-other-grants,
  register-with-secret, secret-lifetime=SECONDS, refuse-resource, refuse-resource-on-refresh, refuse-scope-on-refresh,
  accept-missing-resource, errors-with-status-200, no-refresh-tokens, keep-refresh-tokens, accept-last-refresh-token,
  omit-expires-in, token-type=TYPE, ignore-proofs, grant-scopes=SCOPES, omit-scope
MCP server: omit-challenge, omit-metadata-url, challenge=VALUE, challenge-before=VALUE, metadata-at-root, no-metadata,
  resource-metadata=MEMBER=JSON, missing-scopes-as-401, omit-missing-scopes, refuse-all-tokens, want-more-scopes";

/// Lets a server deviate as `NAME` or `NAME=VALUE` says.
fn deviate(text: &str, authorization: &AuthorizationServer, server: &ProtectedServer) -> Result<(), String> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    if let Some(deviation) = of_authorization_server(name, value)? {
        authorization.deviate(deviation);
    } else if let Some(deviation) = of_server(name, value)? {
        server.deviate(deviation);
    } else {
        return Err(HELP.into());
    }
    Ok(())
}

fn of_authorization_server(name: &str, value: &str) -> Result<Option<Deviation>, String> {
    let text = || value.to_owned();
    Ok(Some(match name {
        "omit-code-challenge-methods" => Deviation::OmitCodeChallengeMethods,
        "issuer-in-metadata" => Deviation::IssuerInMetadata(text()),
        "advertise-confidential-methods-only" => Deviation::AdvertiseConfidentialMethodsOnly,
        "authorization-url" => Deviation::EndpointUrl(Endpoint::Authorization, text()),
        "token-url" => Deviation::EndpointUrl(Endpoint::Token, text()),
        "registration-url" => Deviation::EndpointUrl(Endpoint::Registration, text()),
        "revocation-url" => Deviation::EndpointUrl(Endpoint::Revocation, text()),
        "device-url" => Deviation::EndpointUrl(Endpoint::DeviceAuthorization, text()),
        "metadata" => {
            let (member, value) = member(value)?;
            Deviation::MetadataMember(member, value)
        }
        "no-iss" => Deviation::NoIss,
        "omit-promised-iss" => Deviation::OmitPromisedIss,
        "unpromised-iss" => Deviation::UnpromisedIss,
        "iss" => Deviation::Iss(text()),
        "state" => Deviation::State(text()),
        "refuse-logins" => Deviation::RefuseLogins(text()),
        "any-loopback-port" => Deviation::AnyLoopbackPort,
        "refuse-redirect-uris" => Deviation::RefuseRedirectUris,
        "refuse-other-grants" => Deviation::RefuseOtherGrants,
        "register-with-secret" => Deviation::RegisterWithSecret,
        "secret-lifetime" => {
            let seconds = value.parse().map_err(|_| format!("`{value}` is not a number of seconds"))?;
            Deviation::SecretLifetime(Duration::from_secs(seconds))
        }
        "refuse-resource" => Deviation::RefuseResource,
        "refuse-resource-on-refresh" => Deviation::RefuseResourceOnRefresh,
        "refuse-scope-on-refresh" => Deviation::RefuseScopeOnRefresh,
        "accept-missing-resource" => Deviation::AcceptMissingResource,
        "errors-with-status-200" => Deviation::ErrorsWithStatus200,
        "no-refresh-tokens" => Deviation::NoRefreshTokens,
        "keep-refresh-tokens" => Deviation::KeepRefreshTokens,
        "accept-last-refresh-token" => Deviation::AcceptLastRefreshToken,
        "omit-expires-in" => Deviation::OmitExpiresIn,
        "token-type" => Deviation::TokenType(text()),
        "ignore-proofs" => Deviation::IgnoreProofs,
        "grant-scopes" => Deviation::GrantScopes(text()),
        "omit-scope" => Deviation::OmitScope,
        _ => return Ok(None),
    }))
}

fn of_server(name: &str, value: &str) -> Result<Option<ResourceDeviation>, String> {
    Ok(Some(match name {
        "omit-challenge" => ResourceDeviation::OmitChallenge,
        "omit-metadata-url" => ResourceDeviation::OmitMetadataUrl,
        "challenge" => ResourceDeviation::Challenge(value.to_owned()),
        "challenge-before" => ResourceDeviation::ChallengeBefore(value.to_owned()),
        "metadata-at-root" => ResourceDeviation::MetadataAtRoot,
        "no-metadata" => ResourceDeviation::NoMetadata,
        "resource-metadata" => {
            let (member, value) = member(value)?;
            ResourceDeviation::MetadataMember(member, value)
        }
        "missing-scopes-as-401" => ResourceDeviation::MissingScopesAs401,
        "omit-missing-scopes" => ResourceDeviation::OmitMissingScopes,
        "refuse-all-tokens" => ResourceDeviation::RefuseAllTokens,
        "want-more-scopes" => ResourceDeviation::WantMoreScopes,
        _ => return Ok(None),
    }))
}

/// Reads `MEMBER=JSON`.
fn member(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("give MEMBER=JSON")?;
    let value = serde_json::from_str(value).map_err(|error| format!("`{value}` is not JSON: {error}"))?;
    Ok((name.to_owned(), value))
}
