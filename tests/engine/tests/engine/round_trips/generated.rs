//! Any value of each type of the protocol.

use std::collections::BTreeMap;

use mcpwire_core::internal::{
    DiscoverResult, InitializeParams, InitializeResult, InputRequest, InputRequiredResult, SubscriptionsAcknowledged,
    SubscriptionsListenResult,
};
use mcpwire_core::{
    Annotations, AudioContent, BooleanSchema, CallToolResult, CancelTaskResult, ClientCapabilities, CompleteResult,
    Completion, ContentBlock, CreateMessageParams, CreateMessageResult, CreateTaskResult, ElicitAction, ElicitForm,
    ElicitParams, ElicitResult, ElicitUrl, ElicitationComplete, EmbeddedResource, EnumOption, EnumSchema, Extra,
    FieldSchema, FormSchema, GetPromptResult, Icon, ImageContent, Implementation, IncludeContext, ItemList, Json,
    ListCapability, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListRootsResult,
    ListTasksResult, ListToolsResult, LogMessage, LoggingLevel, ModelHint, ModelPreferences, MultiSelectItems,
    MultiSelectSchema, Number, NumberKind, NumberSchema, Progress, Prompt, PromptArgument, PromptMessage,
    ReadResourceResult, Resource, ResourceContents, ResourceLink, ResourceTemplate, ResourceUi, ResourceUpdated,
    ResourcesCapability, Role, Root, SamplingContent, SamplingContents, SamplingMessage, ServerCapabilities,
    StopReason, StringFormat, StringSchema, SubscriptionFilter, Task, TaskProtocol, TaskStatus, TaskSupport,
    TasksCapability, TextContent, Tool, ToolAnnotations, ToolChoice, ToolChoiceMode, ToolExecution, ToolResultContent,
    ToolUi, ToolUseContent, UiCsp,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Any value of a type, field by field. Most types have unknown members (`extra`), and many have `_meta`.
macro_rules! made {
    ($Type:ty { $($fields:tt)* } with meta and extra) => { made!($Type { meta: meta(), extra: extra(), $($fields)* }) };
    ($Type:ty { $($fields:tt)* } with extra) => { made!($Type { extra: extra(), $($fields)* }) };
    ($Type:ty { $($field:ident: $strategy:expr),+ $(,)? }) => {
        ($($strategy,)+).prop_map(|($($field,)+)| {
            let mut value = <$Type>::default();
            $( value.$field = $field; )+
            value
        })
        // What is made of many parts would lie on the stack with all of them, in each step on the way to it.
        .boxed()
    };
}

/// Functions that make any value of a type, field by field.
macro_rules! types {
    ($( $name:ident: $Type:ident { $($fields:tt)* } with $first:ident $(and $second:ident)?; )*) => {
        $(
            pub(crate) fn $name() -> impl Strategy<Value = $Type> {
                made!($Type { $($fields)* } with $first $(and $second)?)
            }
        )*
    };
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-z]{1,8}", any::<String>()]
}

fn name() -> impl Strategy<Value = String> {
    text().prop_filter("names are not empty", |name| !name.is_empty())
}

fn word() -> impl Strategy<Value = Option<String>> {
    option::of(text())
}

fn whole() -> impl Strategy<Value = Option<u64>> {
    option::of(0..1u64 << 53)
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..1.0, any::<f64>().prop_filter("JSON has no others", |n| n.is_finite())]
}

fn flag() -> impl Strategy<Value = Option<bool>> {
    option::of(any::<bool>())
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        number().prop_map(Into::into),
        text().prop_map(Into::into),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(Into::into),
            btree_map(text(), inner, 0..3).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

/// Any JSON but `null`, which stands for an absent member.
pub(crate) fn json() -> impl Strategy<Value = Json> {
    let value = value().prop_filter("null is none", |value| !value.is_null());
    value.prop_map(|value| Json::from_value(&value).expect("it is JSON"))
}

fn object() -> impl Strategy<Value = Json> {
    let members = btree_map(text(), value(), 0..3);
    members.prop_map(|members| Json::from_value(&members).expect("it is JSON"))
}

fn meta() -> impl Strategy<Value = Option<Json>> {
    option::of(object())
}

/// A word: one of those that the protocol has, or another.
fn known_or_other<T: From<String> + std::fmt::Debug>(known: &'static [&'static str]) -> impl Strategy<Value = T> {
    prop_oneof![select(known).prop_map(ToOwned::to_owned), "[a-z]{1,6}"].prop_map(T::from)
}

/// Members under names that nothing in the protocol has.
fn extra() -> impl Strategy<Value = Extra> {
    btree_map("x-[a-z]{1,4}", value(), 0..2).prop_map(|members| {
        let mut extra = Extra::default();
        for (name, value) in members {
            extra.push(name, Json::from_value(&value).expect("it is JSON"));
        }
        extra
    })
}

fn listed<T: std::fmt::Debug>(items: impl Strategy<Value = T>) -> impl Strategy<Value = ItemList<T>> {
    vec(items, 0..3).prop_map(|items| ItemList { items, ..ItemList::default() })
}

fn complete() -> impl Strategy<Value = Option<String>> {
    option::of(Just("complete".to_owned()))
}

types! {
    icon: Icon { src: text(), mime_type: word(), sizes: vec(text(), 0..2), theme: word() } with extra;
}

fn icons() -> impl Strategy<Value = Vec<Icon>> {
    vec(icon(), 0..2)
}

types! {
    annotations: Annotations {
        audience: vec(text(), 0..2), priority: option::of(number().prop_map(Number::from)), last_modified: word(),
    } with extra;
    implementation: Implementation {
        name: text(), version: text(), title: word(), description: word(), website_url: word(), icons: icons(),
    } with extra;
    resource_contents: ResourceContents {
        uri: text(), mime_type: word(), text: word(), blob: word(),
    } with meta and extra;
}

pub(crate) fn block() -> impl Strategy<Value = ContentBlock> {
    let boxed = || option::of(annotations().prop_map(Box::new));
    prop_oneof![
        made!(TextContent { text: text(), annotations: boxed() } with meta and extra).prop_map(ContentBlock::Text),
        made!(ImageContent { data: text(), mime_type: text(), annotations: boxed() } with meta and extra)
            .prop_map(ContentBlock::Image),
        made!(AudioContent { data: text(), mime_type: text(), annotations: boxed() } with meta and extra)
            .prop_map(ContentBlock::Audio),
        made!(ResourceLink {
            uri: text(),
            name: text(),
            title: word(),
            description: word(),
            mime_type: word(),
            size: whole(),
            icons: icons(),
            annotations: boxed() } with meta and extra)
        .prop_map(|link| ContentBlock::ResourceLink(Box::new(link))),
        made!(EmbeddedResource { resource: resource_contents(), annotations: boxed() } with meta and extra)
            .prop_map(|resource| ContentBlock::Resource(Box::new(resource))),
        // Blocks of other types are kept as they came.
        (option::of("x-[a-z]{1,4}"), object()).prop_map(|(kind, other)| {
            let mut block = serde_json::json!({"other": other});
            if let Some(kind) = kind {
                block["type"] = kind.into();
            }
            Json::from_value(&block).and_then(|block| block.decode()).expect("any object is a block")
        }),
    ]
}

types! {
    tool_annotations: ToolAnnotations {
        title: word(), read_only_hint: flag(), destructive_hint: flag(), idempotent_hint: flag(),
        open_world_hint: flag(),
    } with extra;
    tool: Tool {
        name: name(), title: word(), description: word(), input_schema: object(), output_schema: option::of(object()),
        annotations: option::of(tool_annotations()), icons: icons(),
        execution: option::of(tool_execution().prop_map(Box::new)),
    } with meta and extra;
    call_tool_result: CallToolResult {
        content: vec(block(), 0..3), structured_content: option::of(json()), is_error: any::<bool>(),
    } with meta and extra;
    resource: Resource {
        uri: name(), name: name(), title: word(), description: word(), mime_type: word(), size: whole(),
        annotations: option::of(annotations()), icons: icons(),
    } with meta and extra;
    resource_template: ResourceTemplate {
        uri_template: name(), name: name(), title: word(), description: word(), mime_type: word(),
        annotations: option::of(annotations()), icons: icons(),
    } with meta and extra;
    resource_updated: ResourceUpdated { uri: text() } with meta and extra;
    read_resource_result: ReadResourceResult {
        contents: listed(resource_contents()), result_type: complete(), ttl_ms: whole(), cache_scope: word(),
    } with meta and extra;
    prompt_argument: PromptArgument {
        name: text(), title: word(), description: word(), required: any::<bool>(),
    } with extra;
    prompt: Prompt {
        name: name(), title: word(), description: word(), arguments: vec(prompt_argument(), 0..3), icons: icons(),
    } with meta and extra;
}

pub(crate) fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::User), Just(Role::Assistant), text().prop_map(Role::from)]
}

types! {
    prompt_message: PromptMessage { role: role(), content: block() } with extra;
    get_prompt_result: GetPromptResult {
        description: word(), messages: listed(prompt_message()), result_type: complete(),
    } with meta and extra;
}

/// A page of a list.
macro_rules! page {
    ($function:ident, $Type:ident, $field:ident, $item:ident) => {
        pub(crate) fn $function() -> impl Strategy<Value = $Type> {
            made!($Type {
                $field: listed($item()),
                next_cursor: word(),
                result_type: complete(),
                ttl_ms: whole(),
                cache_scope: word() } with meta and extra)
        }
    };
}
page!(list_tools_result, ListToolsResult, tools, tool);
page!(list_prompts_result, ListPromptsResult, prompts, prompt);
page!(list_resources_result, ListResourcesResult, resources, resource);
page!(list_resource_templates_result, ListResourceTemplatesResult, resource_templates, resource_template);

pub(crate) fn complete_result() -> impl Strategy<Value = CompleteResult> {
    let completion =
        made!(Completion { values: vec(text(), 0..3), total: whole(), has_more: any::<bool>() } with extra);
    made!(CompleteResult { completion: completion, result_type: complete() } with meta and extra)
}

pub(crate) fn logging_level() -> impl Strategy<Value = LoggingLevel> {
    use LoggingLevel::{Alert, Critical, Debug, Emergency, Error, Info, Notice, Warning};
    let known = select(vec![Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency]);
    prop_oneof![known, text().prop_map(LoggingLevel::from)]
}

types! {
    log_message: LogMessage { level: logging_level(), logger: word(), data: json() } with meta and extra;
    progress: Progress {
        progress_token: option::of(json()), progress: number().prop_map(Number::from),
        total: option::of(number().prop_map(Number::from)), message: word(),
    } with meta and extra;
    root: Root { uri: text(), name: word() } with meta and extra;
    list_roots_result: ListRootsResult { roots: vec(root(), 0..3) } with meta and extra;
    tool_ui: ToolUi { resource_uri: word(), visibility: vec(text(), 0..2) } with extra;
}

pub(crate) fn resource_ui() -> impl Strategy<Value = ResourceUi> {
    let domains = || vec(text(), 0..2);
    let csp = made!(UiCsp {
        connect_domains: domains(),
        resource_domains: domains(),
        frame_domains: domains(),
        base_uri_domains: domains() } with extra);
    made!(ResourceUi {
        csp: option::of(csp),
        permissions: meta(),
        domain: word(),
        prefers_border: flag() } with extra)
}

// What both sides say of themselves when a connection is opened, and what a server wants before it answers.

types! {
    client_capabilities: ClientCapabilities {
        roots: meta(), sampling: meta(), elicitation: meta(), tasks: meta(), extensions: meta(), experimental: meta(),
    } with extra;
    list_capability: ListCapability { list_changed: any::<bool>() } with extra;
}

pub(crate) fn server_capabilities() -> impl Strategy<Value = ServerCapabilities> {
    let resources = made!(ResourcesCapability { list_changed: any::<bool>(), subscribe: any::<bool>() } with extra);
    made!(ServerCapabilities {
        tools: option::of(list_capability()),
        resources: option::of(resources),
        prompts: option::of(list_capability()),
        completions: meta(),
        logging: meta(),
        tasks: option::of(tasks_capability()),
        extensions: meta(),
        experimental: meta() } with extra)
}

types! {
    initialize_params: InitializeParams {
        protocol_version: text(), capabilities: client_capabilities(), client_info: implementation(),
    } with extra;
    initialize_result: InitializeResult {
        protocol_version: word(), capabilities: option::of(server_capabilities()),
        server_info: option::of(implementation()), instructions: word(),
    } with meta and extra;
    discover_result: DiscoverResult {
        supported_versions: vec(text(), 0..3), capabilities: option::of(server_capabilities()), instructions: word(),
        server_info: option::of(implementation()), result_type: complete(), ttl_ms: whole(), cache_scope: word(),
    } with meta and extra;
}

pub(crate) fn input_required_result() -> impl Strategy<Value = InputRequiredResult> {
    let input = (select(vec!["roots/list", "elicitation/create", "x-new"]), meta());
    let state = option::of(text().prop_map(|text| Json::from_value(&text).expect("it is JSON")));
    let made = made!(InputRequiredResult {
        input_requests: btree_map(text(), input, 0..3).prop_map(|inputs| {
            let input = |(name, (method, params)): (String, (&str, Option<Json>))| {
                let mut input = InputRequest::default();
                (input.name, input.method, input.params) = (name, method.into(), params);
                input
            };
            inputs.into_iter().map(input).collect::<Vec<_>>()
        }),
        request_state: state } with meta and extra);
    made.prop_filter("nothing is wished for", |result| {
        !result.input_requests.is_empty() || result.request_state.is_some()
    })
}

// What a client wants to be told of, and what the server agrees to.

types! {
    subscription_filter: SubscriptionFilter {
        tools_list_changed: any::<bool>(), prompts_list_changed: any::<bool>(), resources_list_changed: any::<bool>(),
        resource_subscriptions: vec(text(), 0..3), task_ids: vec(text(), 0..3),
    } with extra;
    subscriptions_acknowledged: SubscriptionsAcknowledged { notifications: subscription_filter() } with meta and extra;
    subscriptions_listen_result: SubscriptionsListenResult { result_type: complete() } with meta and extra;
}

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

types! {
    boolean_schema: BooleanSchema { title: word(), description: word(), default: flag() } with extra;
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

types! {
    elicit_form: ElicitForm {
        mode: option::of(Just("form".to_owned())), message: text(), requested_schema: form_schema(),
    } with meta and extra;
    elicit_url: ElicitUrl { message: text(), url: text(), elicitation_id: word() } with meta and extra;
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

types! {
    elicitation_complete: ElicitationComplete { elicitation_id: text() } with meta and extra;
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
            structured_content: option::of(json()),
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

types! {
    sampling_message: SamplingMessage { role: role(), content: contents() } with meta and extra;
    model_hint: ModelHint { name: word() } with extra;
    model_preferences: ModelPreferences {
        hints: vec(model_hint(), 0..3), cost_priority: option::of(number()), speed_priority: option::of(number()),
        intelligence_priority: option::of(number()),
    } with extra;
    tool_choice: ToolChoice { mode: option::of(one_of::<ToolChoiceMode>(&["auto", "required", "none"])) } with extra;
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

types! {
    create_message_result: CreateMessageResult {
        role: role(), content: contents(), model: text(),
        stop_reason: option::of(one_of::<StopReason>(&["endTurn", "stopSequence", "maxTokens", "toolUse"])),
    } with meta and extra;
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

types! {
    cancel_task_result: CancelTaskResult {
        task_id: word(), status: option::of(task_status()), status_message: word(), created_at: word(),
        last_updated_at: word(), ttl: whole(), poll_interval: whole(),
    } with meta and extra;
    list_tasks_result: ListTasksResult { tasks: listed(task()), next_cursor: word() } with meta and extra;
    tasks_capability: TasksCapability { list: meta(), cancel: meta(), requests: meta() } with extra;
}

pub(crate) fn tool_execution() -> impl Strategy<Value = ToolExecution> {
    let support = known_or_other::<TaskSupport>(&["forbidden", "optional", "required"]);
    made!(ToolExecution { task_support: option::of(support) } with extra)
}
