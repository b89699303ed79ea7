//! Tasks that the session polls for their callers (revision 2025-11-25: basic/utilities/tasks; from revision 2026-07-28
//! on, the extension `io.modelcontextprotocol/tasks`).
//!
//! A call that becomes a task keeps its ticket. Its reply is the result of the task.
//!
//! | file | content |
//! |---|---|
//! | `follow` | begins, polls and ends tasks; reports the inputs that they require |
//! | `call` | [`Tasks`]: the table of calls that wait for a task; one such call: its deadlines, its inputs, the parameters of its requests |
//! | `polling` | one task as a state machine: which request to send when, and when the task has ended |

mod call;
mod follow;
mod polling;

pub(super) use call::{Tasks, is_experimental_task, push_task_param, task_use};
