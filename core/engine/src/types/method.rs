//! Methods as types. Each method type determines the types of its parameters and its result.

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

/// A method that clients can request from a server.
///
/// Implement this trait for methods of vendors and extensions, to call them with types:
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
    /// Name of the method, as in JSON: for example `tools/call`.
    const NAME: &'static str;

    /// Type of the result. It is deserialized from JSON text in memory, so it may contain [`Json`] values.
    type Result: DeserializeOwned;

    /// Reads a result. Methods of the protocol read their results without serde. Other crates cannot override this
    /// function, because they cannot name `Reader`.
    #[doc(hidden)]
    fn read(reader: &mut Reader<'_>) -> Result<Self::Result, ReadError> {
        Self::Result::deserialize(reader)
    }

    /// Applies the rules that hold only for results received over HTTP in the modern era.
    #[doc(hidden)]
    fn over_http(result: Self::Result) -> Self::Result {
        result
    }
}

/// Parameters of the method `M`. They must serialize as a JSON object, or as `null` for no parameters.
///
/// They do not include `_meta`: set it in [`RequestOptions`](crate::RequestOptions).
pub trait Params<M: Method + ?Sized>: Serialize {
    /// Checks the serialized parameters, which are the object at the end of `out`, and may change them. Returns `false`
    /// to reject them.
    #[doc(hidden)]
    fn check(_out: &mut Vec<u8>) -> bool {
        true
    }
}

/// A notification that clients can send to a server.
pub trait ClientNotification {
    /// Name of the method, as in JSON: for example `tools/call`.
    const NAME: &'static str;

    /// Type of the parameters. They must serialize as a JSON object, or as `null` for no parameters.
    type Params: Serialize;
}

/// `()` means no parameters. The server decides whether it accepts a request without parameters.
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
    /// `initialize`: opens a session with a server of the legacy era. The engine sends this request.
    Initialize = "initialize", InitializeParams => InitializeResult, strict;
    /// `server/discover`: requests the protocol versions and capabilities of a server of the modern era. The engine
    /// sends this request first.
    Discover = "server/discover", => DiscoverResult, strict;
    /// `resources/list`: lists the resources of a server, one page per request.
    ListResources = "resources/list", ListParams<'_> => ListResourcesResult, strict;
    /// `resources/templates/list`: lists the resource templates of a server, one page per request.
    ListResourceTemplates = "resources/templates/list", ListParams<'_> => ListResourceTemplatesResult, strict;
    /// `resources/read`: reads the contents of a resource.
    ReadResource = "resources/read", ReadResourceParams<'_> => ReadResourceResult, strict;
    /// `resources/subscribe`: subscribes to changes of a resource (legacy era; later revisions have
    /// [`SubscriptionsListen`]).
    Subscribe = "resources/subscribe", SubscribeParams<'_> => Json, Json::read;
    /// `resources/unsubscribe`: ends a subscription to a resource (legacy era).
    Unsubscribe = "resources/unsubscribe", UnsubscribeParams<'_> => Json, Json::read;
    /// `subscriptions/listen`: opens a subscription (from revision 2026-07-28).
    ///
    /// Use [`Calls::subscribe`](crate::Calls::subscribe) instead of a plain request. A plain request has a deadline,
    /// and its notifications are not assigned to a subscription.
    SubscriptionsListen = "subscriptions/listen", SubscriptionsListenParams<'_> => SubscriptionsListenResult, strict;
    /// `prompts/list`: lists the prompts of a server, one page per request.
    ListPrompts = "prompts/list", ListParams<'_> => ListPromptsResult, strict;
    /// `completion/complete`: requests suggestions for an argument of a prompt or resource template.
    Complete = "completion/complete", CompleteParams<'_> => CompleteResult, strict;
    /// `logging/setLevel`: sets the minimum severity of log messages (legacy era; later revisions set it in each
    /// request).
    SetLevel = "logging/setLevel", SetLevelParams<'_> => Json, Json::read;
    /// `tasks/get`: requests the status of a task. In the tasks extension, the response also contains the result.
    GetTask = "tasks/get", TaskParams<'_> => Task, strict;
    /// `tasks/result`: waits for the result of a task (revision 2025-11-25).
    GetTaskResult = "tasks/result", TaskParams<'_> => CallToolResult, strict;
    /// `tasks/update`: answers the input requests of a task (tasks extension).
    UpdateTask = "tasks/update", UpdateTaskParams<'_> => Json, Json::read;
    /// `tasks/cancel`: requests the cancellation of a task. The server may cancel the task later, or may complete it.
    CancelTask = "tasks/cancel", TaskParams<'_> => CancelTaskResult, strict;
    /// `tasks/list`: lists the tasks of this client, one page per request (revision 2025-11-25).
    ListTasks = "tasks/list", ListParams<'_> => ListTasksResult, strict;
    /// `ping`: checks whether the server responds (legacy era).
    Ping = "ping", => Json, Json::read;
}

/// `tools/list`: lists the tools of a server, one page per request.
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

/// `tools/call`: calls a tool.
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

/// Checks that the arguments are an object, and replaces `null` by an empty object.
///
/// `arguments` is the last member of the parameters, so the end of the text suffices for the check.
fn arguments_are_an_object(out: &mut Vec<u8>) -> bool {
    if out.ends_with(b":null}") {
        out.truncate(out.len() - b"null}".len());
        out.extend_from_slice(b"{}}");
    }
    out.ends_with(b"}}")
}

/// `tools/call`: calls a tool and returns its result as [`Json`], as the server sent it.
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

/// `tools/call`: calls a tool whose result may be a task.
///
/// [`RequestOptions::task`](crate::RequestOptions::task) and the server determine whether it is a task.
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

/// `prompts/get`: requests a prompt with its arguments filled in.
pub enum GetPrompt {}

impl Method for GetPrompt {
    const NAME: &'static str = "prompts/get";
    type Result = GetPromptResult;

    fn read(reader: &mut Reader<'_>) -> Result<GetPromptResult, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<GetPrompt> for GetPromptParams<'_, A> {}

/// `notifications/roots/list_changed`: notifies the server that the client's roots have changed (legacy era).
///
/// Send it only if the client declares the capability `roots.listChanged`.
pub enum RootsListChanged {}

impl ClientNotification for RootsListChanged {
    const NAME: &'static str = "notifications/roots/list_changed";
    type Params = ();
}

/// A method whose name is chosen at run time. See [`Calls::request_raw`](crate::Calls::request_raw).
pub enum Raw {}

impl Method for Raw {
    const NAME: &'static str = "";
    type Result = Json;

    fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
        Json::read(reader)
    }
}
impl Params<Raw> for Json {}
