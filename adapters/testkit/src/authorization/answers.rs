//! Responses of an authorization server.

use serde_json::{Value, json};

use crate::http::HttpAnswer;

/// Returns a document that must not be cached, because it contains secrets (RFC 6749, section 5.1).
pub(super) fn secret_json(status: u16, document: &Value) -> HttpAnswer {
    HttpAnswer::json(status, document).header("Cache-Control", "no-store")
}

/// Returns an error response (RFC 6749, section 5.2).
pub(super) fn error(status: u16, code: &str, description: &str) -> HttpAnswer {
    secret_json(status, &json!({"error": code, "error_description": description}))
}

/// Returns a redirect to this URL.
pub(super) fn redirect(url: &str) -> HttpAnswer {
    HttpAnswer::status(303).header("Location", url).header("Cache-Control", "no-store")
}

/// Returns a page.
pub(super) fn page(status: u16, html: String) -> HttpAnswer {
    HttpAnswer::status(status)
        .header("Content-Type", "text/html; charset=utf-8")
        .header("Cache-Control", "no-store")
        .header("Referrer-Policy", "no-referrer")
        .body(html)
}
