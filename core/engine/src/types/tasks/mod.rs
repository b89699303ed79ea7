//! Tasks: calls that go on after their answer, in both forms that the protocol has had.
//!
//! | | 2025-11-25, basic/utilities/tasks (experimental) | from 2026-07-28, the extension `io.modelcontextprotocol/tasks` |
//! |---|---|---|
//! | who decides | the client, with `params.task`, where server and tool allow it | the server, for each call, where the client has declared the extension |
//! | what it answers | `{"task": {..}}` | the task itself, `resultType: "task"` |
//! | the result | `tasks/result`, which waits | within `tasks/get` |
//! | input | requests of the server's, while `tasks/result` waits | `inputRequests` within `tasks/get`, answered by `tasks/update` |
//! | more | `tasks/cancel` gives the task, `tasks/list` | `tasks/cancel` gives nothing |
//! | told unasked | `notifications/tasks/status` | `notifications/tasks`, with the result |

mod created;
mod declared;
mod handle;
mod open_enum;
mod requests;
mod task;

pub(crate) use created::form_of;
pub use created::{CallToolOutcome, CreateTaskResult};
pub use declared::{TASKS_EXTENSION, TaskSupport, TasksCapability, ToolExecution};
pub use handle::TaskHandle;
use open_enum::open_enum;
pub use requests::{CancelTaskResult, ListTasksResult, TaskParams, UpdateTaskParams};
pub use task::{Task, TaskForm, TaskStatus};
