//! Sampling: what servers ask of a language model, through their client (2026-07-28, client/sampling).
//!
//! Deprecated from 2026-07-28 on: new servers are to call a language model themselves.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::sampling_content::{SamplingContent, SamplingContents};
use super::words::words;
use super::{Listed, Role, TextContent, Tool};
use crate::json::Json;

object! {
    /// Parameters of `sampling/createMessage` (`CreateMessageRequestParams`): what a language model is to go on with.
    ///
    /// Deprecated with sampling as a whole, from 2026-07-28 on.
    pub struct CreateMessageParams("an object") {
        /// The conversation so far.
        required messages: Listed<SamplingMessage> = "messages",
        /// Which model would be the right one. Advice, no more.
        optional model_preferences: Box<ModelPreferences> = "modelPreferences",
        /// What the model is to be told first. The client may change it or leave it out.
        optional system_prompt: String = "systemPrompt",
        /// What else of the servers' is to be added. The client may add less.
        optional include_context: IncludeContext = "includeContext",
        /// How much chance is in the answer; the range is the model's.
        optional temperature: f64 = "temperature",
        /// The greatest length of the answer in tokens. The client must respect it.
        optional max_tokens: u64 = "maxTokens",
        /// Texts that end the answer.
        or_default stop_sequences: Vec<String> = "stopSequences",
        /// For the provider of the model, in its own form.
        optional metadata: Json = "metadata",
        /// What the model may call (from 2025-11-25). Only for clients that declare it: `sampling.tools`.
        optional tools: Listed<Tool> = "tools",
        /// How it may call them (from 2025-11-25).
        optional tool_choice: ToolChoice = "toolChoice",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// One turn of a conversation with a language model.
    pub struct SamplingMessage("a message") {
        /// Who speaks.
        required role: Role = "role",
        /// What is said: one block, or several (from 2025-11-25).
        required content: SamplingContents = "content",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

words! {
    /// What else of the servers' a language model is to be shown. All but `none` are deprecated.
    pub enum IncludeContext {
        /// Nothing.
        None = "none",
        /// Of the server that asks.
        ThisServer = "thisServer",
        /// Of all servers.
        AllServers = "allServers",
    }
}

object! {
    /// Which model would be the right one (2026-07-28, client/sampling, "Model Preferences"). Priorities go from 0, which does
    /// not matter, to 1, which matters most.
    pub struct ModelPreferences("an object") {
        /// Names of models or parts of them, the best first.
        or_default hints: Vec<ModelHint> = "hints",
        /// How much it matters that it costs little.
        optional cost_priority: f64 = "costPriority",
        /// How much it matters that it answers soon.
        optional speed_priority: f64 = "speedPriority",
        /// How much it matters that it is able.
        optional intelligence_priority: f64 = "intelligencePriority",
    }
}

object! {
    /// A model that would be the right one.
    pub struct ModelHint("an object") {
        /// A part of its name.
        optional name: String = "name",
    }
}

object! {
    /// How a language model may call tools (from 2025-11-25).
    pub struct ToolChoice("an object") {
        /// Whether it may, or must.
        optional mode: ToolChoiceMode = "mode",
    }
}

words! {
    /// Whether a language model may call tools, or must.
    pub enum ToolChoiceMode {
        /// It may.
        Auto = "auto",
        /// It must call one at least.
        Required = "required",
        /// It must not.
        None = "none",
    }
}

object! {
    /// The answer to `sampling/createMessage` (`CreateMessageResult`): what the language model said.
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
        /// Who speaks: the assistant.
        required role: Role = "role",
        /// What is said: one block, or several. Only from 2025-11-25 on there may be several, or calls of tools.
        required content: SamplingContents = "content",
        /// The name of the model.
        or_blank model: String = "model",
        /// Why it said no more.
        optional stop_reason: StopReason = "stopReason",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

words! {
    /// Why a language model said no more. Providers may have reasons of their own.
    pub enum StopReason {
        /// It has said what it had to say.
        EndTurn = "endTurn",
        /// It came upon one of the texts that end an answer.
        StopSequence = "stopSequence",
        /// The answer was as long as it may be.
        MaxTokens = "maxTokens",
        /// It wants tools to be called.
        ToolUse = "toolUse",
    }
}

impl CreateMessageResult {
    /// What the assistant said, by whichever model.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContents>) -> Self {
        let (model, content) = (model.into(), content.into());
        CreateMessageResult { role: Role::Assistant, content, model, ..CreateMessageResult::default() }
    }

    /// A text that ends by itself.
    pub fn text(model: impl Into<String>, text: impl Into<String>) -> Self {
        let content = SamplingContent::Text(TextContent::new(text));
        CreateMessageResult { stop_reason: Some(StopReason::EndTurn), ..CreateMessageResult::new(model, content) }
    }
}

impl CreateMessageParams {
    /// Whether the model may call tools in this request.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some() || self.tool_choice.is_some()
    }

    /// What is wrong with the conversation, if anything is: a message that cannot be read, results of tools beside other
    /// content, or calls of tools that are not answered one by one by the message that follows (2026-07-28, client/sampling,
    /// "Message Content Constraints").
    ///
    /// # Errors
    /// What is wrong, in words for the server.
    pub fn check(&self) -> Result<(), String> {
        if let Some(rejected) = self.messages.rejected.first() {
            return Err(alloc::format!("`messages` cannot be read: {rejected}"));
        }
        let mut open: Vec<&str> = Vec::new();
        for (at, message) in self.messages.items.iter().enumerate() {
            let results: Vec<&str> = message.content.iter().filter_map(SamplingContent::answered_tool_use).collect();
            if !results.is_empty() && results.len() < message.content.len() {
                return Err(alloc::format!("message {at} has results of tools beside other content"));
            }
            if !is_same_set(&open, &results) {
                return Err(alloc::format!(
                    "the calls of tools before message {at} and the results in it do not match"
                ));
            }
            open = message.content.iter().filter_map(SamplingContent::tool_use_id).collect();
        }
        if open.is_empty() { Ok(()) } else { Err("the last calls of tools have no results".into()) }
    }
}

fn is_same_set(calls: &[&str], results: &[&str]) -> bool {
    let mut calls = calls.to_vec();
    let mut results = results.to_vec();
    calls.sort_unstable();
    results.sort_unstable();
    calls == results
}
