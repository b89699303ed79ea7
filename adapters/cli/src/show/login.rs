//! Formats the login of a user to a server, without its tokens.

use std::io::{self, Write};

use mcpwire_authorization::LoginStatus;
use mcpwire_authorization::oauth::ClientSource;
use owo_colors::OwoColorize as _;

use super::Layout;
use super::server::fact;
use crate::text;
use crate::time::local_of_unix;

/// Writes the server of a login, the account, the issuer, the client, the scopes, the expiry, and where the login is kept.
///
/// `name` is the name of a configured server.
pub(crate) fn login(
    out: &mut impl Write,
    name: Option<&str>,
    url: &str,
    status: &LoginStatus,
    kept_in: &str,
    layout: Layout,
) -> io::Result<()> {
    match name {
        Some(name) => {
            writeln!(out, "{}", text::name(name).bold())?;
            fact(out, layout, "server", url)?;
        }
        None => writeln!(out, "{}", text::line(url).bold())?,
    }
    if !status.account.is_empty() {
        fact(out, layout, "account", &status.account)?;
    }
    fact(out, layout, "issuer", &status.issuer)?;
    fact(out, layout, "client", &client(status))?;
    let scopes = if status.scopes.is_empty() { "not known".to_owned() } else { status.scopes.to_string() };
    fact(out, layout, "scopes", &scopes)?;
    fact(out, layout, "expires", &expiry(status))?;
    fact(out, layout, "kept in", kept_in)
}

fn client(status: &LoginStatus) -> String {
    let source = match status.client_source {
        Some(ClientSource::Registered) => " (registered by this program)",
        Some(ClientSource::MetadataDocument) => " (its metadata document)",
        Some(ClientSource::PreRegistered) => " (configured)",
        _ => "",
    };
    format!("{}{source}", status.client_id.as_deref().unwrap_or("none"))
}

fn expiry(status: &LoginStatus) -> String {
    let renewal = if status.can_refresh { "; renewed automatically" } else { "; then log in again" };
    match status.expires_at {
        Some(time) => format!("{}{renewal}", local_of_unix(time.as_secs())),
        None => "not known".to_owned(),
    }
}
