//! The responses of an authorization server: documents with secrets, redirects, and pages for users.

use serde_json::{Value, json};

use crate::http::HttpAnswer;

/// The error code and the description with which an endpoint refuses a request (RFC 6749, section 5.2).
pub(super) type Refused = (&'static str, &'static str);

/// The buttons with which a user allows or denies a login, in HTML.
const BUTTONS: &str = "<p><button id=\"allow\" name=\"decision\" value=\"allow\">Allow</button> \
                       <button id=\"deny\" name=\"decision\" value=\"deny\">Deny</button></p>";

/// Returns a JSON response that must not be cached, because it contains secrets (RFC 6749, section 5.1).
pub(super) fn secret_json(status: u16, document: &Value) -> HttpAnswer {
    HttpAnswer::json(status, document).header("Cache-Control", "no-store")
}

/// Returns an OAuth error response with this status (RFC 6749, section 5.2).
pub(super) fn error(status: u16, (code, description): Refused) -> HttpAnswer {
    secret_json(status, &json!({"error": code, "error_description": description}))
}

/// Returns a redirect that sends the browser to this URL with a `GET` request.
pub(super) fn redirect(url: &str) -> HttpAnswer {
    HttpAnswer::status(303).header("Location", url).header("Cache-Control", "no-store")
}

/// Returns the page that asks a user whether a client may act for the user. `rows` are the names and values that describe the
/// client; rows with an empty value are not shown. The form is posted to the URL of the page.
pub(super) fn consent(rows: &[(&str, &str)]) -> HttpAnswer {
    let rows = rows.iter().filter(|(_, value)| !value.is_empty());
    let rows: Vec<_> = rows.map(|(name, value)| format!("<dt>{name}</dt><dd>{}</dd>", escape(value))).collect();
    let form = form("User name <input name=\"user\" value=\"alice\" required>");
    html(200, "Log in", &format!("<dl>{}</dl>{form}", rows.concat()))
}

/// Returns the page on which a user enters the code that a device shows. `user_code` is already filled in.
pub(super) fn device(user_code: &str) -> HttpAnswer {
    let value = escape(user_code);
    let field = format!("Code <input name=\"user_code\" value=\"{value}\" required autocomplete=\"off\">");
    html(200, "Connect a device", &form(&field))
}

/// Returns a page that shows one sentence to the user.
pub(super) fn message(status: u16, text: &str) -> HttpAnswer {
    html(status, "Authorization server", &format!("<p id=\"message\">{}</p>", escape(text)))
}

fn form(field: &str) -> String {
    format!("<form method=\"post\"><p><label>{field}</label></p>{BUTTONS}</form>")
}

fn html(status: u16, title: &str, content: &str) -> HttpAnswer {
    HttpAnswer::status(status)
        .header("Content-Type", "text/html; charset=utf-8")
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
        .body(format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><h1>{title}</h1>{content}</html>\n"
        ))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
