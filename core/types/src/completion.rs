//! Completion: suggestions for arguments of prompts and resource templates. Specification: server/utilities/completion.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::ProtocolVersion;
use crate::json::Json;
use crate::object::object;
use crate::result::result;

/// Parameters of `completion/complete`, which requests suggestions for an argument.
///
/// ```
/// use mcpwire_types::{CompleteParams, CompletionReference, Json};
///
/// let prompt = CompletionReference::Prompt { name: "code_review" };
/// let mut params = CompleteParams::new(prompt, "framework", "fla");
/// params.context = &[("language", "python")];
/// assert_eq!(
///     Json::from_value(&params)?.get(),
///     r#"{"ref":{"type":"ref/prompt","name":"code_review"},"argument":{"name":"framework","value":"fla"},"context":{"arguments":{"language":"python"}}}"#,
/// );
/// # Ok::<(), mcpwire_types::JsonError>(())
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct CompleteParams<'a> {
    /// The prompt or resource template to which the argument belongs.
    #[serde(rename = "ref")]
    pub reference: CompletionReference<'a>,
    /// Name of the argument to complete, and the text that the user has typed so far.
    argument: CompletionArgument<'a>,
    /// Names and values of the other arguments that the user has already chosen. Each name occurs once. Not sent if
    /// empty.
    ///
    /// This member exists from revision 2025-06-18: see [`CompleteParams::for_version`].
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_context")]
    pub context: &'a [(&'a str, &'a str)],
}

impl<'a> CompleteParams<'a> {
    /// Creates parameters that request suggestions for the argument `name`, without `context`. `value` is the text that
    /// the user has typed so far for this argument.
    pub fn new(reference: CompletionReference<'a>, name: &'a str, value: &'a str) -> Self {
        CompleteParams { reference, argument: CompletionArgument { name, value }, context: &[] }
    }

    /// Clears `context` if `version`, the protocol version of the connection, is earlier than 2025-06-18.
    ///
    /// Earlier versions do not define `context`. The request is still valid, because `context` only improves the
    /// suggestions.
    pub fn for_version(mut self, version: ProtocolVersion) -> Self {
        if version < ProtocolVersion::V2025_06_18 {
            self.context = &[];
        }
        self
    }
}

/// The prompt or resource template to which an argument belongs.
///
/// Specification: server/utilities/completion, "Reference Types".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type")]
#[non_exhaustive]
pub enum CompletionReference<'a> {
    /// The argument belongs to a prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Name of the prompt.
        name: &'a str,
    },
    /// The argument is a variable of a resource template.
    #[serde(rename = "ref/resource")]
    ResourceTemplate {
        /// The URI template, such as `file:///{path}`. The specification also allows the URI of a resource here.
        uri: &'a str,
    },
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CompletionArgument<'a> {
    name: &'a str,
    value: &'a str,
}

/// Serializes `context` as the JSON object `{"arguments": {name: value, ...}}`.
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
    /// Result of `completion/complete` (`CompleteResult`).
    ///
    /// Specification: server/utilities/completion, "Completion Results".
    pub struct CompleteResult {
        /// The suggested values. Empty if the server sent none.
        always completion: Completion = "completion",
    }
}

object! {
    /// The values that a server suggests for an argument.
    pub struct Completion("an object") {
        /// Suggested values, most relevant first. The specification allows at most 100.
        always values: Vec<String> = "values",
        /// Total number of values that match, which may exceed the length of `values`. `None` if the server sent no
        /// total.
        optional total: u64 = "total",
        /// Whether more values match than the server sent in `values`.
        or_default has_more: bool = "hasMore",
    }
}
