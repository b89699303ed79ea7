//! Sampling: a server requests a completion from the client's language model. Specification: client/sampling.
//!
//! The specification deprecates sampling from revision 2026-07-28 on. New servers call a language model directly.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::open_enum::open_enum;
use super::sampling_check::{self, MessageTools};
use super::sampling_content::{SamplingContent, SamplingContents};
use super::{ItemList, Role, TextContent, Tool};
use crate::json::Json;

object! {
    /// Parameters of `sampling/createMessage`: a conversation for the client's language model to continue
    /// (`CreateMessageRequestParams`).
    ///
    /// The specification deprecates sampling from revision 2026-07-28 on.
    pub struct CreateMessageParams("an object") {
        /// Messages of the conversation so far.
        required messages: ItemList<SamplingMessage> = "messages",
        /// Preferences of the server for a model. The client may ignore them.
        optional model_preferences: Box<ModelPreferences> = "modelPreferences",
        /// System prompt that the server wants to use. The client may change or omit it.
        optional system_prompt: String = "systemPrompt",
        /// Context of MCP servers to add to the prompt. The client may add less.
        optional include_context: IncludeContext = "includeContext",
        /// Sampling temperature. Its range depends on the model.
        optional temperature: f64 = "temperature",
        /// Maximum number of tokens to generate. The client must not exceed it.
        optional max_tokens: u64 = "maxTokens",
        /// Texts at which the model stops generating.
        or_default stop_sequences: Vec<String> = "stopSequences",
        /// Metadata for the provider of the language model, in the provider's format.
        optional metadata: Json = "metadata",
        /// Tools that the model may call (from revision 2025-11-25).
        ///
        /// The server may send them only if the client declares the capability `sampling.tools`.
        optional tools: ItemList<Tool> = "tools",
        /// Controls whether the model calls tools (from revision 2025-11-25).
        optional tool_choice: ToolChoice = "toolChoice",
        /// Additional metadata (`_meta`).
        optional meta: Json = "_meta",
    }
}

object! {
    /// A message of a conversation with a language model (`SamplingMessage`).
    pub struct SamplingMessage("a message") {
        /// Role of the message's author.
        required role: Role = "role",
        /// Content of the message: one block, or several (from revision 2025-11-25).
        required content: SamplingContents = "content",
        /// Additional metadata (`_meta`).
        optional meta: Json = "_meta",
    }
}

open_enum! {
    /// Context of MCP servers that the client adds to the prompt.
    ///
    /// The specification deprecates all values except `none`.
    pub enum IncludeContext {
        /// No context.
        #[default]
        None = "none",
        /// Context of the requesting server.
        ThisServer = "thisServer",
        /// Context of all servers that the client is connected to.
        AllServers = "allServers",
    }
}

object! {
    /// Preferences of a server for the choice of a model (`ModelPreferences`).
    ///
    /// Priorities range from 0 (not important) to 1 (most important). Specification: client/sampling, "Model
    /// Preferences".
    pub struct ModelPreferences("an object") {
        /// Names of preferred models, most preferred first.
        or_default hints: Vec<ModelHint> = "hints",
        /// Importance of low cost, from 0 to 1.
        optional cost_priority: f64 = "costPriority",
        /// Importance of a fast response, from 0 to 1.
        optional speed_priority: f64 = "speedPriority",
        /// Importance of the model's capabilities, from 0 to 1.
        optional intelligence_priority: f64 = "intelligencePriority",
    }
}

object! {
    /// A hint for the choice of a model.
    pub struct ModelHint("an object") {
        /// Full or partial name of a model, such as `sonnet`.
        optional name: String = "name",
    }
}

object! {
    /// Controls whether a language model calls tools (`ToolChoice`; from revision 2025-11-25).
    pub struct ToolChoice("an object") {
        /// Whether the model may, must or must not call tools. Absent means [`ToolChoiceMode::Auto`].
        optional mode: ToolChoiceMode = "mode",
    }
}

open_enum! {
    /// Whether a language model may, must or must not call tools.
    pub enum ToolChoiceMode {
        /// The model decides whether to call tools.
        #[default]
        Auto = "auto",
        /// The model must call at least one tool.
        Required = "required",
        /// The model must not call tools.
        None = "none",
    }
}

object! {
    /// Result of `sampling/createMessage`: the message of the language model, which the client sends to the server
    /// (`CreateMessageResult`).
    ///
    /// ```
    /// use mcpwire_core::{CreateMessageResult, Json};
    ///
    /// let result = CreateMessageResult::text("my-model", "Paris.");
    /// let json = Json::from_value(&result)?;
    /// assert_eq!(json.get(), r#"{"role":"assistant","content":{"type":"text","text":"Paris."},"model":"my-model","stopReason":"endTurn"}"#);
    /// # Ok::<(), mcpwire_core::JsonError>(())
    /// ```
    pub struct CreateMessageResult("an object") {
        /// Role of the message's author: the assistant.
        required role: Role = "role",
        /// Content of the message. Several blocks, and calls of tools, are allowed from revision 2025-11-25 on.
        required content: SamplingContents = "content",
        /// Name of the model that generated the message.
        always model: String = "model",
        /// Reason why the model stopped generating, if known.
        optional stop_reason: StopReason = "stopReason",
        /// Additional metadata (`_meta`).
        optional meta: Json = "_meta",
    }
}

open_enum! {
    /// The reason why a language model stopped generating. Providers may have other reasons.
    pub enum StopReason {
        /// The model finished its message.
        #[default]
        EndTurn = "endTurn",
        /// The model generated one of the stop sequences.
        StopSequence = "stopSequence",
        /// The message reached the maximum number of tokens.
        MaxTokens = "maxTokens",
        /// The model calls one or more tools.
        ToolUse = "toolUse",
    }
}

impl CreateMessageResult {
    /// Creates a message of the assistant, generated by `model`.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContents>) -> Self {
        let (model, content) = (model.into(), content.into());
        CreateMessageResult { role: Role::Assistant, content, model, ..CreateMessageResult::default() }
    }

    /// Creates a complete text message of the assistant, generated by `model`.
    pub fn text(model: impl Into<String>, text: impl Into<String>) -> Self {
        let content = SamplingContent::Text(TextContent::new(text));
        CreateMessageResult { stop_reason: Some(StopReason::EndTurn), ..CreateMessageResult::new(model, content) }
    }
}

impl CreateMessageParams {
    /// Returns whether the request offers tools to the model.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some() || self.tool_choice.is_some()
    }

    /// Checks that the conversation is valid.
    ///
    /// Every message must be readable. A message with tool results must contain nothing else, and must answer exactly
    /// the tool calls of the previous message. Specification: client/sampling, "Message Content Constraints".
    ///
    /// # Errors
    /// Returns a description of the first violation, to send to the server.
    pub fn check(&self) -> Result<(), String> {
        if let Some(rejected) = self.messages.rejected.first() {
            return Err(alloc::format!("`messages` cannot be read: {rejected}"));
        }
        sampling_check::check(self.messages.items.iter().map(|message| Ok(MessageTools::new(&message.content))))
    }
}
