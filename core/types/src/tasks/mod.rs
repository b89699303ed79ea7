//! Tasks: calls that return before their result is available.
//!
//! The specification defines tasks twice ([`TaskProtocol`]):
//!
//! | | revision 2025-11-25 (basic/utilities/tasks, experimental) | tasks extension (`io.modelcontextprotocol/tasks`), from revision 2026-07-28 |
//! |---|---|---|
//! | who decides that a call creates a task | the client, with `params.task`, if server and tool support it | the server, at each call, if the client declares the extension |
//! | result of the call | `{"task": {..}}` | the task itself, with `resultType: "task"` |
//! | final result | result of `tasks/result`, which waits for it | member of the result of `tasks/get` |
//! | input | requests of the server while `tasks/result` waits | `inputRequests` in the result of `tasks/get`, answered by `tasks/update` |
//! | other requests | `tasks/cancel`, which returns the task; `tasks/list` | `tasks/cancel`, which returns an empty result |
//! | notification | `notifications/tasks/status` | `notifications/tasks`, with the final result |

mod created;
mod declared;
mod handle;
mod requests;
mod task;

pub use created::{CallToolOutcome, CreateTaskResult};
pub use declared::{TASKS_EXTENSION, TaskSupport, TasksCapability, ToolExecution};
pub use handle::TaskHandle;
pub use requests::{CancelTaskResult, ListTasksResult, TaskParams, UpdateTaskParams};
pub use task::{Task, TaskProtocol, TaskStatus};
