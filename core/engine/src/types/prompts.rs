//! Prompts: templates of messages for a language model. Specification: server/prompts.

use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Error as _, Serialize, SerializeMap, SerializeStruct, Serializer};

use super::object::object;
use super::open_enum::open_enum;
use super::result::{page, result};
use super::{ContentBlock, Icon, ItemList};
use crate::json::Json;
use crate::json::from_json::{self, Mismatch};
use crate::json::scan::members;

object! {
    /// A prompt that a server offers (`Prompt`).
    ///
    /// [`ListPromptsResult`] rejects prompts without a name.
    pub struct Prompt("a prompt", finish check) {
        /// Name of the prompt for `prompts/get`, unique within the server.
        required name: String = "name",
        /// Display name of the prompt (from revision 2025-06-18).
        optional title: String = "title",
        /// Description of the prompt.
        optional description: String = "description",
        /// Arguments that the prompt accepts.
        or_default arguments: Vec<PromptArgument> = "arguments",
        /// Icons to display for the prompt (from revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Additional metadata of the prompt (`_meta`; from revision 2025-06-18).
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
    /// Returns the display name: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// An argument of a prompt (`PromptArgument`).
    pub struct PromptArgument("an argument") {
        /// Name of the argument.
        required name: String = "name",
        /// Display name of the prompt (from revision 2025-06-18).
        optional title: String = "title",
        /// Description of the argument.
        optional description: String = "description",
        /// Whether the argument is required.
        or_default required: bool = "required",
    }
}

impl PromptArgument {
    /// Returns the display name: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

page! {
    /// One page of the prompts of a server (`ListPromptsResult`).
    pub struct ListPromptsResult {
        /// The prompts of this page.
        prompts: Prompt = "prompts",
    }
}

/// Parameters of `prompts/get`.
///
/// All arguments of a prompt are strings. Parameters with an argument of another type fail to serialize. An argument
/// that is `null` is omitted.
///
/// ```
/// use mcpwire_core::{GetPromptParams, Json};
///
/// #[derive(serde::Serialize)]
/// struct Review { code: &'static str, language: Option<String> }
///
/// let review = Review { code: "1 + 1", language: None };
/// let params = Json::from_value(&GetPromptParams { name: "review", arguments: &review })?;
/// assert_eq!(params.get(), r#"{"name":"review","arguments":{"code":"1 + 1"}}"#);
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Debug)]
pub struct GetPromptParams<'a, A: ?Sized> {
    /// Name of the prompt.
    pub name: &'a str,
    /// The arguments: a value that serializes as an object of strings, or as `null` for no arguments.
    pub arguments: &'a A,
}

impl<A: Serialize + ?Sized> Serialize for GetPromptParams<'_, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = Json::from_value(self.arguments).map_err(S::Error::custom)?;
        let mut params = serializer.serialize_struct("GetPromptParams", 2)?;
        params.serialize_field("name", self.name)?;
        params.serialize_field("arguments", &Strings(&arguments))?;
        params.end()
    }
}

/// Serializes JSON that must be an object of strings, or `null`.
struct Strings<'a>(&'a Json);

impl Serialize for Strings<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Strings(json) = self;
        if !json.is_object() && json.get() != "null" {
            return Err(S::Error::custom("the arguments of a prompt must be an object"));
        }
        let mut map = serializer.serialize_map(None)?;
        for member in members(json.get().as_bytes()).filter(|member| member.value != b"null") {
            let key = member.key();
            let text = core::str::from_utf8(member.value).ok().and_then(from_json::from_str::<String>);
            let text = text.ok_or_else(|| S::Error::custom(format_args!("the argument `{key}` must be a string")))?;
            map.serialize_entry(&*key, &text)?;
        }
        map.end()
    }
}

result! {
    /// Result of `prompts/get`: the messages of a prompt with its arguments filled in (`GetPromptResult`).
    pub struct GetPromptResult {
        /// Description of the prompt.
        optional description: String = "description",
        /// Messages for the language model. Empty if the server sent none.
        always messages: ItemList<PromptMessage> = "messages",
    }
}

object! {
    /// A message of a prompt (`PromptMessage`).
    pub struct PromptMessage("a message", finish check_message) {
        /// Role of the message's author.
        required role: Role = "role",
        /// Content of the message. Content that violates the specification becomes [`ContentBlock::Unknown`].
        required content: ContentBlock = "content",
    }
}

/// Rejects a message whose content is `null`: `null` counts as absent, but [`ContentBlock::Unknown`] accepts every
/// value.
fn check_message(message: PromptMessage) -> Result<PromptMessage, Mismatch> {
    match &message.content {
        ContentBlock::Unknown(block) if block.raw.get() == "null" => Err(Mismatch::object("`content` is null")),
        _ => Ok(message),
    }
}

open_enum! {
    /// The author of a message in a conversation.
    pub enum Role {
        /// The user.
        #[default]
        User = "user",
        /// The language model.
        Assistant = "assistant",
    }
}
