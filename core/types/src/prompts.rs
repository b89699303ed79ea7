//! Prompts: templates of messages for a language model. Specification: server/prompts.

use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Error as _, Serialize, SerializeStruct, Serializer};

use crate::arguments;
use crate::result::page;
use crate::{ContentBlock, Icon};
use mcpwire_text::json::from_json::{self, Mismatch};
use mcpwire_text::json::scan::members;
use mcpwire_text::json::{Extra, ItemList, Json};
use mcpwire_text::object;
use mcpwire_text::open_enum;
use mcpwire_text::result;

object! {
    /// A prompt that a server offers: a template of messages for a language model.
    ///
    /// A prompt without a name is invalid: a [`ListPromptsResult`] omits it, and reports it in [`ItemList::rejected`].
    pub struct Prompt("a prompt", finish check) {
        /// Name of the prompt, for use in `prompts/get`. The name is unique within the server.
        required name: String = "name",
        /// Display name of the prompt (from protocol revision 2025-06-18).
        optional title: String = "title",
        /// Description of the prompt's purpose.
        optional description: String = "description",
        /// Arguments that the prompt accepts.
        or_default arguments: Vec<PromptArgument> = "arguments",
        /// Icons to display for the prompt (from protocol revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Additional metadata of the prompt (`_meta`; from protocol revision 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check(prompt: Prompt) -> Result<Prompt, Mismatch> {
    if prompt.name.is_empty() {
        return Err(Mismatch::object("`name` is empty"));
    }
    Ok(prompt)
}

impl Prompt {
    /// Returns the display name of the prompt: `title`, or `name` if there is no title.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// An argument that a prompt accepts (`PromptArgument`).
    pub struct PromptArgument("an argument") {
        /// Name of the argument, which is its key in [`GetPromptParams::arguments`].
        required name: String = "name",
        /// Display name of the argument (from protocol revision 2025-06-18).
        optional title: String = "title",
        /// Description of the argument.
        optional description: String = "description",
        /// Whether clients must pass this argument when they request the prompt.
        or_default required: bool = "required",
    }
}

impl PromptArgument {
    /// Returns the display name of the argument: `title`, or `name` if there is no title.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

page! {
    /// Result of `prompts/list`: one page of the list of prompts that a server offers.
    #[doc(alias("prompts/list", "ListPromptsResultResponse"))]
    pub struct ListPromptsResult {
        /// The prompts on this page.
        prompts: Prompt = "prompts",
    }
}

/// Parameters of `prompts/get`.
///
/// All arguments of a prompt are strings. Serializing the parameters fails if an argument has another type, and leaves
/// out arguments that are `null`.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_types::{GetPromptParams, Json}; } }
/// use mcpwire::types::{GetPromptParams, Json};
///
/// #[derive(serde::Serialize)]
/// struct Review { code: &'static str, language: Option<String> }
///
/// let review = Review { code: "1 + 1", language: None };
/// let params = Json::from_value(&GetPromptParams { name: "review", arguments: &review })?;
/// assert_eq!(params.get(), r#"{"name":"review","arguments":{"code":"1 + 1"}}"#);
/// # Ok::<(), mcpwire_types::JsonError>(())
/// ```
#[derive(Debug)]
#[doc(alias("prompts/get", "GetPromptRequest", "GetPromptRequestParams"))]
pub struct GetPromptParams<'a, A: ?Sized> {
    /// Name of the prompt ([`Prompt::name`]).
    pub name: &'a str,
    /// Arguments of the prompt: a value that serializes as a JSON object of strings, or pairs of a name and a value,
    /// such as `[("code", "1 + 1")]`. `()`, `None` and an empty array stand for no arguments.
    pub arguments: &'a A,
}

impl<A: Serialize + ?Sized> Serialize for GetPromptParams<'_, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = arguments::to_json(self.arguments).map_err(S::Error::custom)?;
        if !arguments.is_object() && arguments.get() != "null" {
            return Err(S::Error::custom(
                "the arguments of a prompt must be an object, pairs of a name and a value, or nothing",
            ));
        }
        let mut strings = Extra::default();
        for member in members(arguments.get().as_bytes()).filter(|member| member.value != b"null") {
            let text: Option<String> = from_json::from_str(member.json().get());
            let not_a_string = || S::Error::custom(format_args!("the argument `{}` must be a string", member.key()));
            strings.push(member.key(), Json::from_value(&text.ok_or_else(not_a_string)?).map_err(S::Error::custom)?);
        }
        let mut params = serializer.serialize_struct("GetPromptParams", 2)?;
        params.serialize_field("name", self.name)?;
        params.serialize_field("arguments", &strings)?;
        params.end()
    }
}

result! {
    /// Result of `prompts/get`: the messages of a prompt with its arguments filled in.
    #[doc(alias("prompts/get", "GetPromptResultResponse"))]
    pub struct GetPromptResult {
        /// Description of the prompt.
        optional description: String = "description",
        /// Messages of the prompt, for the language model. Empty if the server sent none.
        always messages: ItemList<PromptMessage> = "messages",
    }
}

object! {
    /// A message that a prompt provides for a language model.
    pub struct PromptMessage("a message", finish check_message) {
        /// Author of the message: the user or the language model.
        required role: Role = "role",
        /// Content of the message. Invalid content becomes [`ContentBlock::Unknown`].
        required content: ContentBlock = "content",
    }
}

/// Rejects a prompt message with `"content": null`, which would otherwise be read as [`ContentBlock::Unknown`].
fn check_message(message: PromptMessage) -> Result<PromptMessage, Mismatch> {
    match &message.content {
        ContentBlock::Unknown(block) if block.raw.get() == "null" => Err(Mismatch::object("`content` is null")),
        _ => Ok(message),
    }
}

open_enum! {
    /// Who wrote a message in a conversation.
    pub enum Role {
        /// The user wrote the message.
        #[default]
        User = "user",
        /// The language model wrote the message.
        Assistant = "assistant",
    }
}
