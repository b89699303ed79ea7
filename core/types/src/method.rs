//! Methods as types. Each method type determines the types of its parameters and its result.

use alloc::vec::Vec;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::arguments;
use crate::{
    CallToolOutcome, CallToolParams, CallToolResult, CancelTaskResult, CompleteParams, CompleteResult, GetPromptParams,
    GetPromptResult, ListParams, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListTasksResult,
    ListToolsResult, ReadResourceParams, ReadResourceResult, SetLevelParams, Task, TaskParams, Tool, UpdateTaskParams,
};
use mcpwire_text::json::from_json::strict;
use mcpwire_text::json::read::{ReadError, Reader};
use mcpwire_text::json::{ItemList, Json};

/// A request method, such as `tools/call`: the name of the method, and the type of the result.
///
/// Implement this trait for methods of vendors and extensions, to send requests with typed parameters and results:
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_types::{Method, Params}; } }
/// use mcpwire::types::{Method, Params};
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
    /// Value of the member `method` of the JSON-RPC request, for example `tools/call`.
    const NAME: &'static str;

    /// Type to which the result is deserialized. It can be [`Json`], or have fields of this type, to keep the JSON
    /// text.
    type Result: DeserializeOwned;

    /// Reads the result of the request from JSON. The default implementation deserializes it with `serde_json`.
    #[doc(hidden)]
    fn read(reader: &mut Reader<'_>) -> Result<Self::Result, ReadError> {
        reader.decode()
    }

    /// Returns the tools in the result of `tools/list`, so that the HTTP engine can reject those with invalid
    /// `x-mcp-header` annotations. `None` for all other methods.
    #[doc(hidden)]
    fn tools(_result: &mut Self::Result) -> Option<&mut ItemList<Tool>> {
        None
    }
}

/// Parameters of requests with the method `M`. They must serialize as a JSON object, or as `null` for no parameters.
///
/// `_meta` is not part of the parameters: set it in `RequestOptions`.
pub trait Params<M: Method + ?Sized>: Serialize {
    /// Checks the parameters that were just serialized to `out`, from `start` to its end, and may correct them. If this
    /// returns `false`, the request is not sent.
    ///
    /// The default implementation accepts all parameters.
    #[doc(hidden)]
    fn check(_out: &mut Vec<u8>, _start: usize) -> bool {
        true
    }
}

/// A notification that clients can send to a server: its method name and the type of its parameters.
pub trait ClientNotification {
    /// Value of the member `method` of the JSON-RPC notification, for example `notifications/roots/list_changed`.
    const NAME: &'static str;

    /// Type of the notification's parameters. They must serialize as a JSON object, or as `null` for no parameters.
    type Params: Serialize;
}

/// `()` stands for a request without parameters. The server may reject the request if its method requires parameters.
impl<M: Method> Params<M> for () {}

/// Defines MCP methods: the name of the type, the method, its parameters, its result, and the function that reads the
/// result.
#[doc(hidden)]
#[macro_export]
macro_rules! methods {
    ($( $(#[$meta:meta])* $Name:ident = $method:literal, $($Params:ty)? => $Result:ty, $read:path $({ $tools:item })?; )*) => { $(
        $(#[$meta])*
        #[doc(alias = $method)]
        pub enum $Name {}

        impl $crate::Method for $Name {
            const NAME: &'static str = $method;
            type Result = $Result;

            fn read(reader: &mut mcpwire_text::json::read::Reader<'_>) -> mcpwire_text::json::read::Result<$Result> {
                $read(reader)
            }

            $($tools)?
        }
        $( impl $crate::Params<$Name> for $Params {} )?
    )* };
}

methods! {
    /// `tools/list`: lists the tools of a server, one page per request.
    ListTools = "tools/list", ListParams<'_> => ListToolsResult, strict {
        fn tools(result: &mut ListToolsResult) -> Option<&mut ItemList<Tool>> {
            Some(&mut result.tools)
        }
    };
    /// `resources/list`: lists the resources of a server, one page per request.
    ListResources = "resources/list", ListParams<'_> => ListResourcesResult, strict;
    /// `resources/templates/list`: lists the resource templates of a server, one page per request.
    ListResourceTemplates = "resources/templates/list", ListParams<'_> => ListResourceTemplatesResult, strict;
    /// `resources/read`: reads the contents of a resource.
    ReadResource = "resources/read", ReadResourceParams<'_> => ReadResourceResult, strict;
    /// `prompts/list`: lists the prompts of a server, one page per request.
    ListPrompts = "prompts/list", ListParams<'_> => ListPromptsResult, strict;
    /// `completion/complete`: requests suggestions for an argument of a prompt or resource template.
    Complete = "completion/complete", CompleteParams<'_> => CompleteResult, strict;
    /// `logging/setLevel`: sets the minimum severity of the log messages that the server sends (up to protocol revision
    /// 2025-11-25; in later revisions, each request contains the level).
    SetLevel = "logging/setLevel", SetLevelParams<'_> => Json, Reader::json;
    /// `tasks/get`: requests the status of a task. In the tasks extension, the response for a completed task also
    /// contains the result of the call that created the task.
    GetTask = "tasks/get", TaskParams<'_> => Task, strict;
    /// `tasks/update`: sends the client's answers to the input that the server requested for a task (tasks extension).
    UpdateTask = "tasks/update", UpdateTaskParams<'_> => Json, Reader::json;
    /// `tasks/cancel`: requests the cancellation of a task. In the tasks extension, a successful response does not mean
    /// that the task has stopped: the task may continue, and even complete.
    CancelTask = "tasks/cancel", TaskParams<'_> => CancelTaskResult, strict;
    /// `tasks/list`: lists the tasks that a server stores for this client, one page per request (protocol revision
    /// 2025-11-25 only).
    ListTasks = "tasks/list", ListParams<'_> => ListTasksResult, strict;
    /// `tools/call`: calls a tool and returns its result as [`CallToolResult`].
    CallTool = "tools/call", => CallToolResult, strict;
    /// `tools/call`: calls a tool and returns its result as [`Json`], exactly as the server sent it.
    CallToolRaw = "tools/call", => Json, Reader::json;
    /// `tools/call`: calls a tool. The server returns the tool's result, or a task that it created for the call.
    ///
    /// To receive the task, set `RequestOptions::task` to
    /// `TaskMode::Handle`. In the other modes, the session polls the task and returns the tool's
    /// result.
    CallToolAsTask = "tools/call", => CallToolOutcome, strict;
    /// `prompts/get`: requests the messages of a prompt, with the prompt's arguments filled in.
    GetPrompt = "prompts/get", => GetPromptResult, strict;
    /// `ping`: checks whether the server responds (up to protocol revision 2025-11-25).
    #[doc(alias = "PingRequest")]
    Ping = "ping", => Json, Reader::json;
}

macro_rules! takes_tool_arguments {
    ($($Method:ty)*) => { $(
        impl<A: Serialize + ?Sized> Params<$Method> for CallToolParams<'_, A> {
            fn check(out: &mut Vec<u8>, start: usize) -> bool {
                arguments::make_object(out, start)
            }
        }
    )* };
}

takes_tool_arguments! { CallTool CallToolRaw CallToolAsTask }

impl<A: Serialize + ?Sized> Params<GetPrompt> for GetPromptParams<'_, A> {}

/// `notifications/roots/list_changed`: notifies the server that the client's roots have changed (up to protocol
/// revision 2025-11-25).
///
/// Send this notification only if the client declares the capability `roots.listChanged`.
#[doc(alias("notifications/roots/list_changed", "RootsListChangedNotification"))]
pub enum RootsListChanged {}

impl ClientNotification for RootsListChanged {
    const NAME: &'static str = "notifications/roots/list_changed";
    type Params = ();
}

/// A request method whose name the caller passes to `Calls::request_raw` at run time. Its
/// [`Method::NAME`] is empty.
pub enum Raw {}

impl Method for Raw {
    const NAME: &'static str = "";
    type Result = Json;

    fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
        reader.json()
    }
}
impl Params<Raw> for Json {}
