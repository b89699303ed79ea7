//! The inputs that a task wants before it goes on (extensions/tasks, "Task Update Requests").

use alloc::string::String;
use alloc::vec::Vec;

use crate::session::context::Context;
use crate::session::error::InputError;
use crate::session::keys::RequestKey;
use crate::session::server_requests::{InputOwner, ServerRequests};
use crate::types::{InputRequest, InputRequiredResult, Task, TaskForm, TaskStatus};

/// The most inputs that a task may want in its life. 1,000: a person who is asked more often than that has long gone.
const MAX_INPUTS: u32 = 1_000;

/// Returns the inputs that a task wants now; `None` where its status does not say.
pub(super) fn inputs_of(task: &Task, form: TaskForm) -> Result<Option<Vec<InputRequest>>, String> {
    match (&task.status, &task.input_requests) {
        // In 2025-11-25, servers send requests instead.
        _ if form == TaskForm::Experimental => Ok(None),
        (TaskStatus::InputRequired, None) => Ok(None),
        (TaskStatus::InputRequired, Some(inputs)) => InputRequiredResult::inputs(inputs).map(Some),
        _ => Ok(Some(Vec::new())),
    }
}

/// Reports the inputs that were not reported before, and withdraws those that the task wants no longer. `known` are the names
/// of all inputs so far.
pub(super) fn request(
    key: RequestKey,
    known: &mut Vec<String>,
    inputs: Vec<InputRequest>,
    server_requests: &mut ServerRequests,
    context: &mut Context<'_>,
) -> Result<(), InputError> {
    for (number, name) in (0..).zip(&*known) {
        if !inputs.iter().any(|input| input.name == *name) {
            server_requests.withdraw(InputOwner::Task(key, number), context);
        }
    }
    for input in inputs {
        // An input that there is no room for is seen again in the next status.
        if !server_requests.has_room(context) || known.contains(&input.name) {
            continue;
        }
        let number = u32::try_from(known.len()).unwrap_or(u32::MAX);
        known.push(input.name.clone());
        if number >= MAX_INPUTS {
            return Err(InputError::TooManyInputs { limit: MAX_INPUTS as usize });
        }
        let owner = InputOwner::Task(key, number);
        server_requests.request_inputs(owner, Some(key), alloc::vec![input], context)?;
    }
    Ok(())
}
