//! The inputs that a task needs before it continues (extensions/tasks, "Task Update Requests").

use alloc::string::String;
use alloc::vec::Vec;

use crate::session::context::Context;
use crate::session::error::InputError;
use crate::session::request_keys::RequestKey;
use crate::session::server_requests::{InputOwner, ServerRequests};
use crate::types::{InputRequest, InputRequiredResult, Task, TaskProtocol, TaskStatus};

/// Maximum number of inputs of a task in its life. 1,000: no person answers more questions about one task.
const MAX_INPUTS: u32 = 1_000;

/// Returns the inputs that a task needs now, or `None` if its status does not say.
///
/// # Errors
/// What is wrong with the inputs in the status.
pub(super) fn needed_inputs(task: &Task, form: TaskProtocol) -> Result<Option<Vec<InputRequest>>, String> {
    match (&task.status, &task.input_requests) {
        // In 2025-11-25, servers send requests instead.
        _ if form == TaskProtocol::Experimental => Ok(None),
        (TaskStatus::InputRequired, None) => Ok(None),
        (TaskStatus::InputRequired, Some(inputs)) => InputRequiredResult::inputs(inputs).map(Some),
        _ => Ok(Some(Vec::new())),
    }
}

/// The inputs that a task has ever requested.
#[derive(Debug, Default)]
pub(super) struct Inputs {
    /// The names of the inputs. The index of a name is the number in its [`InputOwner::Task`]. Each input is reported once,
    /// however often a status names it.
    names: Vec<String>,
}

impl Inputs {
    /// Reports the inputs that are new, and withdraws those that the task no longer needs.
    pub(super) fn request(
        &mut self,
        key: RequestKey,
        needed: Vec<InputRequest>,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) -> Result<(), InputError> {
        for (number, name) in (0..).zip(&self.names) {
            if !needed.iter().any(|input| input.name == *name) {
                server_requests.withdraw(InputOwner::Task(key, number), context);
            }
        }
        for input in needed {
            // An input without room now is in the next status again.
            if !server_requests.has_room(context) || self.names.contains(&input.name) {
                continue;
            }
            let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
            self.names.push(input.name.clone());
            if number >= MAX_INPUTS {
                return Err(InputError::TooManyInputs { limit: MAX_INPUTS as usize });
            }
            let owner = InputOwner::Task(key, number);
            server_requests.request_inputs(owner, Some(key), alloc::vec![input], context)?;
        }
        Ok(())
    }

    /// Withdraws all inputs.
    pub(super) fn withdraw_all(
        &self,
        key: RequestKey,
        server_requests: &mut ServerRequests,
        context: &mut Context<'_>,
    ) {
        for (number, _) in (0..).zip(&self.names) {
            server_requests.withdraw(InputOwner::Task(key, number), context);
        }
    }
}
