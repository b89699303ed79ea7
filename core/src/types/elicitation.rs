//! Elicitation: what servers ask of the person who uses the client (2026-07-28, client/elicitation).
//!
//! There are two modes: a form, whose fields are described by a [`FormSchema`], and an address that the person is to visit.

use alloc::string::String;

use serde::{Serialize, Serializer};

use super::FormSchema;
use super::elicitation_check::FormError;
use super::object::object;
use super::words::words;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};
use crate::json::{Json, JsonError};

/// Parameters of `elicitation/create`, by mode. A request without a mode is a form, as up to 2025-06-18.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitParams {
    /// Fields to be filled in.
    Form(ElicitForm),
    /// An address to visit (from 2025-11-25).
    Url(ElicitUrl),
    /// A mode that this version of the library does not know.
    Other(ElicitOther),
}

object! {
    /// A form for a person to fill in (2026-07-28, client/elicitation, "Form Mode Elicitation Requests").
    pub struct ElicitForm("an object") {
        /// `form`, or absent, which means the same.
        optional mode: String = "mode",
        /// What is asked for and why, for the person.
        required message: String = "message",
        /// The fields.
        required requested_schema: FormSchema = "requestedSchema",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// An address for a person to visit (2026-07-28, client/elicitation, "URL Mode Elicitation Requests").
    ///
    /// What happens there does not pass through this client. The whole address is to be shown, with its host made plain,
    /// and must neither be opened without consent nor fetched at all ("Safe URL Handling").
    pub struct ElicitUrl("an object", tag "mode" = "url") {
        /// Why, for the person.
        required message: String = "message",
        /// The address.
        required url: String = "url",
        /// What `notifications/elicitation/complete` calls it (2025-11-25 only).
        optional elicitation_id: String = "elicitationId",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

impl ElicitUrl {
    /// The host of the address, as it stands there: what decides whom the person will talk to. `None` for an address
    /// without one.
    pub fn host(&self) -> Option<&str> {
        let (_, rest) = self.url.split_once("://")?;
        let authority = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        // What stands before the @ is a name and a password, and often meant to be taken for the host.
        let host = authority.rsplit('@').next().unwrap_or_default();
        let end = match host.strip_prefix('[') {
            Some(inside) => inside.find(']').map_or(host.len(), |at| at + 2),
            None => host.find(':').unwrap_or(host.len()),
        };
        Some(&host[..end]).filter(|host| !host.is_empty())
    }
}

/// A question in a mode that this version of the library does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitOther {
    /// The mode.
    pub mode: String,
    /// What is asked for and why; empty where the server does not say.
    pub message: String,
    /// All of it, as it came.
    pub raw: Json,
}

impl ElicitParams {
    /// As it stands on the wire.
    pub fn mode(&self) -> &str {
        match self {
            ElicitParams::Form(_) => FORM,
            ElicitParams::Url(_) => URL,
            ElicitParams::Other(other) => &other.mode,
        }
    }

    /// What is asked for and why, for the person.
    pub fn message(&self) -> &str {
        match self {
            ElicitParams::Form(form) => &form.message,
            ElicitParams::Url(url) => &url.message,
            ElicitParams::Other(other) => &other.message,
        }
    }
}

pub(crate) const FORM: &str = "form";
pub(crate) const URL: &str = "url";

/// The mode that the text of some parameters names.
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

words! {
    /// What the person did (2026-07-28, client/elicitation, "Response Actions").
    pub enum ElicitAction {
        /// Dismissed the question without a choice.
        Cancel = "cancel",
        /// Said no.
        Decline = "decline",
        /// Said yes, and filled in what was asked for.
        Accept = "accept",
    }
}

object! {
    /// The answer to `elicitation/create` (`ElicitResult`).
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
    pub struct ElicitResult("an object", finish without_null) {
        /// What the person did.
        required action: ElicitAction = "action",
        /// What was filled in: an object whose members are strings, numbers, booleans, or arrays of strings. Only for a
        /// form that was accepted.
        optional content: Json = "content",
        /// Metadata (up to 2025-11-25).
        optional meta: Json = "_meta",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it has the last word on an object, and says yes")]
fn without_null(result: ElicitResult) -> Result<ElicitResult, Mismatch> {
    Ok(ElicitResult { content: result.content.filter(Json::is_object), ..result })
}

impl ElicitResult {
    /// The person filled in the form: anything that serialises as an object. Members that are `null` count as left empty.
    ///
    /// # Errors
    /// If it does not serialise.
    pub fn accept(content: &(impl Serialize + ?Sized)) -> Result<Self, JsonError> {
        Ok(ElicitResult { content: Some(Json::from_value(content)?), ..ElicitResult::of(ElicitAction::Accept) })
    }

    /// The person said no.
    pub fn decline() -> Self {
        ElicitResult::of(ElicitAction::Decline)
    }

    /// The person dismissed the question.
    pub fn cancel() -> Self {
        ElicitResult::of(ElicitAction::Cancel)
    }

    /// The person did this, and filled in nothing. Accepting a form so takes the defaults.
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
    /// The answer as it may be sent: what was accepted has its defaults filled in and fits the schema; what was not
    /// accepted has no content.
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
    /// What the person was sent away for is done: what `notifications/elicitation/complete` carries (2025-11-25,
    /// client/elicitation, "Completion Notifications for URL Mode Elicitation"). Ids that are not known are to be ignored.
    pub struct ElicitationComplete("an object") {
        /// Which question: its [`ElicitUrl::elicitation_id`].
        required elicitation_id: String = "elicitationId",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}
