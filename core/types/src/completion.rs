//! Completion: suggestions for arguments of prompts and resource templates. Specification: server/utilities/completion.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use crate::ProtocolVersion;
use mcpwire_text::json::Json;
use mcpwire_text::object;
use mcpwire_text::result;

/// Parameters of `completion/complete`, which requests suggestions for an argument.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_types::{CompleteParams, CompletionReference, Json}; } }
/// use mcpwire::types::{CompleteParams, CompletionReference, Json};
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
#[doc(alias("completion/complete", "CompleteRequest", "CompleteRequestParams"))]
pub struct CompleteParams<'a> {
    /// The prompt or resource template to which the argument belongs.
    #[serde(rename = "ref")]
    pub reference: CompletionReference<'a>,
    /// Name of the argument to complete, and the text that the user has typed so far.
    argument: CompletionArgument<'a>,
    /// Names and values of the other arguments that the user has already filled in. Each name may occur only once.
    /// Empty if there are none.
    ///
    /// Servers before protocol revision 2025-06-18 do not know this member. [`CompleteParams::for_version`] removes it
    /// for them.
    #[serde(skip_serializing_if = "<[_]>::is_empty", serialize_with = "as_context")]
    pub context: &'a [(&'a str, &'a str)],
}

impl<'a> CompleteParams<'a> {
    /// Creates parameters that request suggestions for the argument `name`. `value` is the text that the user has typed
    /// so far for this argument.
    ///
    /// To send the values of other arguments too, set [`CompleteParams::context`].
    pub fn new(reference: CompletionReference<'a>, name: &'a str, value: &'a str) -> Self {
        CompleteParams { reference, argument: CompletionArgument { name, value }, context: &[] }
    }

    /// Removes the values of other arguments ([`CompleteParams::context`]) if `version` is earlier than 2025-06-18, the
    /// first protocol version that defines them.
    ///
    /// Pass the protocol version of the connection. The `completion/complete` request is valid without these values.
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
#[doc(alias("PromptReference", "ResourceTemplateReference"))]
pub enum CompletionReference<'a> {
    /// The argument belongs to a prompt of the server.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Name of the prompt.
        name: &'a str,
    },
    /// The argument is a variable in a resource template's URI, such as `path` in `file:///{path}`.
    #[serde(rename = "ref/resource")]
    ResourceTemplate {
        /// URI template that contains the argument, such as `file:///{path}`. The specification also allows the URI of
        /// a single resource, which has no variables.
        uri: &'a str,
    },
}

#[derive(Clone, Copy, Debug, Serialize)]
struct CompletionArgument<'a> {
    name: &'a str,
    value: &'a str,
}

/// Serializes the other arguments as the `context` member requires: `{"arguments": {name: value, ...}}`.
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
    /// Result of `completion/complete`: suggestions for an argument of a prompt or resource template.
    ///
    /// Specification: server/utilities/completion, "Completion Results".
    #[doc(alias("completion/complete", "CompleteResultResponse"))]
    pub struct CompleteResult {
        /// The values that the server suggests for the argument. Empty if the server suggested none.
        always completion: Completion = "completion",
    }
}

object! {
    /// The values that a server suggests for an argument of a prompt or resource template.
    pub struct Completion("an object") {
        /// Suggested values for the argument, most relevant first. The specification allows at most 100.
        always values: Vec<String> = "values",
        /// Number of all values that the server could suggest, including those not in [`Completion::values`]. `None` if
        /// the server sent no total.
        optional total: u64 = "total",
        /// Whether the server has more suggestions than those in [`Completion::values`]. `false` if the server did not
        /// say.
        or_default has_more: bool = "hasMore",
    }
}
