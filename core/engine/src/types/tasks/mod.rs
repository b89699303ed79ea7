//! Tasks: calls whose result comes later than their answer, in both forms that the protocol has had.
//!
//! | | 2025-11-25, basic/utilities/tasks (experimental) | from 2026-07-28, the extension `io.modelcontextprotocol/tasks` |
//! |---|---|---|
//! | who decides | the client, with `params.task`, where server and tool allow it | the server, at each call, where the client declares the extension |
//! | answer to the call | `{"task": {..}}` | the task itself, `resultType: "task"` |
//! | the result | `tasks/result`, which waits for it | within the answer to `tasks/get` |
//! | input | requests of the server, while `tasks/result` waits | `inputRequests` within `tasks/get`, answered by `tasks/update` |
//! | other requests | `tasks/cancel` returns the task; `tasks/list` | `tasks/cancel` returns nothing |
//! | notification | `notifications/tasks/status` | `notifications/tasks`, with the result |

mod created;
mod declared;
mod handle;
mod requests;
mod task;

pub(crate) use created::form_of;
pub use created::{CallToolOutcome, CreateTaskResult};
pub use declared::{TASKS_EXTENSION, TaskSupport, TasksCapability, ToolExecution};
pub use handle::TaskHandle;
pub use requests::{CancelTaskResult, ListTasksResult, TaskParams, UpdateTaskParams};
pub use task::{Task, TaskForm, TaskStatus};
