//! The pages that users see: the login, and the code of a device.

use crate::http::HttpAnswer;

use super::answers::page;

/// A question to the user.
pub(super) struct Question<'q> {
    pub(super) client: &'q str,
    pub(super) resource: &'q str,
    pub(super) scopes: &'q str,
    /// Where the browser goes with the answer.
    pub(super) leads_to: &'q str,
}

/// Returns the page that asks whether a client may act for the user. The form is posted to the URL of the page.
pub(super) fn consent(question: &Question<'_>) -> HttpAnswer {
    let row = |name: &str, value: &str| {
        if value.is_empty() { String::new() } else { format!("<dt>{name}</dt><dd>{}</dd>", escape(value)) }
    };
    let rows = [
        row("Program", question.client),
        row("Server", question.resource),
        row("Scopes", question.scopes),
        row("Leads to", question.leads_to),
    ];
    html(
        200,
        "Log in",
        &format!(
            "<dl>{}</dl><form method=\"post\"><p><label>User name <input name=\"user\" value=\"alice\" required></label></p>\
             <p><button id=\"allow\" name=\"decision\" value=\"allow\">Allow</button> \
             <button id=\"deny\" name=\"decision\" value=\"deny\">Deny</button></p></form>",
            rows.concat()
        ),
    )
}

/// Returns the page on which a user enters the code of a device.
pub(super) fn device(user_code: &str) -> HttpAnswer {
    html(
        200,
        "Connect a device",
        &format!(
            "<form method=\"post\"><p><label>Code <input name=\"user_code\" value=\"{}\" required autocomplete=\"off\"></label></p>\
             <p><button id=\"allow\" name=\"decision\" value=\"allow\">Allow</button> \
             <button id=\"deny\" name=\"decision\" value=\"deny\">Deny</button></p></form>",
            escape(user_code)
        ),
    )
}

/// Returns a page with one sentence.
pub(super) fn message(status: u16, text: &str) -> HttpAnswer {
    html(status, "Authorization server", &format!("<p id=\"message\">{}</p>", escape(text)))
}

fn html(status: u16, title: &str, content: &str) -> HttpAnswer {
    page(
        status,
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title><h1>{title}</h1>{content}</html>\n"
        ),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
