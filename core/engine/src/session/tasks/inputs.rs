//! The inputs that a task requires before it can continue (specification: extensions/tasks, "Task Update Requests").

use alloc::string::String;
use alloc::vec::Vec;

use crate::input_requests::{InputRequest, InputRequiredResult};
use crate::session::error::InputError;
use crate::session::event::ClientRequest;
use crate::session::link::Link;
use crate::session::request_keys::RequestKey;
use crate::session::waiting::Waiting;
use mcpwire_types::{Task, TaskProtocol, TaskStatus};

/// Maximum number of inputs that one task may require during its life. 1,000: no person answers more questions about
/// one task.
const MAX_INPUTS: usize = 1_000;

/// Returns the inputs that a task requires now: an empty list if it requires none, or `None` if its status does not
/// list the inputs, as in revision 2025-11-25.
///
/// # Errors
/// Returns a description of the defect if the inputs in the status are malformed.
pub(super) fn needed_inputs(task: &Task, form: TaskProtocol) -> Result<Option<Vec<InputRequest>>, String> {
    match (&task.status, &task.input_requests) {
        // In revision 2025-11-25, servers send JSON-RPC requests instead.
        _ if form == TaskProtocol::Experimental => Ok(None),
        (TaskStatus::InputRequired, None) => Ok(None),
        (TaskStatus::InputRequired, Some(inputs)) => InputRequiredResult::inputs(inputs).map(Some),
        _ => Ok(Some(Vec::new())),
    }
}

impl Waiting {
    /// Reports to the embedder those inputs of a task in `needed` that it has not received before. Withdraws earlier inputs
    /// that `needed` does not contain, because they need no answer any more. `key` is the key of the call that waits for the
    /// task.
    pub(super) fn request_task_inputs(
        &mut self,
        key: RequestKey,
        needed: Vec<InputRequest>,
        link: &mut Link,
    ) -> Result<(), InputError> {
        let Waiting { server_requests, tasks, .. } = self;
        let Some(call) = tasks.calls.get_mut(&key) else { return Ok(()) };
        server_requests.withdraw_except(&needed, key, link);
        let during = ClientRequest::new(key, call.method.clone(), call.target.clone());
        for input in needed {
            // If there is no room for an input now, the next status contains the input again.
            if !server_requests.has_room(link) || call.inputs.contains(&input.name) {
                continue;
            }
            call.inputs.push(input.name.clone());
            if call.inputs.len() > MAX_INPUTS {
                return Err(InputError::TooManyInputs { limit: MAX_INPUTS });
            }
            server_requests.request_inputs(&during, alloc::vec![input], link)?;
        }
        Ok(())
    }
}
