//! Methods as types: each fixes its parameters and its result.

use alloc::vec::Vec;

use serde::Serialize;
use serde::de::{Deserialize, DeserializeOwned};

use crate::json::Json;
use crate::json::from_json::strict;
use crate::json::read::{ReadError, Reader};
use crate::types::{
    CallToolOutcome, CallToolParams, CallToolResult, CancelTaskResult, CompleteParams, CompleteResult, DiscoverResult,
    GetPromptParams, GetPromptResult, InitializeParams, InitializeResult, ListParams, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListTasksResult, ListToolsResult, ReadResourceParams,
    ReadResourceResult, SetLevelParams, SubscribeParams, SubscriptionsListenParams, SubscriptionsListenResult, Task,
    TaskParams, UnsubscribeParams, UpdateTaskParams,
};

/// A request that the server answers.
///
/// Methods of vendors and extensions are as typed as those of the protocol:
///
/// ```
/// use mcpwire_core::{Method, Params};
///
/// struct Reindex;
///
/// #[derive(serde::Serialize)]
/// struct ReindexParams { folder: String }
///
/// #[derive(serde::Deserialize)]
/// struct ReindexResult { files: u64 }
///
/// impl Method for Reindex {
///     const NAME: &'static str = "acme/reindex";
///     type Result = ReindexResult;
/// }
/// impl Params<Reindex> for ReindexParams {}
/// ```
pub trait Method {
    /// The name of the method, as the protocol writes it.
    const NAME: &'static str;

    /// The result. It is read from JSON text in memory, and may have parts that are [`Json`].
    type Result: DeserializeOwned;

    /// Reads a result. The methods of the protocol read their results without serde; no other crate can override this, because
    /// none can name the reader.
    #[doc(hidden)]
    fn read(reader: &mut Reader<'_>) -> Result<Self::Result, ReadError> {
        Self::Result::deserialize(reader)
    }

    /// Checks a result that came over HTTP in the modern era, which has more rules for some results.
    #[doc(hidden)]
    fn over_http(result: Self::Result) -> Self::Result {
        result
    }
}

/// Parameters of the method `M`. They serialise as a JSON object, or as `null` for none.
///
/// `_meta` is not among them: set it in [`RequestOptions`](crate::RequestOptions).
pub trait Params<M: Method + ?Sized>: Serialize {
    /// Checks the text of the parameters, the object at the end of `out`, and may change it. `false` rejects them.
    #[doc(hidden)]
    fn check(_out: &mut Vec<u8>) -> bool {
        true
    }
}

/// A notification that the client sends.
pub trait Notice {
    /// The name of the method, as the protocol writes it.
    const NAME: &'static str;

    /// The parameters: a JSON object, or `null` for none.
    type Params: Serialize;
}

/// No parameters. The server decides whether it accepts that.
impl<M: Method> Params<M> for () {}

macro_rules! methods {
    ($( $(#[$meta:meta])* $Name:ident = $method:literal, $($Params:ty)? => $Result:ty, $read:path; )*) => { $(
        $(#[$meta])*
        pub enum $Name {}

        impl Method for $Name {
            const NAME: &'static str = $method;
            type Result = $Result;

            fn read(reader: &mut Reader<'_>) -> Result<$Result, ReadError> {
                $read(reader)
            }
        }
        $( impl Params<$Name> for $Params {} )?
    )* };
}

methods! {
    /// Opens a session with a legacy server. The engine sends this request.
    Initialize = "initialize", InitializeParams => InitializeResult, strict;
    /// Asks a modern server for its versions and capabilities. The engine sends this request first.
    Discover = "server/discover", => DiscoverResult, strict;
    /// Lists resources, a page at a time.
    ListResources = "resources/list", ListParams<'_> => ListResourcesResult, strict;
    /// Lists resource templates, a page at a time.
    ListResourceTemplates = "resources/templates/list", ListParams<'_> => ListResourceTemplatesResult, strict;
    /// Reads a resource.
    ReadResource = "resources/read", ReadResourceParams<'_> => ReadResourceResult, strict;
    /// Subscribes to changes of a resource (legacy; later revisions have `subscriptions/listen`).
    Subscribe = "resources/subscribe", SubscribeParams<'_> => Json, Json::read;
    /// Ends a subscription to a resource (legacy).
    Unsubscribe = "resources/unsubscribe", UnsubscribeParams<'_> => Json, Json::read;
    /// Opens a subscription (from 2026-07-28). [`Calls::subscribe`](crate::Calls::subscribe) sends this request. Sent as a plain
    /// request it has a deadline, and its notifications are ordinary ones.
    SubscriptionsListen = "subscriptions/listen", SubscriptionsListenParams<'_> => SubscriptionsListenResult, strict;
    /// Lists prompts, a page at a time.
    ListPrompts = "prompts/list", ListParams<'_> => ListPromptsResult, strict;
    /// Completes an argument of a prompt or resource template.
    Complete = "completion/complete", CompleteParams<'_> => CompleteResult, strict;
    /// Sets the least severe level of log messages (legacy; later revisions have it in each request).
    SetLevel = "logging/setLevel", SetLevelParams<'_> => Json, Json::read;
    /// Returns the status of a task; in the extension also its result.
    GetTask = "tasks/get", TaskParams<'_> => Task, strict;
    /// Waits for the result of a task (2025-11-25).
    GetTaskResult = "tasks/result", TaskParams<'_> => CallToolResult, strict;
    /// Answers the input requests of a task (extension).
    UpdateTask = "tasks/update", UpdateTaskParams<'_> => Json, Json::read;
    /// Cancels a task. The server may take its time, or may finish the task.
    CancelTask = "tasks/cancel", TaskParams<'_> => CancelTaskResult, strict;
    /// Lists the tasks of this client, a page at a time (2025-11-25).
    ListTasks = "tasks/list", ListParams<'_> => ListTasksResult, strict;
    /// Checks whether the server responds (legacy).
    Ping = "ping", => Json, Json::read;
}

/// Lists tools, a page at a time.
pub enum ListTools {}

impl Method for ListTools {
    const NAME: &'static str = "tools/list";
    type Result = ListToolsResult;

    fn read(reader: &mut Reader<'_>) -> Result<ListToolsResult, ReadError> {
        strict(reader)
    }

    #[cfg(feature = "http")]
    fn over_http(mut result: ListToolsResult) -> ListToolsResult {
        crate::header_params::reject_invalid(&mut result.tools);
        result
    }
}
impl Params<ListTools> for ListParams<'_> {}

/// Calls a tool.
pub enum CallTool {}

impl Method for CallTool {
    const NAME: &'static str = "tools/call";
    type Result = CallToolResult;

    fn read(reader: &mut Reader<'_>) -> Result<CallToolResult, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<CallTool> for CallToolParams<'_, A> {
    fn check(out: &mut Vec<u8>) -> bool {
        arguments_are_an_object(out)
    }
}

/// Checks that the arguments are an object, and replaces `null` by an empty one. The arguments are the last member, so the end of
/// the text tells.
fn arguments_are_an_object(out: &mut Vec<u8>) -> bool {
    if out.ends_with(b":null}") {
        out.truncate(out.len() - b"null}".len());
        out.extend_from_slice(b"{}}");
    }
    out.ends_with(b"}}")
}

/// Calls a tool, and returns its result as the JSON that the server sent.
pub enum CallToolRaw {}

impl Method for CallToolRaw {
    const NAME: &'static str = "tools/call";
    type Result = Json;

    fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
        Json::read(reader)
    }
}
impl<A: Serialize + ?Sized> Params<CallToolRaw> for CallToolParams<'_, A> {
    fn check(out: &mut Vec<u8>) -> bool {
        arguments_are_an_object(out)
    }
}

/// Calls a tool whose answer may be a task. [`RequestOptions::task`](crate::RequestOptions::task) and the server decide whether it is
/// one.
pub enum CallToolAsTask {}

impl Method for CallToolAsTask {
    const NAME: &'static str = "tools/call";
    type Result = CallToolOutcome;

    fn read(reader: &mut Reader<'_>) -> Result<CallToolOutcome, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<CallToolAsTask> for CallToolParams<'_, A> {
    fn check(out: &mut Vec<u8>) -> bool {
        arguments_are_an_object(out)
    }
}

/// Returns a prompt with its arguments filled in.
pub enum GetPrompt {}

impl Method for GetPrompt {
    const NAME: &'static str = "prompts/get";
    type Result = GetPromptResult;

    fn read(reader: &mut Reader<'_>) -> Result<GetPromptResult, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<GetPrompt> for GetPromptParams<'_, A> {}

/// Notifies the server that the roots have changed (legacy). Only for a client whose capability `roots` has `listChanged`.
pub enum RootsListChanged {}

impl Notice for RootsListChanged {
    const NAME: &'static str = "notifications/roots/list_changed";
    type Params = ();
}

/// Any method, by a name that is chosen at run time. See
/// [`Calls::request_raw`](crate::Calls::request_raw).
pub enum Raw {}

impl Method for Raw {
    const NAME: &'static str = "";
    type Result = Json;

    fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
        Json::read(reader)
    }
}
impl Params<Raw> for Json {}
