//! Elicitation: a server asks the user for input (2026-07-28, client/elicitation).
//!
//! There are two modes: a form, whose fields a [`FormSchema`] describes, and a URL for the user to visit.

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

/// Parameters of `elicitation/create`, by mode. A request without a mode is a form, as up to 2025-06-18.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// A form to fill in.
    Form(ElicitForm),
    /// A URL to visit (from 2025-11-25).
    Url(ElicitUrl),
    /// A mode that this version of the library does not know.
    Other(ElicitOther),
}

object! {
    /// A form for the user to fill in (2026-07-28, client/elicitation, "Form Mode Elicitation Requests").
    pub struct ElicitForm("an object") {
        /// The mode: `form`, or absent, which means the same.
        optional mode: String = "mode",
        /// What the server asks for and why, in words for the user.
        required message: String = "message",
        /// The fields.
        required requested_schema: FormSchema = "requestedSchema",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// A URL for the user to visit (2026-07-28, client/elicitation, "URL Mode Elicitation Requests").
    ///
    /// What happens at the URL does not pass through this client. Show the whole URL, with its host made plain. Do not open it
    /// without the user's consent, and never fetch it ("Safe URL Handling").
    pub struct ElicitUrl("an object", tag "mode" = "url") {
        /// Why the server asks, in words for the user.
        required message: String = "message",
        /// The URL.
        required url: String = "url",
        /// The id by which `notifications/elicitation/complete` names this request (2025-11-25 only).
        optional elicitation_id: String = "elicitationId",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

impl ElicitUrl {
    /// Returns the host of the URL, which decides whom the user will talk to. Returns `None` for a URL without one.
    ///
    /// A user name and password before an `@` are not part of it, although servers may make them look like a host.
    pub fn host(&self) -> Option<&str> {
        Url::split(&self.url)?.host()
    }
}

/// A request in a mode that this version of the library does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitOther {
    /// The mode.
    pub mode: String,
    /// What the server asks for and why; empty if it does not say.
    pub message: String,
    /// The parameters as JSON.
    pub raw: Json,
}

impl ElicitParams {
    /// Returns the mode as the protocol writes it.
    pub fn mode(&self) -> &str {
        match self {
            ElicitParams::Form(_) => FORM,
            ElicitParams::Url(_) => URL,
            ElicitParams::Other(other) => &other.mode,
        }
    }

    /// Returns what the server asks for and why, in words for the user.
    pub fn message(&self) -> &str {
        match self {
            ElicitParams::Form(form) => &form.message,
            ElicitParams::Url(url) => &url.message,
            ElicitParams::Other(other) => &other.message,
        }
    }
}

/// The mode of a form.
pub(crate) const FORM: &str = "form";
/// The mode of a URL to visit.
const URL: &str = "url";

/// Returns the mode that parameters name.
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
    /// What the user did (2026-07-28, client/elicitation, "Response Actions").
    pub enum ElicitAction {
        /// The user dismissed the request without a choice.
        #[default]
        Cancel = "cancel",
        /// The user refused.
        Decline = "decline",
        /// The user agreed, and filled in the form if there is one.
        Accept = "accept",
    }
}

object! {
    /// The client's answer to `elicitation/create` (`ElicitResult`).
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
        /// What the user did.
        required action: ElicitAction = "action",
        /// The fields of a form that was accepted: an object whose members are strings, numbers, booleans, or arrays of strings.
        optional content: Json = "content",
        /// Metadata (up to 2025-11-25).
        optional meta: Json = "_meta",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "`finish` may reject an object, and this one does not")]
fn objects_only(result: ElicitResult) -> Result<ElicitResult, Mismatch> {
    Ok(ElicitResult { content: result.content.filter(Json::is_object), ..result })
}

impl ElicitResult {
    /// The user filled in the form. `content` must serialise as an object; members that are `null` count as left empty.
    ///
    /// # Errors
    /// If it does not serialise.
    pub fn accept(content: &(impl Serialize + ?Sized)) -> Result<Self, JsonError> {
        Ok(ElicitResult { content: Some(Json::from_value(content)?), ..ElicitResult::of(ElicitAction::Accept) })
    }

    /// The user refused.
    pub fn decline() -> Self {
        ElicitResult::of(ElicitAction::Decline)
    }

    /// The user dismissed the request.
    pub fn cancel() -> Self {
        ElicitResult::of(ElicitAction::Cancel)
    }

    /// The user did this and filled in nothing. To accept a form so is to take its defaults.
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
    /// Prepares an answer to be sent: fills in the defaults of an accepted form and checks it against the schema, and removes the
    /// content of any other answer.
    ///
    /// # Errors
    /// What is wrong with the answer, field by field.
    pub fn complete(&self, mut result: ElicitResult) -> Result<ElicitResult, FormError> {
        result.content = match result.action {
            ElicitAction::Accept => Some(self.requested_schema.complete(result.content.as_ref())?),
            _ => None,
        };
        Ok(result)
    }
}

object! {
    /// Parameters of `notifications/elicitation/complete`: the user is done at a URL (2025-11-25, client/elicitation, "Completion
    /// Notifications for URL Mode Elicitation"). Ignore an id that is not known.
    pub struct ElicitationComplete("an object") {
        /// The id of the request: its [`ElicitUrl::elicitation_id`].
        required elicitation_id: String = "elicitationId",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}
