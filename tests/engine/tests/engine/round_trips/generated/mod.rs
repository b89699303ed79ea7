//! Any value of each type of the protocol.

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

mod server_requests;

pub(crate) use server_requests::*;

use mcpwire_core::internal::{
    DiscoverResult, InitializeParams, InitializeResult, InputRequest, InputRequiredResult, SubscriptionsAcknowledged,
    SubscriptionsListenResult,
};
use mcpwire_core::{
    Annotations, AudioContent, CallToolResult, ClientCapabilities, CompleteResult, Completion, ContentBlock,
    EmbeddedResource, Extra, GetPromptResult, Icon, ImageContent, Implementation, ItemList, Json, ListCapability,
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListRootsResult, ListToolsResult, LogMessage,
    LoggingLevel, Number, Progress, Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource,
    ResourceContents, ResourceLink, ResourceTemplate, ResourceUi, ResourceUpdated, ResourcesCapability, Role, Root,
    ServerCapabilities, SubscriptionFilter, TextContent, Tool, ToolAnnotations, ToolUi, UiCsp,
};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

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

pub(crate) fn icon() -> impl Strategy<Value = Icon> {
    made!(Icon { src: text(), mime_type: word(), sizes: vec(text(), 0..2), theme: word() } with extra)
}

fn icons() -> impl Strategy<Value = Vec<Icon>> {
    vec(icon(), 0..2)
}

pub(crate) fn annotations() -> impl Strategy<Value = Annotations> {
    made!(Annotations {
        audience: vec(text(), 0..2),
        priority: option::of(number().prop_map(Number::from)),
        last_modified: word() } with extra)
}

pub(crate) fn implementation() -> impl Strategy<Value = Implementation> {
    made!(Implementation {
        name: text(),
        version: text(),
        title: word(),
        description: word(),
        website_url: word(),
        icons: icons() } with extra)
}

pub(crate) fn resource_contents() -> impl Strategy<Value = ResourceContents> {
    made!(ResourceContents { uri: text(), mime_type: word(), text: word(), blob: word() } with meta and extra)
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

pub(crate) fn tool_annotations() -> impl Strategy<Value = ToolAnnotations> {
    made!(ToolAnnotations {
        title: word(),
        read_only_hint: flag(),
        destructive_hint: flag(),
        idempotent_hint: flag(),
        open_world_hint: flag() } with extra)
}

pub(crate) fn tool() -> impl Strategy<Value = Tool> {
    made!(Tool {
        name: name(),
        title: word(),
        description: word(),
        input_schema: object(),
        output_schema: option::of(object()),
        annotations: option::of(tool_annotations()),
        icons: icons(),
        execution: option::of(tool_execution().prop_map(Box::new)) } with meta and extra)
}

pub(crate) fn call_tool_result() -> impl Strategy<Value = CallToolResult> {
    made!(CallToolResult {
        content: vec(block(), 0..3),
        structured_content: option::of(json()),
        is_error: any::<bool>() } with meta and extra)
}

pub(crate) fn resource() -> impl Strategy<Value = Resource> {
    made!(Resource {
        uri: name(),
        name: name(),
        title: word(),
        description: word(),
        mime_type: word(),
        size: whole(),
        annotations: option::of(annotations()),
        icons: icons() } with meta and extra)
}

pub(crate) fn resource_template() -> impl Strategy<Value = ResourceTemplate> {
    made!(ResourceTemplate {
        uri_template: name(),
        name: name(),
        title: word(),
        description: word(),
        mime_type: word(),
        annotations: option::of(annotations()),
        icons: icons() } with meta and extra)
}

pub(crate) fn resource_updated() -> impl Strategy<Value = ResourceUpdated> {
    made!(ResourceUpdated { uri: text() } with meta and extra)
}

pub(crate) fn read_resource_result() -> impl Strategy<Value = ReadResourceResult> {
    made!(ReadResourceResult {
        contents: listed(resource_contents()),
        result_type: complete(),
        ttl_ms: whole(),
        cache_scope: word() } with meta and extra)
}

pub(crate) fn prompt_argument() -> impl Strategy<Value = PromptArgument> {
    made!(PromptArgument { name: text(), title: word(), description: word(), required: any::<bool>() } with extra)
}

pub(crate) fn prompt() -> impl Strategy<Value = Prompt> {
    made!(Prompt {
        name: name(),
        title: word(),
        description: word(),
        arguments: vec(prompt_argument(), 0..3),
        icons: icons() } with meta and extra)
}

pub(crate) fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::User), Just(Role::Assistant), text().prop_map(Role::from)]
}

pub(crate) fn prompt_message() -> impl Strategy<Value = PromptMessage> {
    made!(PromptMessage { role: role(), content: block() } with extra)
}

pub(crate) fn get_prompt_result() -> impl Strategy<Value = GetPromptResult> {
    made!(GetPromptResult {
        description: word(),
        messages: listed(prompt_message()),
        result_type: complete() } with meta and extra)
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

pub(crate) fn log_message() -> impl Strategy<Value = LogMessage> {
    made!(LogMessage { level: logging_level(), logger: word(), data: json() } with meta and extra)
}

pub(crate) fn progress() -> impl Strategy<Value = Progress> {
    made!(Progress {
        progress_token: option::of(json()),
        progress: number().prop_map(Number::from),
        total: option::of(number().prop_map(Number::from)),
        message: word() } with meta and extra)
}

pub(crate) fn root() -> impl Strategy<Value = Root> {
    made!(Root { uri: text(), name: word() } with meta and extra)
}

pub(crate) fn list_roots_result() -> impl Strategy<Value = ListRootsResult> {
    made!(ListRootsResult { roots: vec(root(), 0..3) } with meta and extra)
}

pub(crate) fn tool_ui() -> impl Strategy<Value = ToolUi> {
    made!(ToolUi { resource_uri: word(), visibility: vec(text(), 0..2) } with extra)
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

pub(crate) fn client_capabilities() -> impl Strategy<Value = ClientCapabilities> {
    made!(ClientCapabilities {
        roots: meta(),
        sampling: meta(),
        elicitation: meta(),
        tasks: meta(),
        extensions: meta(),
        experimental: meta() } with extra)
}

fn list_capability() -> impl Strategy<Value = ListCapability> {
    made!(ListCapability { list_changed: any::<bool>() } with extra)
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

pub(crate) fn initialize_params() -> impl Strategy<Value = InitializeParams> {
    made!(InitializeParams {
        protocol_version: text(),
        capabilities: client_capabilities(),
        client_info: implementation() } with extra)
}

pub(crate) fn initialize_result() -> impl Strategy<Value = InitializeResult> {
    made!(InitializeResult {
        protocol_version: word(),
        capabilities: option::of(server_capabilities()),
        server_info: option::of(implementation()),
        instructions: word() } with meta and extra)
}

pub(crate) fn discover_result() -> impl Strategy<Value = DiscoverResult> {
    made!(DiscoverResult {
        supported_versions: vec(text(), 0..3),
        capabilities: option::of(server_capabilities()),
        instructions: word(),
        server_info: option::of(implementation()),
        result_type: complete(),
        ttl_ms: whole(),
        cache_scope: word() } with meta and extra)
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

pub(crate) fn subscription_filter() -> impl Strategy<Value = SubscriptionFilter> {
    made!(SubscriptionFilter {
        tools_list_changed: any::<bool>(),
        prompts_list_changed: any::<bool>(),
        resources_list_changed: any::<bool>(),
        resource_subscriptions: vec(text(), 0..3),
        task_ids: vec(text(), 0..3) } with extra)
}

pub(crate) fn subscriptions_acknowledged() -> impl Strategy<Value = SubscriptionsAcknowledged> {
    made!(SubscriptionsAcknowledged { notifications: subscription_filter() } with meta and extra)
}

pub(crate) fn subscriptions_listen_result() -> impl Strategy<Value = SubscriptionsListenResult> {
    made!(SubscriptionsListenResult { result_type: complete() } with meta and extra)
}
