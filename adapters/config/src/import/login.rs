//! Reads the OAuth section of a server: `oauth`, or `auth` in files of Cursor.
//!
//! | program | member | members that are imported |
//! |---|---|---|
//! | Claude Code | `oauth` | `clientId`, `callbackPort`, `scopes` (one text) |
//! | VS Code | `oauth` | `clientId` |
//! | Gemini CLI | `oauth` | `enabled`, `clientId`, `clientSecret`, `scopes`, `redirectUri` |
//! | Cursor | `auth` | `CLIENT_ID`, `CLIENT_SECRET`, `scopes` |
//! | Zed | `oauth` | `client_id`, `client_secret` |
//! | Codex | `oauth`, `scopes` | `client_id`, `callback_url`, `callback_port` |
//! | others | `oauth` | all of these, and `false` |

use serde_json::Value;

use super::Dialect;
use super::builder::Builder;
use super::members::{text_at, texts, wrong};
use crate::HubError;
use crate::config::Redirect;

/// Imports the OAuth section in the member `section` of a server over HTTP.
pub(super) fn read(builder: &mut Builder<'_>, section: &str, value: &Value) -> Result<(), HubError> {
    let members = match value {
        Value::Object(members) => members,
        Value::Bool(enabled) => {
            builder.config.oauth.enabled = *enabled;
            return Ok(());
        }
        _ => return wrong(section, "this must be an object, or `false`"),
    };
    let mut client_secret = None;
    for (name, value) in members.iter().filter(|(_, value)| !value.is_null() && *value != "") {
        let field = format!("{section}.{name}");
        match folded(name).as_str() {
            "clientid" => builder.config.oauth.client_id = Some(builder.text(&field, text_at(&field, value)?)?),
            "clientsecret" => client_secret = Some((text_at(&field, value)?, field)),
            "scope" | "scopes" => builder.config.oauth.scopes = scopes(&field, value)?,
            "issuer" => builder.config.oauth.issuer = Some(text_at(&field, value)?.to_owned()),
            "callbackport" => port(builder, &field, value)?,
            "redirecturi" | "callbackurl" => redirect_uri(builder, &field, text_at(&field, value)?),
            "enabled" => builder.config.oauth.enabled = value != &Value::Bool(false),
            "authservermetadataurl" | "authorizationurl" | "tokenurl" | "registrationurl" => {
                let message = "the authorization server is found from the metadata of the server. This URL was omitted";
                builder.warn(field, message);
            }
            _ => builder.warn_unsupported(&field),
        }
    }
    match client_secret {
        Some((text, field)) if builder.config.oauth.client_id.is_some() => {
            builder.config.oauth.client_secret = Some(builder.secret(&field, "client_secret", text)?);
        }
        Some(_) => {
            let message = "a client secret without the identifier of its client has no effect, and was omitted";
            builder.warn(section, message);
        }
        None => {}
    }
    Ok(())
}

/// Reads a list of scopes, or a text with spaces between the scopes.
pub(super) fn scopes(field: &str, value: &Value) -> Result<Vec<String>, HubError> {
    match value {
        Value::String(text) => Ok(text.split_ascii_whitespace().map(str::to_owned).collect()),
        _ => texts(value).ok_or_else(|| HubError::validation(field, "this must be a list of scopes")),
    }
}

fn port(builder: &mut Builder<'_>, field: &str, value: &Value) -> Result<(), HubError> {
    let port = value.as_u64().and_then(|port| u16::try_from(port).ok()).filter(|port| *port != 0);
    let Some(port) = port else { return wrong(field, "this must be the number of a port") };
    let host = if builder.dialect == Dialect::CodexToml { "127.0.0.1" } else { "localhost" };
    // A redirect URI that is already set stays, because it contains more than the port.
    builder.config.oauth.redirect_uri.get_or_insert_with(|| format!("http://{host}:{port}/callback"));
    Ok(())
}

fn redirect_uri(builder: &mut Builder<'_>, field: &str, uri: &str) {
    if Redirect::parse(uri).is_some() {
        builder.config.oauth.redirect_uri = Some(uri.to_owned());
    } else {
        builder.warn(field, "logins end at an address of this machine. This address is another one, and was omitted");
    }
}

/// Returns a member name in lower case and without underscores, so that `clientId`, `client_id` and `CLIENT_ID` are equal.
fn folded(name: &str) -> String {
    name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}
