//! Completion of arguments (2026-07-28, server/utilities/completion).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use super::ProtocolVersion;
use super::object::object;
use super::result::result;
use crate::json::Json;

/// Parameters of `completion/complete`.
///
/// ```
/// use mcpwire_core::{CompleteParams, CompletionReference, Json};
///
/// let prompt = CompletionReference::Prompt { name: "code_review" };
/// let mut params = CompleteParams::new(prompt, "framework", "fla");
/// params.context = &[("language", "python")];
/// assert_eq!(
///     Json::from_value(&params)?.get(),
///     r#"{"ref":{"type":"ref/prompt","name":"code_review"},"argument":{"name":"framework","value":"fla"},"context":{"arguments":{"language":"python"}}}"#,
/// );
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CompleteParams<'a> {
    /// The prompt or resource template whose argument is completed.
    #[serde(rename = "ref")]
    pub reference: CompletionReference<'a>,
    /// The argument and the beginning of its value.
    argument: CompletionArgument<'a>,
    /// The names and values of the other arguments, each name once; not sent if empty. Revisions before 2025-06-18 do not have
    /// this member: see [`CompleteParams::for_version`].
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_context")]
    pub context: &'a [(&'a str, &'a str)],
}

impl<'a> CompleteParams<'a> {
    /// Parameters that complete `value`, the beginning of the argument `name`.
    pub fn new(reference: CompletionReference<'a>, name: &'a str, value: &'a str) -> Self {
        CompleteParams { reference, argument: CompletionArgument { name, value }, context: &[] }
    }

    /// Adapts the parameters to a server that speaks `version`: removes the context if the revision does not have it.
    ///
    /// The context only improves the suggestions, so the request keeps its meaning without it.
    pub fn for_version(mut self, version: ProtocolVersion) -> Self {
        if version < ProtocolVersion::V2025_06_18 {
            self.context = &[];
        }
        self
    }
}

/// The prompt or resource template whose argument is completed (2026-07-28, server/utilities/completion, "Reference Types").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum CompletionReference<'a> {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// The name of the prompt.
        name: &'a str,
    },
    /// A resource template.
    #[serde(rename = "ref/resource")]
    ResourceTemplate {
        /// The URI template, or a URI.
        uri: &'a str,
    },
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CompletionArgument<'a> {
    name: &'a str,
    value: &'a str,
}

/// Writes the arguments that are complete already (from 2025-06-18).
fn as_context<S: Serializer>(arguments: &[(&str, &str)], serializer: S) -> Result<S::Ok, S::Error> {
    struct Arguments<'a>(&'a [(&'a str, &'a str)]);
    impl Serialize for Arguments<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().copied())
        }
    }
    serializer.collect_map([("arguments", Arguments(arguments))])
}

result! {
    /// Suggestions for the value of an argument (`CompleteResult`).
    pub struct CompleteResult {
        /// The suggestions; empty if the server sent none.
        always completion: Completion = "completion",
    }
}

object! {
    /// Suggestions for the value of an argument.
    pub struct Completion("an object") {
        /// The values, best first. The specification allows 100 of them at most.
        always values: Vec<String> = "values",
        /// The total number of values, if the server knows it.
        optional total: u64 = "total",
        /// Whether there are more values than these.
        or_default has_more: bool = "hasMore",
    }
}
