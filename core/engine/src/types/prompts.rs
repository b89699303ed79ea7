//! Prompts: templates of messages for a language model (2026-07-28, server/prompts).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{Deserialize, Deserializer};
use serde::ser::{Error as _, Serialize, SerializeMap, SerializeStruct, Serializer};

use super::object::object;
use super::result_type::complete;
use super::{ContentBlock, Icon, Listed, TextContent};
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};
use crate::json::scan::members;

object! {
    /// A prompt that a server offers.
    ///
    /// A list leaves out an entry without a name.
    pub struct Prompt("a prompt", finish check) {
        /// The name to ask for it by; unique within its server.
        required name: String = "name",
        /// The name that people read (from 2025-06-18).
        optional title: String = "title",
        /// What it is for.
        optional description: String = "description",
        /// What can be filled in.
        or_default arguments: Vec<PromptArgument> = "arguments",
        /// Pictures of it (from 2025-11-25).
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
    /// The name to show: the title where there is one.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// A place in a prompt that can be filled in.
    pub struct PromptArgument("an argument") {
        /// The name to give it by.
        required name: String = "name",
        /// The name that people read (from 2025-06-18).
        optional title: String = "title",
        /// What it is for.
        optional description: String = "description",
        /// It must be filled in.
        or_default required: bool = "required",
    }
}

impl PromptArgument {
    /// The name to show: the title where there is one.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// One page of a server's prompts (`ListPromptsResult`).
    pub struct ListPromptsResult(
        "an object",
        finish |page: ListPromptsResult| complete(page.result_type.as_deref()).map(|()| page)
    ) {
        /// The prompts.
        or_blank prompts: Listed<Prompt> = "prompts",
        /// Where the next page starts; absent on the last one.
        optional next_cursor: String = "nextCursor",
        /// `complete`.
        optional result_type: String = "resultType",
        /// For how long the answer holds, in milliseconds.
        optional ttl_ms: u64 = "ttlMs",
        /// Who may share a cached answer: `public` or `private`.
        optional cache_scope: String = "cacheScope",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

/// Parameters of `prompts/get`.
///
/// All arguments of prompts are strings; parameters with any other cannot be written. One that is null is left out.
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
#[derive(Clone, Copy, Debug)]
pub struct GetPromptParams<'a, A: ?Sized> {
    /// The prompt's name.
    pub name: &'a str,
    /// The arguments: anything that serialises as an object of strings, or as `null` for none.
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

/// Writes an object whose members are all strings.
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

object! {
    /// A prompt, filled in (`GetPromptResult`).
    pub struct GetPromptResult(
        "an object",
        finish |result: GetPromptResult| complete(result.result_type.as_deref()).map(|()| result)
    ) {
        /// What it is for.
        optional description: String = "description",
        /// The messages for the language model; empty where the server sent none.
        or_blank messages: Listed<PromptMessage> = "messages",
        /// `complete`.
        optional result_type: String = "resultType",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// A message of a prompt.
    pub struct PromptMessage("a message", finish check_message) {
        /// Who speaks.
        required role: Role = "role",
        /// What is said. Content of any other shape than the specification's is kept as
        /// [`ContentBlock::Unknown`].
        required content: ContentBlock = "content",
    }
}

/// Null counts as absent here too, though a block may be anything.
fn check_message(message: PromptMessage) -> Result<PromptMessage, Mismatch> {
    match &message.content {
        ContentBlock::Unknown(block) if block.raw.get() == "null" => {
            Err(Mismatch::Object { reason: "`content` is null".into(), name: None })
        }
        _ => Ok(message),
    }
}

/// Who speaks in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// A person.
    #[default]
    User,
    /// A language model.
    Assistant,
    /// Someone that the specification does not have.
    Other(String),
}

impl Role {
    /// As it stands on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
            Role::Other(name) => name,
        }
    }
}

impl From<String> for Role {
    fn from(name: String) -> Role {
        match &*name {
            "user" => Role::User,
            "assistant" => Role::Assistant,
            _ => Role::Other(name),
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::printable(self.as_str()))
    }
}

impl FromJson for Role {
    const EXPECTED: &'static str = "a string";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        Ok(String::from_json(reader)?.map(Role::from))
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Role::from)
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl Default for ContentBlock {
    /// An empty text.
    fn default() -> ContentBlock {
        ContentBlock::Text(TextContent::default())
    }
}
