//! What servers ask, and what their tasks are.

use std::collections::BTreeMap;

use mcpwire_core::{
    AudioContent, BooleanSchema, CancelTaskResult, CreateMessageParams, CreateMessageResult, CreateTaskResult,
    ElicitAction, ElicitForm, ElicitParams, ElicitResult, ElicitUrl, ElicitationComplete, EnumOption, EnumSchema,
    FieldSchema, FormSchema, ImageContent, IncludeContext, Json, ListTasksResult, ModelHint, ModelPreferences,
    MultiSelectItems, MultiSelectSchema, NumberKind, NumberSchema, SamplingContent, SamplingContents, SamplingMessage,
    StopReason, StringFormat, StringSchema, Task, TaskProtocol, TaskStatus, TaskSupport, TasksCapability, TextContent,
    ToolChoice, ToolChoiceMode, ToolExecution, ToolResultContent, ToolUseContent,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::{
    annotations, block, extra, flag, json, json as any_json, known_or_other, listed, meta, name, number, object, role,
    text, tool, whole, word,
};

// What servers ask of people, and what is answered.

fn string_schema() -> impl Strategy<Value = StringSchema> {
    let format = prop_oneof![select(vec!["email", "uri", "date", "date-time"]).prop_map(str::to_owned), "[a-z]{1,6}"];
    made!(StringSchema {
        title: word(),
        description: word(),
        min_length: whole(),
        max_length: whole(),
        format: option::of(format.prop_map(|format| StringFormat::from(&*format))),
        default: word() } with extra)
}

fn number_schema() -> impl Strategy<Value = NumberSchema> {
    let default = prop_oneof![any::<i64>().prop_map(|n| json!(n)), number().prop_map(|n| json!(n))];
    made!(NumberSchema {
        kind: select(vec![NumberKind::Number, NumberKind::Integer]),
        title: word(),
        description: word(),
        minimum: option::of(number()),
        maximum: option::of(number()),
        default: option::of(default.prop_map(|n| Json::from_value(&n).expect("it is JSON"))) } with extra)
}

fn boolean_schema() -> impl Strategy<Value = BooleanSchema> {
    made!(BooleanSchema { title: word(), description: word(), default: flag() } with extra)
}

fn options() -> impl Strategy<Value = Vec<EnumOption>> {
    vec(made!(EnumOption { value: text(), title: word() } with extra), 0..3)
}

fn enum_schema() -> impl Strategy<Value = EnumSchema> {
    let made = made!(EnumSchema {
        title: word(),
        description: word(),
        values: vec(text(), 0..3),
        names: vec(text(), 0..3),
        one_of: options(),
        default: word() } with extra);
    made.prop_filter("there is something to choose", |schema| !schema.choices().is_empty())
}

fn multi_select_schema() -> impl Strategy<Value = MultiSelectSchema> {
    let made = made!(MultiSelectSchema {
        title: word(),
        description: word(),
        min_items: whole(),
        max_items: whole(),
        items: made!(MultiSelectItems { values: vec(text(), 0..3), any_of: options() } with extra),
        default: option::of(vec(text(), 0..3)) } with extra);
    made.prop_filter("there is something to choose", |schema| !schema.choices().is_empty())
}

pub(crate) fn field_schema() -> impl Strategy<Value = FieldSchema> {
    prop_oneof![
        string_schema().prop_map(FieldSchema::String),
        number_schema().prop_map(FieldSchema::Number),
        boolean_schema().prop_map(FieldSchema::Boolean),
        enum_schema().prop_map(|schema| FieldSchema::Enum(Box::new(schema))),
        multi_select_schema().prop_map(|schema| FieldSchema::MultiSelect(Box::new(schema))),
        ("x-[a-z]{1,4}", object()).prop_map(|(kind, other)| {
            FieldSchema::Unknown(Json::from_value(&json!({"type": kind, "other": other})).expect("it is JSON"))
        }),
    ]
}

fn form_schema() -> impl Strategy<Value = FormSchema> {
    (btree_map(text(), field_schema(), 0..4), vec(text(), 0..2), extra()).prop_map(|(fields, required, extra)| {
        let mut schema = with_fields(&fields);
        (schema.required, schema.extra) = (required, extra);
        schema
    })
}

/// Fields have no order of their own but that in which they were sent.
fn with_fields(fields: &BTreeMap<String, FieldSchema>) -> FormSchema {
    let sent = Json::from_value(&json!({"type": "object", "properties": {}})).expect("it is JSON");
    let properties = Json::from_value(fields).expect("it is JSON");
    let sent = sent.get().replace("{}", properties.get());
    let schema: FormSchema = Json::parse(sent).and_then(|json| json.decode()).expect("it is a schema");
    let read = schema.properties.0.iter().map(|field| (&field.name, &field.schema));
    assert!(read.eq(fields), "{:?} instead of {fields:?}", schema.properties);
    schema
}

pub(crate) fn elicit_form() -> impl Strategy<Value = ElicitForm> {
    made!(ElicitForm {
        mode: option::of(Just("form".to_owned())),
        message: text(),
        requested_schema: form_schema() } with meta and extra)
}

pub(crate) fn elicit_url() -> impl Strategy<Value = ElicitUrl> {
    made!(ElicitUrl { message: text(), url: text(), elicitation_id: word() } with meta and extra)
}

pub(crate) fn elicit_params() -> impl Strategy<Value = ElicitParams> {
    prop_oneof![
        elicit_form().prop_map(ElicitParams::Form),
        elicit_url().prop_map(ElicitParams::Url),
        // A question in another mode is kept as it came.
        ("x-[a-z]{1,4}", text(), object()).prop_map(|(mode, message, other)| {
            let params = json!({"mode": mode, "message": message, "other": other});
            let params = Json::from_value(&params).and_then(|params| params.decode()).expect("it is a question");
            assert!(matches!(params, ElicitParams::Other(_)));
            params
        }),
    ]
}

pub(crate) fn elicit_result() -> impl Strategy<Value = ElicitResult> {
    let action = prop_oneof![select(vec!["accept", "decline", "cancel"]).prop_map(str::to_owned), "[a-z]{1,6}"];
    made!(ElicitResult {
        action: action.prop_map(|action| ElicitAction::from(&*action)),
        content: option::of(object()) } with meta and extra)
}

pub(crate) fn elicitation_complete() -> impl Strategy<Value = ElicitationComplete> {
    made!(ElicitationComplete { elicitation_id: text() } with meta and extra)
}

// What servers ask of language models, and what is answered.

/// A word that the protocol has, or another.
fn one_of<T: for<'a> From<&'a str> + std::fmt::Debug>(known: &'static [&'static str]) -> impl Strategy<Value = T> {
    prop_oneof![select(known).prop_map(str::to_owned), "[a-z]{1,6}"].prop_map(|word| T::from(&*word))
}

pub(crate) fn sampling_content() -> impl Strategy<Value = SamplingContent> {
    let boxed = || option::of(annotations().prop_map(Box::new));
    prop_oneof![
        made!(TextContent { text: text(), annotations: boxed() } with meta and extra).prop_map(SamplingContent::Text),
        made!(ImageContent { data: text(), mime_type: text(), annotations: boxed() } with meta and extra)
            .prop_map(SamplingContent::Image),
        made!(AudioContent { data: text(), mime_type: text(), annotations: boxed() } with meta and extra)
            .prop_map(SamplingContent::Audio),
        made!(ToolUseContent { id: text(), name: text(), input: object() } with meta and extra)
            .prop_map(|call| SamplingContent::ToolUse(Box::new(call))),
        made!(ToolResultContent {
            tool_use_id: text(),
            content: vec(block(), 0..3),
            structured_content: option::of(any_json()),
            is_error: any::<bool>() } with meta and extra)
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
    made!(SamplingMessage { role: role(), content: contents() } with meta and extra)
}

pub(crate) fn model_hint() -> impl Strategy<Value = ModelHint> {
    made!(ModelHint { name: word() } with extra)
}

pub(crate) fn model_preferences() -> impl Strategy<Value = ModelPreferences> {
    made!(ModelPreferences {
        hints: vec(model_hint(), 0..3),
        cost_priority: option::of(number()),
        speed_priority: option::of(number()),
        intelligence_priority: option::of(number()) } with extra)
}

pub(crate) fn tool_choice() -> impl Strategy<Value = ToolChoice> {
    made!(ToolChoice { mode: option::of(one_of::<ToolChoiceMode>(&["auto", "required", "none"])) } with extra)
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
        tool_choice: option::of(tool_choice()) } with meta and extra);
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
        stop_reason: option::of(one_of::<StopReason>(&["endTurn", "stopSequence", "maxTokens", "toolUse"])) } with meta and extra)
}

// Tasks, in both forms.

const STATUSES: &[&str] = &["working", "input_required", "completed", "failed", "cancelled"];

pub(crate) fn task_status() -> impl Strategy<Value = TaskStatus> {
    known_or_other(STATUSES)
}

pub(crate) fn task() -> impl Strategy<Value = Task> {
    let times = (word(), word(), whole(), whole(), whole(), whole());
    let rest = made!(Task {
        task_id: name(),
        status: task_status(),
        status_message: word(),
        input_requests: option::of(object()),
        result: option::of(object()),
        error: option::of(json()) } with meta and extra);
    (times, rest).prop_map(|((created_at, last_updated_at, ttl_ms, ttl, poll_interval_ms, poll_interval), mut task)| {
        (task.created_at, task.last_updated_at) = (created_at, last_updated_at);
        (task.ttl_ms, task.ttl) = (ttl_ms, ttl);
        (task.poll_interval_ms, task.poll_interval) = (poll_interval_ms, poll_interval);
        task
    })
}

pub(crate) fn create_task_result() -> impl Strategy<Value = CreateTaskResult> {
    let extension = task().prop_map(|mut task| {
        task.result_type = Some("task".into());
        let mut result = CreateTaskResult::default();
        (result.task, result.form) = (task, TaskProtocol::Extension);
        result
    });
    let experimental =
        made!(CreateTaskResult { task: task(), form: Just(TaskProtocol::Experimental) } with meta and extra);
    prop_oneof![extension, experimental]
}

pub(crate) fn cancel_task_result() -> impl Strategy<Value = CancelTaskResult> {
    made!(CancelTaskResult {
        task_id: word(),
        status: option::of(task_status()),
        status_message: word(),
        created_at: word(),
        last_updated_at: word(),
        ttl: whole(),
        poll_interval: whole() } with meta and extra)
}

pub(crate) fn list_tasks_result() -> impl Strategy<Value = ListTasksResult> {
    made!(ListTasksResult { tasks: listed(task()), next_cursor: word() } with meta and extra)
}

pub(crate) fn tasks_capability() -> impl Strategy<Value = TasksCapability> {
    made!(TasksCapability { list: meta(), cancel: meta(), requests: meta() } with extra)
}

pub(crate) fn tool_execution() -> impl Strategy<Value = ToolExecution> {
    let support = known_or_other::<TaskSupport>(&["forbidden", "optional", "required"]);
    made!(ToolExecution { task_support: option::of(support) } with extra)
}
