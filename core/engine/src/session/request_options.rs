//! [`RequestOptions`]: the options of one request. [`Tag`]: data of the program that travels with it.

use alloc::sync::Arc;
use core::any::Any;
use core::time::Duration;

use super::meta::{merged, to_json};
use mcpwire_text::json::{Extra, Json, JsonText};
use mcpwire_types::TraceContext;

/// The options of one request.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
#[must_use = "options have no effect until they are used"]
pub struct RequestOptions {
    /// Maximum time the request waits for a response or a progress notification. `None` uses
    /// [`Config::request_timeout`](super::Config::request_timeout).
    pub timeout: Option<Duration>,
    /// Maximum total duration of the request, regardless of progress. If `None`, the longer of
    /// [`Config::total_timeout`](super::Config::total_timeout) and [`RequestOptions::timeout`] applies.
    pub total_timeout: Option<Duration>,
    /// Whether the request asks the server for progress notifications.
    pub(crate) progress: bool,
    /// Additional members for the `_meta` of the request. Must be a JSON object, or `None` for no additional members.
    ///
    /// If the session itself sets a member with the same name, the server receives the value of the session.
    pub meta: Option<Json>,
    /// Whether the session sends the request to the server even if the cache contains a valid response.
    pub fresh: bool,
    /// Whether the session may use an outdated response from the cache if the request fails.
    pub stale_if_error: bool,
    pub(crate) task: TaskMode,
    /// How long the server should keep the task after its creation, if a tool call runs as a task (revision
    /// 2025-11-25). If `None`, the server decides.
    ///
    /// This field has no effect with later revisions.
    pub task_ttl: Option<Duration>,
    /// Whether the server may execute the request twice. Default: `false`.
    ///
    /// If `true`, and the server ends the HTTP session before the response arrives, the engine opens a new HTTP session
    /// and sends the request again. Without HTTP, this field has no effect.
    pub repeatable: bool,
    /// Data that the session does not interpret, and repeats in [`Event::RequestSent`](crate::Event::RequestSent).
    pub tag: Option<Tag>,
}

/// Whether a `tools/call` may become a task, and who polls the task.
///
/// | | from revision 2026-07-28: the server may respond with a task | revision 2025-11-25: the client requests a task |
/// |---|---|---|
/// | `Session` | if the client declares tasks; the session polls | if the tool requires a task and [`Config::follow_tasks`](super::Config::follow_tasks) was called; the session polls |
/// | `Follow` | always; the session polls | if the server and the tool allow tasks; the session polls |
/// | `Handle` | always; the caller receives the task and polls | if the server and the tool allow tasks; the caller receives the task and polls |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[doc(alias("TaskMetadata", "TaskAugmentedRequestParams"))]
pub enum TaskMode {
    /// [`Config::follow_tasks`](super::Config::follow_tasks) and [`Config::declare_tasks`](super::Config::declare_tasks) decide whether the tool call may become a task. The
    /// session polls the task, and reports the result of the task as the result of the tool call.
    #[default]
    Session,
    /// The tool call may become a task, even if the [`Config`](super::Config) does not allow tasks. The session polls the task, and
    /// reports the result of the task as the result of the tool call.
    Follow,
    /// The tool call may become a task, even if the [`Config`](super::Config) does not allow tasks. The tool call then ends as soon as
    /// the server has created the task, and the program itself polls the task.
    ///
    /// Use this mode with [`CallToolAsTask`](crate::CallToolAsTask), whose result can contain a task.
    Handle,
}

impl RequestOptions {
    /// Creates options that use the defaults of the session's [`Config`](super::Config).
    pub fn new() -> Self {
        RequestOptions::default()
    }

    /// Sets the maximum time the request waits for a response or a progress notification.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets the maximum total duration of the request, regardless of progress.
    pub fn total_timeout(mut self, timeout: Duration) -> Self {
        self.total_timeout = Some(timeout);
        self
    }

    /// Returns whether the request asks the server for progress notifications.
    pub fn wants_progress(&self) -> bool {
        self.progress
    }

    /// Requests progress notifications from the server. Each notification restarts [`RequestOptions::timeout`], but not
    /// [`RequestOptions::total_timeout`].
    pub fn progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Makes the session send the request to the server even if the cache contains a valid response.
    pub fn fresh(mut self) -> Self {
        self.fresh = true;
        self
    }

    /// Lets the session use an outdated response from the cache if the request fails.
    pub fn stale_if_error(mut self) -> Self {
        self.stale_if_error = true;
        self
    }

    /// Sets whether a `tools/call` request may become a task, and whether the session or the program polls that task.
    ///
    /// With revision 2025-11-25, the session adds the parameter `task` to such a request. A parameter `task` of the program
    /// ([`Calls::request_raw`](super::Calls::request_raw)) takes its place.
    pub fn task(mut self, mode: TaskMode) -> Self {
        self.task = mode;
        self
    }

    /// Returns whether a `tools/call` request may become a task, and whether the session or the program polls that
    /// task.
    pub fn task_mode(&self) -> TaskMode {
        self.task
    }

    /// Sets how long the server should keep the task after its creation (revision 2025-11-25). See
    /// [`RequestOptions::task_ttl`].
    pub fn task_ttl(mut self, ttl: Duration) -> Self {
        self.task_ttl = Some(ttl);
        self
    }

    /// Adds the fields of a trace context to the request's `_meta`, and replaces existing members with the same names.
    pub fn trace_context(mut self, context: &TraceContext) -> Self {
        let context = trace_members(context);
        self.meta = Some(match &self.meta {
            // Sending a request with this `_meta` fails, so the trace context would have no effect.
            Some(meta) if !meta.is_object() => return self,
            Some(meta) => merged(&context, meta),
            None => context,
        });
        self
    }

    /// Returns a copy of the options that contains the trace context. If the `_meta` of the options already contains
    /// `traceparent`, returns an unchanged copy.
    pub fn in_trace(&self, context: &TraceContext) -> Self {
        let named = self.meta.as_ref().is_some_and(|meta| meta.member_text("traceparent").is_some());
        if named { self.clone() } else { self.clone().trace_context(context) }
    }

    /// Allows the server to execute the request twice: the engine may send the request again if the server ends the
    /// HTTP session before the response arrives.
    pub fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Sets the additional members for the `_meta` of the request, and replaces those set before. `meta` must be a JSON
    /// object; otherwise the request fails with [`SendError::NotAnObject`](crate::SendError::NotAnObject).
    pub fn meta(mut self, meta: Json) -> Self {
        self.meta = Some(meta);
        self
    }
}

/// Data of the program that travels with a request. The session does not interpret the data.
///
/// Set by [`RequestOptions::tag`](super::RequestOptions::tag), and repeated in
/// [`Event::RequestSent`](super::Event::RequestSent). Clones share the data. Two tags are equal if they share their data.
#[derive(Clone, Debug)]
pub struct Tag(Arc<dyn Any + Send + Sync>);

impl Tag {
    /// Creates a tag.
    pub fn new(data: impl Any + Send + Sync) -> Self {
        Tag(Arc::new(data))
    }

    /// Returns the data, if it has this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tag {}

/// Returns the members that `context` adds to the `_meta` of a request, as a JSON object.
fn trace_members(context: &TraceContext) -> Json {
    let mut members = Extra::default();
    for (name, value) in context.members() {
        members.push(name, Json::from_value(value).unwrap_or_default());
    }
    to_json(&members)
}
