//! The table: what carries each definition, and how a value is read by it.

use std::fmt::Debug;

use mcpwire_core::internal::{
    Discover, DiscoverResult, GetTaskResult, Initialize, InitializeParams, InitializeResult, InputRequiredResult,
    Subscribe, SubscriptionsAcknowledged, SubscriptionsListen, SubscriptionsListenResult, Unsubscribe,
};
use mcpwire_core::{
    Annotations, CallTool, CallToolResult, CancelTask, CancelTaskResult, ClientCapabilities, ClientNotification,
    Complete, CompleteResult, ContentBlock, CreateMessageParams, CreateMessageResult, CreateTaskResult, ElicitParams,
    ElicitResult, FieldSchema, GetPrompt, GetPromptResult, GetTask, Icon, Implementation, Json, ListPrompts,
    ListPromptsResult, ListResourceTemplates, ListResourceTemplatesResult, ListResources, ListResourcesResult,
    ListRootsResult, ListTasks, ListTasksResult, ListTools, ListToolsResult, LogMessage, LoggingLevel, Method,
    ModelHint, ModelPreferences, Ping, Progress, Prompt, PromptArgument, PromptMessage, ReadResource,
    ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ResourceUpdated, Role, Root, RootsListChanged,
    SamplingContent, SamplingMessage, ServerCapabilities, SetLevel, SubscriptionFilter, Task, TaskStatus, Tool,
    ToolAnnotations, ToolChoice, ToolExecution, UpdateTask,
};
use mcpwire_engine_tests::spec::round_trip;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// What carries a definition.
pub(crate) enum Carrier {
    /// A type: all that the definition allows is read, known, and written as it was.
    Type(fn(&Value) -> Result<String, String>),
    /// The parameters of a notification as a type.
    Params(fn(&Value) -> Result<String, String>),
    /// A method that is sent, by its name.
    Sent(&'static str),
    /// A notification of the server's: the event that it becomes, as its `Debug` begins.
    Told(&'static str),
    /// The error of a request.
    Refusal,
    /// A part of what another row carries; says where it lies.
    Part(&'static str),
}
pub(crate) use Carrier::{Params, Part, Refusal, Sent, Told, Type};

pub(crate) fn reads<T: DeserializeOwned + Serialize + Debug>(value: &Value) -> Result<String, String> {
    round_trip::<T>(value).map(|read| format!("{read:?}"))
}

/// Wishes for input: with neither of two members they are none, which the schema does not say.
fn reads_wishes(value: &Value) -> Result<String, String> {
    let mut value = value.clone();
    if value.get("inputRequests").is_none() && value.get("requestState").is_none() {
        value["requestState"] = "state".into();
    }
    value["resultType"] = "input_required".into();
    reads::<InputRequiredResult>(&value)
}

fn reads_inputs(value: &Value) -> Result<String, String> {
    if value == &json!({}) { Ok(String::new()) } else { reads_wishes(&json!({"inputRequests": value})) }
}

fn reads_input(value: &Value) -> Result<String, String> {
    reads_inputs(&json!({"one": value}))
}

/// The answers to what a server wants, each read as the type that answers so.
fn reads_responses(value: &Value) -> Result<String, String> {
    let mut shown = String::new();
    for answer in value.as_object().into_iter().flat_map(|answers| answers.values()) {
        let members = |name| answer.get(name).is_some();
        shown += &match () {
            () if members("action") => reads::<ElicitResult>(answer)?,
            () if members("roots") => reads::<ListRootsResult>(answer)?,
            () => reads_said::<CreateMessageResult>(answer)?,
        };
    }
    Ok(shown)
}

/// What is said to a language model or by it. One piece alone is written as such, and why it said no more may be any text.
fn reads_said<T: DeserializeOwned + Serialize + Debug>(value: &Value) -> Result<String, String> {
    let mut value = value.clone();
    if value.get("stopReason").is_some_and(|reason| reason == "text") {
        value["stopReason"] = "endTurn".into();
    }
    for at in ["/content", "/messages/0/content"] {
        match value.pointer_mut(at) {
            Some(Value::Array(pieces)) if pieces.len() == 1 => pieces.extend_from_within(..),
            _ => {}
        }
    }
    reads::<T>(&value)
}

/// A field of a form. With nothing to choose from, a choice is none, which the schemas do not say.
fn reads_field(value: &Value) -> Result<String, String> {
    let mut value = value.clone();
    give_choices(&mut value);
    reads::<FieldSchema>(&value)
}

fn reads_elicitation(value: &Value) -> Result<String, String> {
    let mut value = value.clone();
    let fields = value.pointer_mut("/requestedSchema/properties").and_then(Value::as_object_mut);
    fields.into_iter().flatten().for_each(|(_, field)| give_choices(field));
    reads::<ElicitParams>(&value)
}

fn give_choices(field: &mut Value) {
    let titled = json!({"const": "a", "title": "A"});
    for (at, option) in
        [("/enum", json!("a")), ("/oneOf", titled.clone()), ("/items/enum", json!("a")), ("/items/anyOf", titled)]
    {
        match field.pointer_mut(at) {
            Some(Value::Array(options)) if options.is_empty() => options.push(option),
            _ => {}
        }
    }
}

/// Members that are read into no field of their own, and stay among the unknown ones.
pub(crate) const UNTYPED: &[(&str, &str)] = &[
    // The metadata of requests is not among their parameters.
    ("InitializeRequestParams", "_meta"),
    // Servers ask for tasks only of clients that declare that they run some, which this one does not.
    ("ElicitRequest", "task"),
    ("ElicitRequestParams", "task"),
    ("ElicitRequestFormParams", "task"),
    ("ElicitRequestURLParams", "task"),
    ("CreateMessageRequest", "task"),
    ("CreateMessageRequestParams", "task"),
    // Which JSON Schema a form is written in: there is one that a form can be written in.
    ("ElicitRequest", "$schema"),
    ("ElicitRequestParams", "$schema"),
    ("ElicitRequestFormParams", "$schema"),
    // The values of a choice are texts; it says so beside them.
    ("ElicitRequest", "type"),
    ("ElicitRequestParams", "type"),
    ("ElicitRequestFormParams", "type"),
    ("PrimitiveSchemaDefinition", "type"),
    ("EnumSchema", "type"),
    ("MultiSelectEnumSchema", "type"),
    ("UntitledMultiSelectEnumSchema", "type"),
];

#[rustfmt::skip]
pub(crate) const CARRIERS: &[(&str, Carrier)] = &[
    // Messages.
    ("JSONRPCMessage", Part("a line")),
    ("JSONRPCRequest", Part("Session::request; Event::Ask")),
    ("JSONRPCNotification", Part("Session::notify; Event::Notification")),
    ("JSONRPCResponse", Part("Reply")),
    ("JSONRPCResultResponse", Part("Reply; Session::answer")),
    ("JSONRPCErrorResponse", Part("CallError::Server; Session::refuse")),
    ("JSONRPCError", Part("CallError::Server; Session::refuse")),
    ("JSONRPCBatchRequest", Part("read message by message; never sent")),
    ("JSONRPCBatchResponse", Part("read message by message; never sent")),
    ("Request", Part("Method")),
    ("Notification", Part("ClientNotification")),
    ("Result", Part("the type of each result")),
    ("EmptyResult", Part("Json, the result of Ping, SetLevel, Subscribe")),
    ("RequestId", Part("numbers of the session's; those of servers are sent back as they came")),
    ("RequestParams", Part("Params; RequestOptions::meta")),
    ("NotificationParams", Part("Notice::Params")),
    ("Error", Part("RpcError")),
    ("ClientRequest", Part("Method")),
    ("ClientNotification", Part("ClientNotification")),
    ("ClientResult", Part("Session::answer")),
    ("ServerRequest", Part("Event::Ask")),
    ("ServerNotification", Part("Notification")),
    ("ServerResult", Part("Method::Result")),
    ("ResultType", Part("result_type of each result")),
    ("JSONValue", Type(reads::<Json>)),
    ("JSONObject", Type(reads::<Json>)),
    ("JSONArray", Type(reads::<Json>)),
    ("MetaObject", Part("meta: Json")),
    ("RequestMetaObject", Part("the session's own; RequestOptions::meta")),
    ("ResultMetaObject", Part("meta: Json")),
    ("NotificationMetaObject", Part("meta: Json")),
    // Errors.
    ("ParseError", Refusal),
    ("InvalidRequestError", Refusal),
    ("MethodNotFoundError", Refusal),
    ("InvalidParamsError", Refusal),
    ("InternalError", Refusal),
    ("HeaderMismatchError", Refusal),
    ("MissingRequiredClientCapabilityError", Refusal),
    ("UnsupportedProtocolVersionError", Refusal),
    ("URLElicitationRequiredError", Refusal),
    // Opening.
    ("InitializeRequest", Sent(Initialize::NAME)),
    ("InitializeRequestParams", Type(reads::<InitializeParams>)),
    ("InitializeResult", Type(reads::<InitializeResult>)),
    ("InitializedNotification", Sent("notifications/initialized")),
    ("DiscoverRequest", Sent(Discover::NAME)),
    ("DiscoverResult", Type(reads::<DiscoverResult>)),
    ("DiscoverResultResponse", Part("Reply: DiscoverResult")),
    ("ClientCapabilities", Type(reads::<ClientCapabilities>)),
    ("ServerCapabilities", Type(reads::<ServerCapabilities>)),
    ("Implementation", Type(reads::<Implementation>)),
    ("Icon", Type(reads::<Icon>)),
    ("Icons", Part("icons of Tool, Prompt, Resource, Implementation")),
    ("BaseMetadata", Part("name and title of Tool, Prompt, Resource, Implementation")),
    ("PingRequest", Sent(Ping::NAME)),
    // Lists.
    ("Cursor", Part("ListParams::cursor, next_cursor")),
    ("PaginatedRequest", Part("ListParams")),
    ("PaginatedRequestParams", Part("ListParams")),
    ("PaginatedResult", Part("PagedList; next_cursor")),
    ("CacheableResult", Part("ttl_ms and cache_scope of each list, ReadResourceResult, DiscoverResult")),
    // Tools.
    ("ListToolsRequest", Sent(ListTools::NAME)),
    ("ListToolsResult", Type(reads::<ListToolsResult>)),
    ("ListToolsResultResponse", Part("Reply: ListToolsResult")),
    ("Tool", Type(reads::<Tool>)),
    ("ToolAnnotations", Type(reads::<ToolAnnotations>)),
    ("ToolExecution", Type(reads::<ToolExecution>)),
    ("CallToolRequest", Sent(CallTool::NAME)),
    ("CallToolRequestParams", Part("CallToolParams")),
    ("CallToolResult", Type(reads::<CallToolResult>)),
    ("CallToolResultResponse", Part("Reply: CallToolResult")),
    ("ToolListChangedNotification", Told("ToolsChanged")),
    // Content.
    ("Annotated", Part("annotations of each block and resource")),
    ("Annotations", Type(reads::<Annotations>)),
    ("Role", Type(reads::<Role>)),
    ("ContentBlock", Type(reads::<ContentBlock>)),
    ("TextContent", Type(reads::<ContentBlock>)),
    ("ImageContent", Type(reads::<ContentBlock>)),
    ("AudioContent", Type(reads::<ContentBlock>)),
    ("ResourceLink", Type(reads::<ContentBlock>)),
    ("EmbeddedResource", Type(reads::<ContentBlock>)),
    // Resources.
    ("ListResourcesRequest", Sent(ListResources::NAME)),
    ("ListResourcesResult", Type(reads::<ListResourcesResult>)),
    ("ListResourcesResultResponse", Part("Reply: ListResourcesResult")),
    ("ListResourceTemplatesRequest", Sent(ListResourceTemplates::NAME)),
    ("ListResourceTemplatesResult", Type(reads::<ListResourceTemplatesResult>)),
    ("ListResourceTemplatesResultResponse", Part("Reply: ListResourceTemplatesResult")),
    ("Resource", Type(reads::<Resource>)),
    ("ResourceTemplate", Type(reads::<ResourceTemplate>)),
    ("ReadResourceRequest", Sent(ReadResource::NAME)),
    ("ReadResourceRequestParams", Part("ReadResourceParams")),
    ("ResourceRequestParams", Part("ReadResourceParams, SubscribeParams")),
    ("ReadResourceResult", Type(reads::<ReadResourceResult>)),
    ("ReadResourceResultResponse", Part("Reply: ReadResourceResult")),
    ("ResourceContents", Type(reads::<ResourceContents>)),
    ("TextResourceContents", Type(reads::<ResourceContents>)),
    ("BlobResourceContents", Type(reads::<ResourceContents>)),
    ("SubscribeRequest", Sent(Subscribe::NAME)),
    ("SubscribeRequestParams", Part("SubscribeParams")),
    ("UnsubscribeRequest", Sent(Unsubscribe::NAME)),
    ("UnsubscribeRequestParams", Part("UnsubscribeParams")),
    ("ResourceListChangedNotification", Told("ResourcesChanged")),
    ("ResourceUpdatedNotification", Params(reads::<ResourceUpdated>)),
    ("ResourceUpdatedNotificationParams", Type(reads::<ResourceUpdated>)),
    // Prompts and completion.
    ("ListPromptsRequest", Sent(ListPrompts::NAME)),
    ("ListPromptsResult", Type(reads::<ListPromptsResult>)),
    ("ListPromptsResultResponse", Part("Reply: ListPromptsResult")),
    ("Prompt", Type(reads::<Prompt>)),
    ("PromptArgument", Type(reads::<PromptArgument>)),
    ("PromptMessage", Type(reads::<PromptMessage>)),
    ("GetPromptRequest", Sent(GetPrompt::NAME)),
    ("GetPromptRequestParams", Part("GetPromptParams")),
    ("GetPromptResult", Type(reads::<GetPromptResult>)),
    ("GetPromptResultResponse", Part("Reply: GetPromptResult")),
    ("PromptListChangedNotification", Told("PromptsChanged")),
    ("CompleteRequest", Sent(Complete::NAME)),
    ("CompleteRequestParams", Part("CompleteParams")),
    ("CompleteResult", Type(reads::<CompleteResult>)),
    ("CompleteResultResponse", Part("Reply: CompleteResult")),
    ("PromptReference", Part("CompletionReference::Prompt")),
    ("ResourceReference", Part("CompletionReference::ResourceTemplate")),
    ("ResourceTemplateReference", Part("CompletionReference::ResourceTemplate")),
    // What is told on the way.
    ("ProgressToken", Part("RequestOptions::progress; Progress::progress_token")),
    ("ProgressNotification", Params(reads::<Progress>)),
    ("ProgressNotificationParams", Type(reads::<Progress>)),
    ("CancelledNotification", Sent("notifications/cancelled")),
    ("CancelledNotificationParams", Part("Session::cancel; Event::AskCancelled")),
    ("LoggingLevel", Type(reads::<LoggingLevel>)),
    ("LoggingMessageNotification", Told("Log")),
    ("LoggingMessageNotificationParams", Type(reads::<LogMessage>)),
    ("SetLevelRequest", Sent(SetLevel::NAME)),
    ("SetLevelRequestParams", Part("SetLevelParams")),
    // Roots.
    ("ListRootsRequest", Part("Event::Ask, without parameters of its own")),
    ("ListRootsResult", Type(reads::<ListRootsResult>)),
    ("Root", Type(reads::<Root>)),
    ("RootsListChangedNotification", Sent(RootsListChanged::NAME)),
    // Elicitation and sampling.
    ("ElicitRequest", Params(reads_elicitation)),
    ("ElicitRequestParams", Type(reads_elicitation)),
    ("ElicitRequestFormParams", Type(reads_elicitation)),
    ("ElicitRequestURLParams", Type(reads_elicitation)),
    ("PrimitiveSchemaDefinition", Type(reads_field)),
    ("BooleanSchema", Type(reads_field)),
    ("NumberSchema", Type(reads_field)),
    ("StringSchema", Type(reads_field)),
    ("EnumSchema", Type(reads_field)),
    ("LegacyTitledEnumSchema", Type(reads_field)),
    ("SingleSelectEnumSchema", Type(reads_field)),
    ("MultiSelectEnumSchema", Type(reads_field)),
    ("TitledSingleSelectEnumSchema", Type(reads_field)),
    ("TitledMultiSelectEnumSchema", Type(reads_field)),
    ("UntitledSingleSelectEnumSchema", Type(reads_field)),
    ("UntitledMultiSelectEnumSchema", Type(reads_field)),
    ("ElicitResult", Type(reads::<ElicitResult>)),
    ("ElicitationCompleteNotification", Told("ElicitationComplete")),
    ("CreateMessageRequest", Params(reads_said::<CreateMessageParams>)),
    ("CreateMessageRequestParams", Type(reads_said::<CreateMessageParams>)),
    ("CreateMessageResult", Type(reads_said::<CreateMessageResult>)),
    ("ModelPreferences", Type(reads::<ModelPreferences>)),
    ("ModelHint", Type(reads::<ModelHint>)),
    ("SamplingMessage", Type(reads_said::<SamplingMessage>)),
    ("SamplingMessageContentBlock", Type(reads::<SamplingContent>)),
    ("ToolChoice", Type(reads::<ToolChoice>)),
    ("ToolUseContent", Type(reads::<SamplingContent>)),
    ("ToolResultContent", Type(reads::<SamplingContent>)),
    // Multi round-trip requests.
    ("InputRequest", Type(reads_input)),
    ("InputRequests", Type(reads_inputs)),
    ("InputRequiredResult", Type(reads_wishes)),
    ("InputResponse", Part("ElicitResult, CreateMessageResult, ListRootsResult; Session::answer")),
    ("InputResponses", Type(reads_responses)),
    ("InputResponseRequestParams", Part("the session's own: requests that are sent again")),
    // Subscriptions.
    ("SubscriptionFilter", Type(reads::<SubscriptionFilter>)),
    ("SubscriptionsListenRequest", Sent(SubscriptionsListen::NAME)),
    ("SubscriptionsListenRequestParams", Part("SubscriptionsListenParams; the session's own metadata")),
    ("SubscriptionsListenResult", Type(reads::<SubscriptionsListenResult>)),
    ("SubscriptionsListenResultMetaObject", Part("meta: Json")),
    ("SubscriptionsListenResultResponse", Part("SubscriptionEnd::ByServer; Reply: SubscriptionsListenResult")),
    ("SubscriptionsAcknowledgedNotification", Params(reads::<SubscriptionsAcknowledged>)),
    ("SubscriptionsAcknowledgedNotificationParams", Type(reads::<SubscriptionsAcknowledged>)),
    // Tasks: experimental in 2025-11-25, an extension later.
    ("Task", Type(reads::<Task>)),
    ("TaskMetadata", Part("RequestOptions::task_ttl")),
    ("TaskStatus", Type(reads::<TaskStatus>)),
    ("RelatedTaskMetadata", Part("the session's own: answers carry back what the request had in `_meta`")),
    ("TaskAugmentedRequestParams", Part("RequestOptions::task and task_ttl")),
    ("CreateTaskResult", Type(reads::<CreateTaskResult>)),
    ("GetTaskRequest", Sent(GetTask::NAME)),
    ("GetTaskResult", Type(reads::<Task>)),
    ("GetTaskPayloadRequest", Sent(GetTaskResult::NAME)),
    ("GetTaskPayloadResult", Part("Reply: CallToolResult, as the call would have been answered")),
    ("ListTasksRequest", Sent(ListTasks::NAME)),
    ("ListTasksResult", Type(reads::<ListTasksResult>)),
    ("CancelTaskRequest", Sent(CancelTask::NAME)),
    ("CancelTaskResult", Type(reads::<CancelTaskResult>)),
    ("UpdateTaskRequest", Sent(UpdateTask::NAME)),
    ("UpdateTaskResult", Type(reads::<Json>)),
    ("TaskStatusNotification", Told("TaskStatus")),
    ("TaskStatusNotificationParams", Type(reads::<Task>)),
    ("DetailedTask", Type(reads::<Task>)),
    ("WorkingTask", Type(reads::<Task>)),
    ("InputRequiredTask", Type(reads::<Task>)),
    ("CompletedTask", Type(reads::<Task>)),
    ("FailedTask", Type(reads::<Task>)),
    ("CancelledTask", Type(reads::<Task>)),
    ("TaskSubscriptionNotifications", Type(reads::<SubscriptionFilter>)),
    ("TaskSubscriptionAcknowledgedNotifications", Type(reads::<SubscriptionFilter>)),
    ("TasksExtensionCapability", Part("an empty object: Config::declare_tasks")),
];
