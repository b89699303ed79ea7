//! Sampling: a server requests a completion from the client's language model. Specification: client/sampling.
//!
//! The specification deprecates sampling from revision 2026-07-28 on. New servers call a language model directly.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::sampling_content::{SamplingContent, SamplingContents};
use crate::{Role, TextContent, Tool};
use mcpwire_text::json::{ItemList, Json};
use mcpwire_text::object;
use mcpwire_text::open_enum;

object! {
    /// Parameters of `sampling/createMessage`: a conversation that the client's language model should continue
    /// (`CreateMessageRequestParams`).
    ///
    /// The specification deprecates sampling from protocol revision 2026-07-28 on.
    #[doc(alias("sampling/createMessage", "CreateMessageRequest", "CreateMessageRequestParams"))]
    pub struct CreateMessageParams("an object") {
        /// Messages of the conversation so far.
        required messages: ItemList<SamplingMessage> = "messages",
        /// The server's preferences for the choice of a model. The client may ignore them.
        optional model_preferences: Box<ModelPreferences> = "modelPreferences",
        /// System prompt that the server suggests. The client may change or omit it.
        optional system_prompt: String = "systemPrompt",
        /// MCP servers whose context, such as resources, the client is asked to add to the prompt. The client may
        /// ignore this. `None` means no context.
        optional include_context: IncludeContext = "includeContext",
        /// Sampling temperature that the server suggests. The range depends on the model.
        optional temperature: f64 = "temperature",
        /// Maximum number of tokens that the model may generate. The client must not exceed this number.
        optional max_tokens: u64 = "maxTokens",
        /// Texts at which the model stops generating.
        or_default stop_sequences: Vec<String> = "stopSequences",
        /// Metadata to pass through to the provider of the language model, which defines its format.
        optional metadata: Json = "metadata",
        /// Tools that the model may call (from protocol revision 2025-11-25).
        ///
        /// The server may send tools only if the client declares the capability `sampling.tools`.
        optional tools: ItemList<Tool> = "tools",
        /// Whether the model may, must or must not call tools (from protocol revision 2025-11-25). `None` means that
        /// the model decides.
        optional tool_choice: ToolChoice = "toolChoice",
        /// Additional metadata of the sampling request (`_meta`).
        optional meta: Json = "_meta",
    }
}

object! {
    /// A message of a conversation with a language model.
    pub struct SamplingMessage("a message") {
        /// Author of the message: the user or the language model.
        required role: Role = "role",
        /// Content blocks of the message. Before protocol revision 2025-11-25, a message has exactly one.
        required content: SamplingContents = "content",
        /// Additional metadata of the sampling message (`_meta`).
        optional meta: Json = "_meta",
    }
}

open_enum! {
    /// MCP servers whose context, such as resources, the client is asked to add to the prompt of a sampling request.
    ///
    /// The specification deprecates all values except `none`.
    pub enum IncludeContext {
        /// No MCP server: the client should add no context.
        #[default]
        None = "none",
        /// Only the MCP server that sent the sampling request.
        ThisServer = "thisServer",
        /// All MCP servers to which the client is connected.
        AllServers = "allServers",
    }
}

object! {
    /// Preferences of a server for the choice of a language model.
    ///
    /// Specification: client/sampling, "Model Preferences".
    pub struct ModelPreferences("an object") {
        /// Models that the server prefers, in descending order of preference.
        or_default hints: Vec<ModelHint> = "hints",
        /// How important a low cost is, from 0 (not important) to 1 (most important).
        optional cost_priority: f64 = "costPriority",
        /// How important a fast response is, from 0 (not important) to 1 (most important).
        optional speed_priority: f64 = "speedPriority",
        /// How important the capabilities of the model are, from 0 (not important) to 1 (most important).
        optional intelligence_priority: f64 = "intelligencePriority",
    }
}

object! {
    /// A hint for the choice of a language model: the name of a preferred model.
    pub struct ModelHint("an object") {
        /// Full or partial name of a model, such as `sonnet`.
        optional name: String = "name",
    }
}

object! {
    /// Whether a language model may, must or must not call tools (from protocol revision 2025-11-25).
    pub struct ToolChoice("an object") {
        /// Whether the model may, must or must not call tools. `None` means [`ToolChoiceMode::Auto`].
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
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{CreateMessageResult, Json}; } }
    /// use mcpwire::types::{CreateMessageResult, Json};
    ///
    /// let result = CreateMessageResult::text("my-model", "Paris.");
    /// let json = Json::from_value(&result)?;
    /// assert_eq!(json.get(), r#"{"role":"assistant","content":{"type":"text","text":"Paris."},"model":"my-model","stopReason":"endTurn"}"#);
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    #[doc(alias = "sampling/createMessage")]
    pub struct CreateMessageResult("an object") {
        /// Author of the generated message: the language model ([`Role::Assistant`]).
        required role: Role = "role",
        /// Content blocks of the generated message. From protocol revision 2025-11-25 on, there may be several, and
        /// they may include tool calls.
        required content: SamplingContents = "content",
        /// Name of the model that generated the message.
        always model: String = "model",
        /// Why the model stopped generating. `None` if the reason is unknown.
        optional stop_reason: StopReason = "stopReason",
        /// Additional metadata of the result (`_meta`).
        optional meta: Json = "_meta",
    }
}

open_enum! {
    /// Why a language model stopped generating. A reason that the specification does not define becomes
    /// [`StopReason::Other`].
    pub enum StopReason {
        /// The model finished its message.
        #[default]
        EndTurn = "endTurn",
        /// The model generated one of the stop sequences of the sampling request.
        StopSequence = "stopSequence",
        /// The model reached the maximum number of tokens of the sampling request.
        MaxTokens = "maxTokens",
        /// The model requested one or more tool calls.
        ToolUse = "toolUse",
    }
}

impl CreateMessageResult {
    /// Creates the result of a sampling request from the message content that the language model `model` generated. The
    /// stop reason is `None`.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContents>) -> Self {
        let (model, content) = (model.into(), content.into());
        CreateMessageResult { role: Role::Assistant, content, model, ..CreateMessageResult::default() }
    }

    /// Creates the result of a sampling request from the text that the language model `model` generated. The stop
    /// reason is [`StopReason::EndTurn`].
    pub fn text(model: impl Into<String>, text: impl Into<String>) -> Self {
        let content = SamplingContent::Text(TextContent::new(text));
        CreateMessageResult { stop_reason: Some(StopReason::EndTurn), ..CreateMessageResult::new(model, content) }
    }
}

impl CreateMessageParams {
    /// Returns whether the sampling request contains tools or a tool choice.
    pub fn has_tools(&self) -> bool {
        self.tools.is_some() || self.tool_choice.is_some()
    }

    /// Checks that the tool calls and tool results in the messages match (specification: client/sampling, "Message
    /// Content Constraints").
    ///
    /// A message with tool results must answer exactly the tool calls of the message before it, and must contain
    /// nothing else.
    ///
    /// # Errors
    /// Returns a description of the first invalid message, to send to the server.
    pub fn check(&self) -> Result<(), String> {
        check_messages(&self.messages)
    }
}

/// Checks the messages of a sampling request, as [`CreateMessageParams::check`] does.
pub(crate) fn check_messages(messages: &ItemList<SamplingMessage>) -> Result<(), String> {
    if let Some(rejected) = messages.rejected.first() {
        return Err(alloc::format!("`messages` cannot be read: {rejected}"));
    }
    let mut open_calls = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let sorted = |id: fn(&SamplingContent) -> Option<&str>| {
            let mut ids: Vec<&str> = message.content.iter().filter_map(id).collect();
            ids.sort_unstable();
            ids
        };
        let results = sorted(SamplingContent::answered_tool_use);
        if !results.is_empty() && results.len() < message.content.len() {
            return Err(alloc::format!("message {at} has results of tools beside other content"));
        }
        if open_calls != results {
            return Err(alloc::format!("the calls of tools before message {at} and the results in it do not match"));
        }
        open_calls = sorted(SamplingContent::tool_use_id);
    }
    if open_calls.is_empty() { Ok(()) } else { Err("the last calls of tools have no results".into()) }
}
