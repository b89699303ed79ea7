//! What servers ask of language models, and what is answered.

use mcpwire_core::{
    AudioContent, CreateMessageParams, CreateMessageResult, ImageContent, IncludeContext, Json, ModelHint,
    ModelPreferences, SamplingContent, SamplingContents, SamplingMessage, StopReason, TextContent, ToolChoice,
    ToolChoiceMode, ToolResultContent, ToolUseContent,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::{annotations, block, extra, json as any_json, listed, meta, number, object, role, text, tool, whole, word};

/// A word that the protocol has, or another.
fn one_of<T: for<'a> From<&'a str> + std::fmt::Debug>(known: &'static [&'static str]) -> impl Strategy<Value = T> {
    prop_oneof![select(known).prop_map(str::to_owned), "[a-z]{1,6}"].prop_map(|word| T::from(&*word))
}

pub(crate) fn sampling_content() -> impl Strategy<Value = SamplingContent> {
    let boxed = || option::of(annotations().prop_map(Box::new));
    prop_oneof![
        made!(TextContent { text: text(), annotations: boxed(), meta: meta(), extra: extra() })
            .prop_map(SamplingContent::Text),
        made!(ImageContent { data: text(), mime_type: text(), annotations: boxed(), meta: meta(), extra: extra() })
            .prop_map(SamplingContent::Image),
        made!(AudioContent { data: text(), mime_type: text(), annotations: boxed(), meta: meta(), extra: extra() })
            .prop_map(SamplingContent::Audio),
        made!(ToolUseContent { id: text(), name: text(), input: object(), meta: meta(), extra: extra() })
            .prop_map(|call| SamplingContent::ToolUse(Box::new(call))),
        made!(ToolResultContent {
            tool_use_id: text(),
            content: vec(block(), 0..3),
            structured_content: option::of(any_json()),
            is_error: any::<bool>(),
            meta: meta(),
            extra: extra(),
        })
        .prop_map(|result| SamplingContent::ToolResult(Box::new(result))),
        // Blocks of other types are kept as they came.
        ("x-[a-z]{1,4}", object()).prop_map(|(kind, other)| {
            let block = json!({"type": kind, "other": other});
            let block = Json::from_value(&block).and_then(|block| block.decode()).expect("any object is a block");
            assert!(matches!(block, SamplingContent::Unknown(_)));
            block
        }),
    ]
}

fn contents() -> impl Strategy<Value = SamplingContents> {
    vec(sampling_content(), 0..3).prop_map(SamplingContents::from)
}

pub(crate) fn sampling_message() -> impl Strategy<Value = SamplingMessage> {
    made!(SamplingMessage { role: role(), content: contents(), meta: meta(), extra: extra() })
}

pub(crate) fn model_hint() -> impl Strategy<Value = ModelHint> {
    made!(ModelHint { name: word(), extra: extra() })
}

pub(crate) fn model_preferences() -> impl Strategy<Value = ModelPreferences> {
    made!(ModelPreferences {
        hints: vec(model_hint(), 0..3),
        cost_priority: option::of(number()),
        speed_priority: option::of(number()),
        intelligence_priority: option::of(number()),
        extra: extra(),
    })
}

pub(crate) fn tool_choice() -> impl Strategy<Value = ToolChoice> {
    made!(ToolChoice { mode: option::of(one_of::<ToolChoiceMode>(&["auto", "required", "none"])), extra: extra() })
}

pub(crate) fn create_message_params() -> impl Strategy<Value = CreateMessageParams> {
    let first = (listed(sampling_message()), option::of(model_preferences().prop_map(Box::new)), word());
    let rest = made!(CreateMessageParams {
        include_context: option::of(one_of::<IncludeContext>(&["none", "thisServer", "allServers"])),
        temperature: option::of(number()),
        max_tokens: whole(),
        stop_sequences: vec(text(), 0..3),
        metadata: option::of(object()),
        tools: option::of(listed(tool())),
        tool_choice: option::of(tool_choice()),
        meta: meta(),
        extra: extra(),
    });
    (first, rest).prop_map(|((messages, preferences, prompt), mut params)| {
        (params.messages, params.model_preferences, params.system_prompt) = (messages, preferences, prompt);
        params
    })
}

pub(crate) fn create_message_result() -> impl Strategy<Value = CreateMessageResult> {
    made!(CreateMessageResult {
        role: role(),
        content: contents(),
        model: text(),
        stop_reason: option::of(one_of::<StopReason>(&["endTurn", "stopSequence", "maxTokens", "toolUse"])),
        meta: meta(),
        extra: extra(),
    })
}
