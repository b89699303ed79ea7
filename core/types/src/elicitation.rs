//! Elicitation: a server requests input from the user. Specification: client/elicitation.
//!
//! Elicitation has two modes: a form with the fields of a [`FormSchema`], and a URL that the user visits.

use alloc::string::String;

use serde::{Serialize, Serializer};

use crate::FormSchema;
use crate::arguments;
use crate::elicitation_check::FormError;
use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::{Json, JsonError, JsonText};
use mcpwire_text::object;
use mcpwire_text::open_enum;
use mcpwire_text::url::Url;

/// Parameters of `elicitation/create`, by which a server requests input from the user.
///
/// Parameters without the member `mode` become [`ElicitParams::Form`], because protocol revision 2025-06-18 has only
/// forms and does not define `mode`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[doc(alias("elicitation/create", "ElicitRequest", "ElicitRequestParams"))]
pub enum ElicitParams {
    /// The server requests that the user fill in a form.
    Form(ElicitForm),
    /// The server requests that the user visit a URL (from revision 2025-11-25).
    Url(ElicitUrl),
    /// The server requests input in a mode that this version of the library does not define.
    #[serde(serialize_with = "raw_params")]
    Other(ElicitOther),
}

object! {
    /// A form that the server asks the user to fill in.
    ///
    /// Specification: client/elicitation, "Form Mode Elicitation Requests".
    #[doc(alias("elicitation/create", "ElicitRequestFormParams"))]
    pub struct ElicitForm("an object") {
        /// Mode of the `elicitation/create` request: `form`, or `None` if the server sent no mode, which also means a
        /// form.
        optional mode: String = "mode",
        /// Message that tells the user what information the server requests, and why.
        required message: String = "message",
        /// Schema of the form: its fields, and which of them the user must fill in.
        required requested_schema: FormSchema = "requestedSchema",
        /// Metadata that the server attached to this `elicitation/create` request (`_meta`). `None` if the server sent
        /// none.
        optional meta: Json = "_meta",
    }
}

object! {
    /// A URL that the server asks the user to visit.
    ///
    /// The user's data goes directly to the website, not through the client. Show the complete URL and highlight its
    /// host. Never fetch the URL, and open it only with the user's consent. The specification states these rules under
    /// "Safe URL Handling".
    ///
    /// Specification: client/elicitation, "URL Mode Elicitation Requests".
    #[doc(alias("elicitation/create", "ElicitRequestURLParams"))]
    pub struct ElicitUrl("an object", tag "mode" = "url") {
        /// Message that tells the user why the server asks for a visit to the URL.
        required message: String = "message",
        /// The URL that the server asks the user to visit.
        required url: String = "url",
        /// Identifier by which the server later reports that the user has finished at the URL, see
        /// [`ElicitationComplete`]. `None` if the server sent none.
        ///
        /// Only protocol revision 2025-11-25 defines this member.
        optional elicitation_id: String = "elicitationId",
        /// Metadata that the server attached to this `elicitation/create` request (`_meta`). `None` if the server sent
        /// none.
        optional meta: Json = "_meta",
    }
}

impl ElicitUrl {
    /// Returns the host of the URL, or `None` if the URL has no host.
    ///
    /// Show the host to the user before you open the URL. The host does not include a user name or password before `@`,
    /// which may imitate a trusted host.
    pub fn host(&self) -> Option<&str> {
        Url::split(&self.url)?.host()
    }
}

/// Parameters of an `elicitation/create` request in a mode that this version of the library does not define.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ElicitOther {
    /// The member `mode` of the `elicitation/create` parameters, which is neither `form` nor `url`.
    pub mode: String,
    /// Message for the user that explains what the server requests. Empty if the server sent none.
    pub message: String,
    /// The complete parameters of the `elicitation/create` request, as the JSON that the server sent.
    pub raw: Json,
}

impl ElicitParams {
    /// Returns the mode of the `elicitation/create` request: `form`, `url`, or any other mode that the server sent.
    pub fn mode(&self) -> &str {
        match self {
            ElicitParams::Form(_) => FORM,
            ElicitParams::Url(_) => URL,
            ElicitParams::Other(other) => &other.mode,
        }
    }

    /// Returns the message that tells the user what the server requests, and why. Empty if the server sent none.
    pub fn message(&self) -> &str {
        match self {
            ElicitParams::Form(form) => &form.message,
            ElicitParams::Url(url) => &url.message,
            ElicitParams::Other(other) => &other.message,
        }
    }
}

// Values of the member `mode` in the parameters of `elicitation/create`.
pub(crate) const FORM: &str = "form";
const URL: &str = "url";

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

mcpwire_text::impl_deserialize!(ElicitParams);

fn raw_params<S: Serializer>(other: &ElicitOther, serializer: S) -> Result<S::Ok, S::Error> {
    other.raw.serialize(serializer)
}

open_enum! {
    /// How the user responded to an `elicitation/create` request: the member `action` of the client's result.
    ///
    /// Specification: client/elicitation, "Response Actions".
    pub enum ElicitAction {
        /// The user dismissed the server's request without a decision, for example by closing the dialog.
        #[default]
        Cancel = "cancel",
        /// The user declined the server's request.
        Decline = "decline",
        /// The user submitted the form, or agreed to visit the URL.
        Accept = "accept",
    }
}

object! {
    /// The client's response to `elicitation/create`: the user's decision, and the values of an accepted form
    /// (`ElicitResult`).
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::ElicitResult; } }
    /// use mcpwire::types::ElicitResult;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Contact { name: &'static str, age: u8 }
    ///
    /// let result = ElicitResult::accept(&Contact { name: "Ada", age: 36 })?;
    /// assert_eq!(result.content.unwrap().get(), r#"{"name":"Ada","age":36}"#);
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    #[doc(alias = "elicitation/create")]
    pub struct ElicitResult("an object", finish objects_only) {
        /// The user's decision about the server's request: accept, decline or cancel.
        required action: ElicitAction = "action",
        /// Values that the user entered in an accepted form: a JSON object that maps field names to strings, numbers,
        /// booleans or arrays of strings.
        ///
        /// `None` if there are no values, for example because the user declined, or because the server requested a
        /// visit to a URL.
        optional content: Json = "content",
        /// Metadata that the client attaches to its `elicitation/create` result (`_meta`; up to protocol revision
        /// 2025-11-25). `None` if there is none.
        optional meta: Json = "_meta",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "`finish` may reject an object, and this one does not")]
fn objects_only(result: ElicitResult) -> Result<ElicitResult, Mismatch> {
    Ok(ElicitResult { content: result.content.filter(Json::is_object), ..result })
}

impl ElicitResult {
    /// Creates the `elicitation/create` result for a form that the user filled in.
    ///
    /// `content` must serialize as a JSON object that maps field names to values, or as pairs of a name and a value,
    /// such as `[("name", "Ada")]`. Pass the result to [`ElicitForm::complete`], which validates the values and removes
    /// members that are `null`.
    ///
    /// # Errors
    /// Returns an error if `content` cannot be serialized.
    pub fn accept(content: &(impl Serialize + ?Sized)) -> Result<Self, JsonError> {
        Ok(ElicitResult { content: Some(arguments::to_json(content)?), ..ElicitResult::of(ElicitAction::Accept) })
    }

    /// Creates the `elicitation/create` result for a user who declined the server's request.
    pub fn decline() -> Self {
        ElicitResult::of(ElicitAction::Decline)
    }

    /// Creates the `elicitation/create` result for a user who dismissed the server's request without a decision.
    pub fn cancel() -> Self {
        ElicitResult::of(ElicitAction::Cancel)
    }

    /// Creates an `elicitation/create` result with the user's decision `action` and without form values.
    ///
    /// To accept a form with its default values, pass the result to [`ElicitForm::complete`], which adds them.
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
    /// Prepares the user's response to this form for sending to the server.
    ///
    /// If the user accepted the form, adds the default values of empty fields and validates all values against the
    /// form's schema. Otherwise, removes all values.
    ///
    /// # Errors
    /// Returns the invalid fields, each with the reason why it is invalid.
    pub fn complete(&self, mut result: ElicitResult) -> Result<ElicitResult, FormError> {
        result.content = match result.action {
            ElicitAction::Accept => Some(self.requested_schema.complete(result.content.as_ref())?),
            _ => None,
        };
        Ok(result)
    }
}

object! {
    /// Parameters of `notifications/elicitation/complete`, by which a server reports that the user has finished at the
    /// URL of an earlier [`ElicitUrl`].
    ///
    /// Ignore the notification if its identifier is unknown. Specification of revision 2025-11-25: client/elicitation,
    /// "Completion Notifications for URL Mode Elicitation".
    #[doc(alias = "notifications/elicitation/complete")]
    #[doc(alias("ElicitationCompleteNotification", "ElicitationCompleteNotificationParams"))]
    pub struct ElicitationComplete("an object") {
        /// Identifier of the request that the user has finished: the [`ElicitUrl::elicitation_id`] of that request.
        required elicitation_id: String = "elicitationId",
        /// Metadata that the server attached to the notification (`_meta`). `None` if the server sent none.
        optional meta: Json = "_meta",
    }
}
