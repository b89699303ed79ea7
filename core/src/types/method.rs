//! What can be asked and told, as types: the name of a method fixes what it takes and what it answers.

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
    /// The method as it stands on the wire.
    const NAME: &'static str;

    /// What the server answers. It is decoded from JSON text in memory, so it may hold [`Json`] parts.
    type Result: DeserializeOwned;

    /// Reads a result. The methods of the protocol read their results without serde; no other crate can override this, because
    /// none can name the reader.
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "only this crate overrides it")]
    fn read(reader: &mut Reader<'_>) -> Result<Self::Result, ReadError> {
        Self::Result::deserialize(reader)
    }

    /// Looks at a result that came over HTTP in the modern era, where more is asked of some than elsewhere.
    #[doc(hidden)]
    fn over_http(result: Self::Result) -> Self::Result {
        result
    }
}

/// Parameters that the method `M` takes. They serialise as a JSON object, or as `null` for none. Their `_meta` is not
/// among them: it is given in the request's options.
pub trait Params<M: Method + ?Sized>: Serialize {
    /// Has the last word on the text of the parameters, the object that `out` ends with: `false` refuses them.
    #[doc(hidden)]
    fn check(_out: &mut Vec<u8>) -> bool {
        true
    }
}

/// A notification that the client sends.
pub trait Notice {
    /// The method as it stands on the wire.
    const NAME: &'static str;

    /// What it carries: a JSON object, or `null` for nothing.
    type Params: Serialize;
}

/// No parameters. Any method takes them, though the server may not.
impl<M: Method> Params<M> for () {}

macro_rules! methods {
    ($( $(#[$meta:meta])* $Name:ident = $method:literal, $Params:ty => $Result:ty, $read:path; )*) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy, Debug)]
        pub enum $Name {}

        impl Method for $Name {
            const NAME: &'static str = $method;
            type Result = $Result;

            #[expect(private_interfaces, reason = "as in the trait")]
            fn read(reader: &mut Reader<'_>) -> Result<$Result, ReadError> {
                $read(reader)
            }
        }
        impl Params<$Name> for $Params {}
    )* };
}

methods! {
    /// Opens a session with a legacy server. The engine sends it.
    Initialize = "initialize", InitializeParams => InitializeResult, strict;
    /// Asks a modern server what it is. The engine sends it first.
    Discover = "server/discover", DiscoverParams => DiscoverResult, strict;
    /// Lists resources, a page at a time.
    ListResources = "resources/list", ListParams<'_> => ListResourcesResult, strict;
    /// Lists resource templates, a page at a time.
    ListResourceTemplates = "resources/templates/list", ListParams<'_> => ListResourceTemplatesResult, strict;
    /// Reads a resource.
    ReadResource = "resources/read", ReadResourceParams<'_> => ReadResourceResult, strict;
    /// Asks to be told when a resource changes (legacy; later revisions have `subscriptions/listen`).
    Subscribe = "resources/subscribe", SubscribeParams<'_> => Json, Json::read;
    /// Asks not to be told any more (legacy).
    Unsubscribe = "resources/unsubscribe", UnsubscribeParams<'_> => Json, Json::read;
    /// Opens a subscription (from 2026-07-28). The engine sends it, see [`Session::subscribe`](crate::Session::subscribe); sent
    /// as a plain request, it has a deadline, and its notifications are told like all others.
    SubscriptionsListen = "subscriptions/listen", SubscriptionsListenParams<'_> => SubscriptionsListenResult, strict;
    /// Lists prompts, a page at a time.
    ListPrompts = "prompts/list", ListParams<'_> => ListPromptsResult, strict;
    /// Asks what an argument of a prompt or resource template may become.
    Complete = "completion/complete", CompleteParams<'_> => CompleteResult, strict;
    /// Says from which level on log messages are wanted (legacy; later revisions say so in each request).
    SetLevel = "logging/setLevel", SetLevelParams<'_> => Json, Json::read;
    /// Asks how a task stands; in the extension, the answer has the result as well.
    GetTask = "tasks/get", TaskParams<'_> => Task, strict;
    /// Waits for the result of a task, as its call would have answered (2025-11-25).
    GetTaskResult = "tasks/result", TaskParams<'_> => CallToolResult, strict;
    /// Answers what a task asks (extension).
    UpdateTask = "tasks/update", UpdateTaskParams<'_> => Json, Json::read;
    /// Asks for a task to be ended. The server may take its time, or finish it all the same.
    CancelTask = "tasks/cancel", TaskParams<'_> => CancelTaskResult, strict;
    /// Lists the tasks that the server has for this client, a page at a time (2025-11-25).
    ListTasks = "tasks/list", ListParams<'_> => ListTasksResult, strict;
    /// Asks whether the other side is there (legacy).
    Ping = "ping", PingParams => Json, Json::read;
}

/// `server/discover` takes nothing but `_meta`.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct DiscoverParams {}

/// `ping` takes nothing.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct PingParams {}

/// Lists tools, a page at a time.
#[derive(Clone, Copy, Debug)]
pub enum ListTools {}

impl Method for ListTools {
    const NAME: &'static str = "tools/list";
    type Result = ListToolsResult;

    #[expect(private_interfaces, reason = "as in the trait")]
    fn read(reader: &mut Reader<'_>) -> Result<ListToolsResult, ReadError> {
        strict(reader)
    }

    #[cfg(feature = "http")]
    fn over_http(mut result: ListToolsResult) -> ListToolsResult {
        crate::http::reject_unmirrorable(&mut result.tools);
        result
    }
}
impl Params<ListTools> for ListParams<'_> {}

/// Calls a tool.
#[derive(Clone, Copy, Debug)]
pub enum CallTool {}

impl Method for CallTool {
    const NAME: &'static str = "tools/call";
    type Result = CallToolResult;

    #[expect(private_interfaces, reason = "as in the trait")]
    fn read(reader: &mut Reader<'_>) -> Result<CallToolResult, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<CallTool> for CallToolParams<'_, A> {
    fn check(out: &mut Vec<u8>) -> bool {
        arguments_are_an_object(out)
    }
}

/// The arguments are the last member, so the end of the text tells what they are. None at all are an empty object.
fn arguments_are_an_object(out: &mut Vec<u8>) -> bool {
    if out.ends_with(b":null}") {
        out.truncate(out.len() - b"null}".len());
        out.extend_from_slice(b"{}}");
    }
    out.ends_with(b"}}")
}

/// Calls a tool, and keeps its answer as the JSON that the server sent.
#[derive(Clone, Copy, Debug)]
pub enum CallToolRaw {}

impl Method for CallToolRaw {
    const NAME: &'static str = "tools/call";
    type Result = Json;

    #[expect(private_interfaces, reason = "as in the trait")]
    fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
        Json::read(reader)
    }
}
impl<A: Serialize + ?Sized> Params<CallToolRaw> for CallToolParams<'_, A> {
    fn check(out: &mut Vec<u8>) -> bool {
        arguments_are_an_object(out)
    }
}

/// Calls a tool, and takes a task for an answer as well as a result. Whether it becomes one is up to
/// [`RequestOptions::task`](crate::RequestOptions::task) and the server.
#[derive(Clone, Copy, Debug)]
pub enum CallToolAsTask {}

impl Method for CallToolAsTask {
    const NAME: &'static str = "tools/call";
    type Result = CallToolOutcome;

    #[expect(private_interfaces, reason = "as in the trait")]
    fn read(reader: &mut Reader<'_>) -> Result<CallToolOutcome, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<CallToolAsTask> for CallToolParams<'_, A> {
    fn check(out: &mut Vec<u8>) -> bool {
        arguments_are_an_object(out)
    }
}

/// Asks for a prompt, filled in.
#[derive(Clone, Copy, Debug)]
pub enum GetPrompt {}

impl Method for GetPrompt {
    const NAME: &'static str = "prompts/get";
    type Result = GetPromptResult;

    #[expect(private_interfaces, reason = "as in the trait")]
    fn read(reader: &mut Reader<'_>) -> Result<GetPromptResult, ReadError> {
        strict(reader)
    }
}
impl<A: Serialize + ?Sized> Params<GetPrompt> for GetPromptParams<'_, A> {}

/// Tells that the roots have changed (legacy). Only for clients whose `roots` capability declares `listChanged`.
#[derive(Clone, Copy, Debug)]
pub enum RootsListChanged {}

impl Notice for RootsListChanged {
    const NAME: &'static str = "notifications/roots/list_changed";
    type Params = ();
}

/// Any method, by a name that is known when the program runs. See
/// [`Session::request_raw`](crate::Session::request_raw).
#[derive(Clone, Copy, Debug)]
pub enum Raw {}

impl Method for Raw {
    const NAME: &'static str = "";
    type Result = Json;

    #[expect(private_interfaces, reason = "as in the trait")]
    fn read(reader: &mut Reader<'_>) -> Result<Json, ReadError> {
        Json::read(reader)
    }
}
impl Params<Raw> for Json {}
