//! Prompts: templates of messages for a language model (2026-07-28, server/prompts).

use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::{Error as _, Serialize, SerializeMap, SerializeStruct, Serializer};

use super::object::object;
use super::open_enum::open_enum;
use super::result::{page, result};
use super::{ContentBlock, Icon, Listed};
use crate::json::Json;
use crate::json::from_json::{self, Mismatch};
use crate::json::scan::members;

object! {
    /// A prompt that a server offers.
    ///
    /// An entry of a list is rejected if it has no name.
    pub struct Prompt("a prompt", finish check) {
        /// The name to get the prompt by, unique within its server.
        required name: String = "name",
        /// The name to show to people (from 2025-06-18).
        optional title: String = "title",
        /// What the prompt is for.
        optional description: String = "description",
        /// The arguments that the prompt takes.
        or_default arguments: Vec<PromptArgument> = "arguments",
        /// Icons of the prompt (from 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Metadata (from 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check(prompt: Prompt) -> Result<Prompt, Mismatch> {
    if prompt.name.is_empty() {
        return Err(Mismatch::Object { reason: "`name` is empty".into(), name: None });
    }
    Ok(prompt)
}

impl Prompt {
    /// Returns the name to show to people: the title if there is one, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// An argument of a prompt.
    pub struct PromptArgument("an argument") {
        /// The name of the argument.
        required name: String = "name",
        /// The name to show to people (from 2025-06-18).
        optional title: String = "title",
        /// What the argument is for.
        optional description: String = "description",
        /// Whether the argument must be given.
        or_default required: bool = "required",
    }
}

impl PromptArgument {
    /// Returns the name to show to people: the title if there is one, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

page! {
    /// One page of a server's prompts (`ListPromptsResult`).
    pub struct ListPromptsResult {
        /// The prompts.
        prompts: Prompt = "prompts",
    }
}

/// Parameters of `prompts/get`.
///
/// All arguments of a prompt are strings: parameters with another argument fail to serialise. An argument that is `null` is left
/// out.
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
    /// The prompt's name.
    pub name: &'a str,
    /// The arguments: any value that serialises as an object of strings, or as `null` for none.
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

/// An object of strings, given as JSON. Fails to serialise if it is anything else.
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
    /// A prompt with its arguments filled in (`GetPromptResult`).
    pub struct GetPromptResult {
        /// What the prompt is for.
        optional description: String = "description",
        /// The messages for the language model; empty if the server sent none.
        always messages: Listed<PromptMessage> = "messages",
    }
}

object! {
    /// A message of a prompt.
    pub struct PromptMessage("a message", finish check_message) {
        /// The role of the speaker.
        required role: Role = "role",
        /// The content. Content of another shape than the specification's is [`ContentBlock::Unknown`].
        required content: ContentBlock = "content",
    }
}

/// Rejects a message whose content is `null`, which counts as absent, although a block may be any value.
fn check_message(message: PromptMessage) -> Result<PromptMessage, Mismatch> {
    match &message.content {
        ContentBlock::Unknown(block) if block.raw.get() == "null" => {
            Err(Mismatch::Object { reason: "`content` is null".into(), name: None })
        }
        _ => Ok(message),
    }
}

open_enum! {
    /// The role of a speaker in a conversation.
    pub enum Role {
        /// A person.
        #[default]
        User = "user",
        /// A language model.
        Assistant = "assistant",
    }
}
