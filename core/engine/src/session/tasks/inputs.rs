//! The inputs that a task requires before it can continue (specification: extensions/tasks, "Task Update Requests").

use alloc::string::String;
use alloc::vec::Vec;

use crate::input_requests::{InputRequest, InputRequiredResult};
use crate::session::error::InputError;
use crate::session::event::ClientRequest;
use crate::session::link::Link;
use crate::session::request_keys::RequestKey;
use crate::session::server_requests::{InputOwner, ServerRequests};
use mcpwire_types::{Task, TaskProtocol, TaskStatus};

/// Maximum number of inputs that one task may require during its life. 1,000: no person answers more questions about
/// one task.
const MAX_INPUTS: u32 = 1_000;

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

/// The inputs that one task has required since the session began to poll the task.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The names of the inputs that the session has reported to the embedder. An input is reported only once, even if
    /// later statuses of the task contain it. The index of a name is the number of the input in [`InputOwner::Task`].
    names: Vec<String>,
}

impl Inputs {
    /// Reports to the embedder those inputs in `needed` that it has not received before. Withdraws earlier inputs that
    /// `needed` does not contain, because they need no answer any more.
    pub(super) fn request(
        &mut self,
        call: &ClientRequest,
        needed: Vec<InputRequest>,
        server_requests: &mut ServerRequests,
        link: &mut Link,
    ) -> Result<(), InputError> {
        for (number, name) in (0..).zip(&self.names) {
            if !needed.iter().any(|input| input.name == *name) {
                server_requests.withdraw(InputOwner::Task(call.key, number), link);
            }
        }
        for input in needed {
            // If there is no room for an input now, the next status contains the input again.
            if !server_requests.has_room(link) || self.names.contains(&input.name) {
                continue;
            }
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.names.push(input.name.clone());
            if number >= MAX_INPUTS {
                return Err(InputError::TooManyInputs { limit: MAX_INPUTS as usize });
            }
            let owner = InputOwner::Task(call.key, number);
            server_requests.request_inputs(owner, call, alloc::vec![input], link)?;
        }
        Ok(())
    }

    pub(super) fn withdraw_all(&self, key: RequestKey, server_requests: &mut ServerRequests, link: &mut Link) {
        for (number, _) in (0..).zip(&self.names) {
            server_requests.withdraw(InputOwner::Task(key, number), link);
        }
    }
}
