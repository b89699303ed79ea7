//! Sampling: a server asks a language model, through the client (2026-07-28, client/sampling).
//!
//! The protocol deprecates sampling from 2026-07-28 on: new servers call a language model themselves.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::open_enum::open_enum;
use super::sampling_check::{self, MessageTools};
use super::sampling_content::{SamplingContent, SamplingContents};
use super::{Listed, Role, TextContent, Tool};
use crate::json::Json;

object! {
    /// Parameters of `sampling/createMessage` (`CreateMessageRequestParams`): a conversation for a language model to continue.
    ///
    /// The protocol deprecates sampling from 2026-07-28 on.
    pub struct CreateMessageParams("an object") {
        /// The conversation so far.
        required messages: Listed<SamplingMessage> = "messages",
        /// Which model the server prefers. The client need not follow it.
        optional model_preferences: Box<ModelPreferences> = "modelPreferences",
        /// The system prompt. The client may change it or leave it out.
        optional system_prompt: String = "systemPrompt",
        /// Which context of MCP servers to include. The client may include less.
        optional include_context: IncludeContext = "includeContext",
        /// The sampling temperature, in the range of the model.
        optional temperature: f64 = "temperature",
        /// The maximum length of the answer in tokens. The client must respect it.
        optional max_tokens: u64 = "maxTokens",
        /// Texts that end the answer.
        or_default stop_sequences: Vec<String> = "stopSequences",
        /// Parameters for the provider of the model, in the provider's own form.
        optional metadata: Json = "metadata",
        /// The tools that the model may call (from 2025-11-25). Allowed only if the client declares `sampling.tools`.
        optional tools: Listed<Tool> = "tools",
        /// How the model may call tools (from 2025-11-25).
        optional tool_choice: ToolChoice = "toolChoice",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// One message of a conversation with a language model.
    pub struct SamplingMessage("a message") {
        /// The role of the speaker.
        required role: Role = "role",
        /// The content: one block, or several (from 2025-11-25).
        required content: SamplingContents = "content",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

open_enum! {
    /// The context of MCP servers to show to a language model. The protocol deprecates all values but `none`.
    pub enum IncludeContext {
        /// No context.
        #[default]
        None = "none",
        /// The context of the server that asks.
        ThisServer = "thisServer",
        /// The context of all servers.
        AllServers = "allServers",
    }
}

object! {
    /// Which model a server prefers (2026-07-28, client/sampling, "Model Preferences").
    ///
    /// Priorities range from 0 (not important) to 1 (most important).
    pub struct ModelPreferences("an object") {
        /// Names of models or parts of names, most preferred first.
        or_default hints: Vec<ModelHint> = "hints",
        /// How important low cost is.
        optional cost_priority: f64 = "costPriority",
        /// How important a fast answer is.
        optional speed_priority: f64 = "speedPriority",
        /// How important an able model is.
        optional intelligence_priority: f64 = "intelligencePriority",
    }
}

object! {
    /// A hint at a model.
    pub struct ModelHint("an object") {
        /// The name of the model, or a part of it.
        optional name: String = "name",
    }
}

object! {
    /// How a language model may call tools (from 2025-11-25).
    pub struct ToolChoice("an object") {
        /// Whether the model may or must call tools.
        optional mode: ToolChoiceMode = "mode",
    }
}

open_enum! {
    /// Whether a language model may or must call tools.
    pub enum ToolChoiceMode {
        /// The model decides.
        #[default]
        Auto = "auto",
        /// The model must call at least one tool.
        Required = "required",
        /// The model must not call tools.
        None = "none",
    }
}

object! {
    /// The client's answer to `sampling/createMessage` (`CreateMessageResult`): a message of the language model.
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
        /// The role of the speaker: the assistant.
        required role: Role = "role",
        /// The content. Several blocks and calls of tools are allowed from 2025-11-25 on.
        required content: SamplingContents = "content",
        /// The name of the model.
        always model: String = "model",
        /// Why the message ends.
        optional stop_reason: StopReason = "stopReason",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

open_enum! {
    /// Why a message of a language model ends. Providers may have reasons of their own.
    pub enum StopReason {
        /// The message is complete.
        #[default]
        EndTurn = "endTurn",
        /// The model wrote one of the texts that end an answer.
        StopSequence = "stopSequence",
        /// The message reached its maximum length.
        MaxTokens = "maxTokens",
        /// The model calls tools.
        ToolUse = "toolUse",
    }
}

impl CreateMessageResult {
    /// A message of the assistant, written by this model.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContents>) -> Self {
        let (model, content) = (model.into(), content.into());
        CreateMessageResult { role: Role::Assistant, content, model, ..CreateMessageResult::default() }
    }

    /// A complete message of text.
    pub fn text(model: impl Into<String>, text: impl Into<String>) -> Self {
        let content = SamplingContent::Text(TextContent::new(text));
        CreateMessageResult { stop_reason: Some(StopReason::EndTurn), ..CreateMessageResult::new(model, content) }
    }
}

impl CreateMessageParams {
    /// Returns whether the model may call tools in this request.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some() || self.tool_choice.is_some()
    }

    /// Checks the conversation (2026-07-28, client/sampling, "Message Content Constraints").
    ///
    /// Every message must be readable. A message with results of tools must have nothing else, and must answer exactly the calls
    /// of the message before it.
    ///
    /// # Errors
    /// What is wrong, in words for the server.
    pub fn check(&self) -> Result<(), String> {
        if let Some(rejected) = self.messages.rejected.first() {
            return Err(alloc::format!("`messages` cannot be read: {rejected}"));
        }
        sampling_check::check(self.messages.items.iter().map(|message| Ok(MessageTools::new(&message.content))))
    }
}
