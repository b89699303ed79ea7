//! Completion: what might be meant by the beginning of an argument (2026-07-28, server/utilities/completion).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use super::ProtocolVersion;
use super::object::object;
use super::result_type::complete;
use crate::json::Json;

/// Parameters of `completion/complete`.
///
/// ```
/// use mcpwire_core::{CompleteParams, CompletionContext, CompletionReference, Json};
///
/// let prompt = CompletionReference::Prompt { name: "code_review" };
/// let mut params = CompleteParams::new(prompt, "framework", "fla");
/// params.context = CompletionContext { arguments: &[("language", "python")] };
/// assert_eq!(
///     Json::from_value(&params)?.get(),
///     r#"{"ref":{"type":"ref/prompt","name":"code_review"},"argument":{"name":"framework","value":"fla"},"context":{"arguments":{"language":"python"}}}"#,
/// );
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CompleteParams<'a> {
    /// Whose argument it is.
    #[serde(rename = "ref")]
    pub reference: CompletionReference<'a>,
    /// The argument.
    pub argument: CompletionArgument<'a>,
    /// What else is known; left out where it is empty. Revisions before 2025-06-18 do not have it: see
    /// [`CompleteParams::for_version`].
    #[serde(skip_serializing_if = "CompletionContext::is_empty")]
    pub context: CompletionContext<'a>,
}

impl<'a> CompleteParams<'a> {
    /// Asks how the argument `name` may go on from `value`.
    pub fn new(reference: CompletionReference<'a>, name: &'a str, value: &'a str) -> Self {
        CompleteParams {
            reference,
            argument: CompletionArgument { name, value },
            context: CompletionContext::default(),
        }
    }

    /// The same for a server that speaks `version`. The context is a hint that makes suggestions better, so it is dropped
    /// for revisions that do not have it: without it the question is still the same.
    pub fn for_version(mut self, version: ProtocolVersion) -> Self {
        if version < ProtocolVersion::V2025_06_18 {
            self.context = CompletionContext::default();
        }
        self
    }
}

/// Whose argument is completed (2026-07-28, server/utilities/completion, "Reference Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum CompletionReference<'a> {
    /// A prompt's.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: &'a str,
    },
    /// A resource template's.
    #[serde(rename = "ref/resource")]
    ResourceTemplate {
        /// Its pattern, or an address.
        uri: &'a str,
    },
}

/// An argument, as far as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CompletionArgument<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its beginning.
    pub value: &'a str,
}

/// What is known besides the argument (from 2025-06-18).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct CompletionContext<'a> {
    /// The arguments that are complete, names and values. Each name stands there once.
    #[serde(serialize_with = "as_object")]
    pub arguments: &'a [(&'a str, &'a str)],
}

impl CompletionContext<'_> {
    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.arguments.is_empty()
    }
}

fn as_object<S: Serializer>(pairs: &[(&str, &str)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(pairs.iter().copied())
}

object! {
    /// What an argument may become (`CompleteResult`).
    pub struct CompleteResult(
        "an object",
        finish |result: CompleteResult| complete(result.result_type.as_deref()).map(|()| result)
    ) {
        /// The suggestions; none where the server sent none.
        or_blank completion: Completion = "completion",
        /// `complete`.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// Suggestions for an argument.
    pub struct Completion("an object") {
        /// The best first. The specification allows a server 100 of them.
        or_blank values: Vec<String> = "values",
        /// How many there are in all, where the server knows it.
        optional total: u64 = "total",
        /// There are more than these.
        or_default has_more: bool = "hasMore",
    }
}
