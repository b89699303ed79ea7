//! Formats the name, protocol, capabilities and instructions of a server, and the user's login to a server without its tokens.

use std::io::{self, Write};

use mcpwire_authorization::LoginStatus;
use mcpwire_authorization::oauth::ClientSource;
use mcpwire_tokio::protocol::{Implementation, Json, ServerCapabilities, ServerInfo};
use owo_colors::OwoColorize;

use super::Layout;
use crate::schema::Node;
use crate::text;
use crate::time::local_of_unix;

/// Maximum length of the name of a server together with its title and version, in characters. Longer texts are cut.
const LONGEST_NAME: usize = 200;

/// Writes the name of a server, the protocol era (modern or legacy) and revision, the capabilities and the instructions.
pub(crate) fn server(out: &mut impl Write, info: &ServerInfo, layout: Layout) -> io::Result<()> {
    let implementation = info.implementation.as_ref();
    writeln!(out, "{}", full_name(implementation).bold())?;
    if let Some(description) = implementation.and_then(|server| server.description.as_deref()) {
        layout.lines(out, description, 2)?;
    }
    fact(out, layout, "era", &info.era.to_string())?;
    fact(out, layout, "protocol", info.protocol_version.as_str())?;
    fact(out, layout, "capabilities", &capabilities(info.capabilities.as_ref()))?;
    if let Some(website) = implementation.and_then(|server| server.website_url.as_deref()) {
        fact(out, layout, "website", website)?;
    }
    if let Some(instructions) = info.instructions.as_deref().filter(|text| !text.trim().is_empty()) {
        writeln!(out, "  {}", "instructions".dimmed())?;
        layout.lines(out, instructions, 4)?;
    }
    Ok(())
}

/// Width of the column with names of facts about a server, such as `capabilities`.
const NAMES: usize = "capabilities".len() + 2;

/// Writes a line with a name and a value. The value is wrapped and indented.
fn fact(out: &mut impl Write, layout: Layout, name: &str, value: &str) -> io::Result<()> {
    let column = 2 + NAMES;
    writeln!(out, "  {:NAMES$}{}", name.dimmed(), text::wrap(value, layout.width, column, column))
}

/// Returns the title, name and version of a server as one line of text. If the server has not sent a name, the text says so.
pub(crate) fn full_name(implementation: Option<&Implementation>) -> String {
    let Some(server) = implementation else {
        return "a server that does not say its name".to_owned();
    };
    let name = match server.title.as_deref() {
        Some(title) if title != server.name => format!("{title} ({} {})", server.name, server.version),
        _ => format!("{} {}", server.name, server.version),
    };
    text::short(&name, LONGEST_NAME)
}

/// Returns the capabilities of a server as text. Options of a capability that are not `false` follow in parentheses: `tools
/// (listChanged)`.
fn capabilities(capabilities: Option<&ServerCapabilities>) -> String {
    let json = Json::from_value(&capabilities);
    let node = json.and_then(|json| json.decode::<Node>()).unwrap_or(Node::Null);
    let members = node.as_object().unwrap_or_default();
    let mut shown: Vec<String> = members
        .iter()
        .map(|(name, value)| {
            let details = value.as_object().unwrap_or_default().iter();
            let on: Vec<&str> =
                details.filter(|(_, value)| *value != Node::Bool(false)).map(|(name, _)| name.as_str()).collect();
            if on.is_empty() { name.clone() } else { format!("{name} ({})", on.join(", ")) }
        })
        .collect();
    if shown.is_empty() {
        shown.push("none".to_owned());
    }
    shown.join(", ")
}

/// Writes the server of a login, the account, the issuer, the client, the scopes, the expiry, and where the login is kept.
///
/// `name` is the name of a configured server, or `None` for a server of `--url`.
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
