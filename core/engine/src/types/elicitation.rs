//! Elicitation: a server requests input from the user. Specification: client/elicitation.
//!
//! Elicitation has two modes: a form with the fields of a [`FormSchema`], and a URL that the user visits.

use alloc::string::String;

use serde::{Serialize, Serializer};

use super::FormSchema;
use super::elicitation_check::FormError;
use super::object::object;
use super::open_enum::open_enum;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};
use crate::json::{Json, JsonError};
use crate::url::Url;

/// Parameters of `elicitation/create` (`ElicitRequestParams`).
///
/// Parameters without a `mode` mean a form, as in revisions up to 2025-06-18.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// The user fills in a form.
    Form(ElicitForm),
    /// The user visits a URL (from revision 2025-11-25).
    Url(ElicitUrl),
    /// A mode that this version of the library does not define.
    Other(ElicitOther),
}

object! {
    /// A form that the server asks the user to fill in.
    ///
    /// Specification: client/elicitation, "Form Mode Elicitation Requests".
    pub struct ElicitForm("an object") {
        /// The mode: `form`. An absent mode also means a form.
        optional mode: String = "mode",
        /// Message for the user: what information the server requests, and why.
        required message: String = "message",
        /// The fields of the form.
        required requested_schema: FormSchema = "requestedSchema",
        /// Additional metadata of the parameters (`_meta`).
        optional meta: Json = "_meta",
    }
}

object! {
    /// A URL that the server asks the user to visit.
    ///
    /// The user's data goes directly to the website, not through the client. Show the complete URL and highlight its
    /// host. Never fetch the URL, and open it only with the user's consent ("Safe URL Handling").
    ///
    /// Specification: client/elicitation, "URL Mode Elicitation Requests".
    pub struct ElicitUrl("an object", tag "mode" = "url") {
        /// Message for the user: why the server requests the visit.
        required message: String = "message",
        /// The URL to visit.
        required url: String = "url",
        /// Identifier of this request in `notifications/elicitation/complete` (revision 2025-11-25 only).
        optional elicitation_id: String = "elicitationId",
        /// Additional metadata of the parameters (`_meta`).
        optional meta: Json = "_meta",
    }
}

impl ElicitUrl {
    /// Returns the host of the URL, or `None` if the URL has no host.
    ///
    /// Show the host to the user before the visit. Credentials before an `@` do not count as part of the host, although
    /// a malicious server can make them look like one.
    pub fn host(&self) -> Option<&str> {
        Url::split(&self.url)?.host()
    }
}

/// An elicitation request in a mode that this version of the library does not define.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitOther {
    /// The mode, as in JSON.
    pub mode: String,
    /// Message for the user. Empty if the server sent none.
    pub message: String,
    /// The complete parameters as JSON.
    pub raw: Json,
}

impl ElicitParams {
    /// Returns the mode as in JSON: `form`, `url` or an undefined mode.
    pub fn mode(&self) -> &str {
        match self {
            ElicitParams::Form(_) => FORM,
            ElicitParams::Url(_) => URL,
            ElicitParams::Other(other) => &other.mode,
        }
    }

    /// Returns the message for the user: what the server requests, and why.
    pub fn message(&self) -> &str {
        match self {
            ElicitParams::Form(form) => &form.message,
            ElicitParams::Url(url) => &url.message,
            ElicitParams::Other(other) => &other.message,
        }
    }
}

/// The value of `mode` for a form.
pub(crate) const FORM: &str = "form";
/// The value of `mode` for a URL.
const URL: &str = "url";

/// Returns the `mode` of the parameters, or `form` if it is absent.
pub(crate) fn elicitation_mode(params: &Json) -> String {
    params.member_text("mode").and_then(from_json::from_str).unwrap_or_else(|| FORM.into())
}

impl FromJson for ElicitParams {
    const EXPECTED: &'static str = "an object";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let raw = reader.raw()?;
        let json = Json::trusted(raw);
        if !json.is_object() {
            return from_json::skip_mismatch(&mut Reader::new(raw)).map(Err);
        }
        let mode = elicitation_mode(&json);
        let mut reader = Reader::new(raw);
        Ok(match &*mode {
            FORM => ElicitForm::from_json(&mut reader)?.map(ElicitParams::Form),
            URL => ElicitUrl::from_json(&mut reader)?.map(ElicitParams::Url),
            _ => {
                let message = json.member_text("message").and_then(from_json::from_str).unwrap_or_default();
                Ok(ElicitParams::Other(ElicitOther { mode, message, raw: json }))
            }
        })
    }
}

from_json::impl_deserialize!(ElicitParams);

impl Serialize for ElicitParams {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            ElicitParams::Form(form) => form.serialize(serializer),
            ElicitParams::Url(url) => url.serialize(serializer),
            ElicitParams::Other(other) => other.raw.serialize(serializer),
        }
    }
}

open_enum! {
    /// The user's response to an elicitation request.
    ///
    /// Specification: client/elicitation, "Response Actions".
    pub enum ElicitAction {
        /// The user dismissed the request without a decision.
        #[default]
        Cancel = "cancel",
        /// The user declined the request.
        Decline = "decline",
        /// The user accepted the request and submitted the form, if there is one.
        Accept = "accept",
    }
}

object! {
    /// Result of `elicitation/create`, which the client sends to the server (`ElicitResult`).
    ///
    /// ```
    /// use mcpwire_core::ElicitResult;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Contact { name: &'static str, age: u8 }
    ///
    /// let result = ElicitResult::accept(&Contact { name: "Ada", age: 36 })?;
    /// assert_eq!(result.content.unwrap().get(), r#"{"name":"Ada","age":36}"#);
    /// # Ok::<(), mcpwire_core::JsonError>(())
    /// ```
    pub struct ElicitResult("an object", finish objects_only) {
        /// The user's response.
        required action: ElicitAction = "action",
        /// Values of an accepted form: an object whose members are strings, numbers, booleans or arrays of strings.
        optional content: Json = "content",
        /// Additional metadata of the result (`_meta`; up to revision 2025-11-25).
        optional meta: Json = "_meta",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "`finish` may reject an object, and this one does not")]
fn objects_only(result: ElicitResult) -> Result<ElicitResult, Mismatch> {
    Ok(ElicitResult { content: result.content.filter(Json::is_object), ..result })
}

impl ElicitResult {
    /// Creates the result for a form that the user filled in.
    ///
    /// `content` must serialize as a JSON object. Members that are `null` count as fields left empty.
    ///
    /// # Errors
    /// Returns an error if `content` cannot be serialized.
    pub fn accept(content: &(impl Serialize + ?Sized)) -> Result<Self, JsonError> {
        Ok(ElicitResult { content: Some(Json::from_value(content)?), ..ElicitResult::of(ElicitAction::Accept) })
    }

    /// Creates the result for a request that the user declined.
    pub fn decline() -> Self {
        ElicitResult::of(ElicitAction::Decline)
    }

    /// Creates the result for a request that the user dismissed.
    pub fn cancel() -> Self {
        ElicitResult::of(ElicitAction::Cancel)
    }

    /// Creates a result with this response and without form values.
    ///
    /// With [`ElicitAction::Accept`], the user accepts the defaults of the form.
    pub fn of(action: ElicitAction) -> Self {
        ElicitResult { action, ..ElicitResult::default() }
    }
}

impl From<ElicitAction> for ElicitResult {
    fn from(action: ElicitAction) -> Self {
        ElicitResult::of(action)
    }
}

impl ElicitForm {
    /// Completes and checks a result before it is sent.
    ///
    /// For an accepted form, fills in default values and checks the values against the schema. For any other response,
    /// removes the values.
    ///
    /// # Errors
    /// Returns the invalid fields and what is wrong with each.
    pub fn complete(&self, mut result: ElicitResult) -> Result<ElicitResult, FormError> {
        result.content = match result.action {
            ElicitAction::Accept => Some(self.requested_schema.complete(result.content.as_ref())?),
            _ => None,
        };
        Ok(result)
    }
}

object! {
    /// Parameters of `notifications/elicitation/complete`: the user has finished at a URL.
    ///
    /// Ignore an unknown id. Specification of revision 2025-11-25: client/elicitation, "Completion Notifications for
    /// URL Mode Elicitation".
    pub struct ElicitationComplete("an object") {
        /// Identifier of the elicitation request: its [`ElicitUrl::elicitation_id`].
        required elicitation_id: String = "elicitationId",
        /// Additional metadata of the parameters (`_meta`).
        optional meta: Json = "_meta",
    }
}
