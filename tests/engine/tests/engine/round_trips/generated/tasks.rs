//! Tasks, in both forms.

use mcpwire_core::{
    CancelTaskResult, CreateTaskResult, ListTasksResult, Task, TaskProtocol, TaskStatus, TaskSupport, TasksCapability,
    ToolExecution,
};
use proptest::option;
use proptest::prelude::*;

use super::{extra, json, known_or_other, listed, meta, name, object, whole, word};

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
        error: option::of(json()),
        meta: meta(),
        extra: extra(),
    });
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
        made!(CreateTaskResult { task: task(), form: Just(TaskProtocol::Experimental), meta: meta(), extra: extra() });
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
        poll_interval: whole(),
        meta: meta(),
        extra: extra(),
    })
}

pub(crate) fn list_tasks_result() -> impl Strategy<Value = ListTasksResult> {
    made!(ListTasksResult { tasks: listed(task()), next_cursor: word(), meta: meta(), extra: extra() })
}

pub(crate) fn tasks_capability() -> impl Strategy<Value = TasksCapability> {
    made!(TasksCapability { list: meta(), cancel: meta(), requests: meta(), extra: extra() })
}

pub(crate) fn tool_execution() -> impl Strategy<Value = ToolExecution> {
    let support = known_or_other::<TaskSupport>(&["forbidden", "optional", "required"]);
    made!(ToolExecution { task_support: option::of(support), extra: extra() })
}
