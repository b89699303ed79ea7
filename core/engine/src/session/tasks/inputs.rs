//! The inputs that a task wants before it goes on (extensions/tasks, "Task Update Requests").

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::session::asks::InputOwner;
use crate::session::engine::Session;
use crate::session::error::{CallError, InputError};
use crate::session::ticket::RequestKey;
use crate::time::Timestamp;
use crate::types::{InputRequest, InputRequiredResult, Task, TaskForm, TaskStatus};

/// The most inputs that a task may want in its life. 1,000: a person who is asked more often than that has long gone.
const MOST_INPUTS: u32 = 1_000;

impl Session {
    /// The inputs that a task wants now; `None` where that is not said.
    pub(super) fn inputs_of(&self, task: &Task) -> Result<Option<Vec<InputRequest>>, String> {
        match (&task.status, &task.input_requests) {
            // In 2025-11-25, servers ask with requests.
            _ if self.task_form() == TaskForm::Experimental => Ok(None),
            (TaskStatus::InputRequired, None) => Ok(None),
            (TaskStatus::InputRequired, Some(inputs)) => InputRequiredResult::inputs(inputs).map(Some),
            _ => Ok(Some(Vec::new())),
        }
    }

    /// Asks for the inputs that a task wants, as far as they have not been asked for ("Task Update Requests"). Whoever is
    /// asked for one that is not wanted any more is told.
    pub(super) fn ask_for_task(
        &mut self,
        key: RequestKey,
        inputs: Vec<InputRequest>,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        let Some(followed) = self.tasks.followed.get(&key) else { return };
        let is_wanted = |name: &String| inputs.iter().any(|input| input.name == *name);
        let superseded: Vec<u32> =
            (0..).zip(&followed.asked).filter(|(_, name)| !is_wanted(name)).map(|(at, _)| at).collect();
        for at in superseded {
            self.give_up_inputs(InputOwner::Task(key, at));
        }
        for input in inputs {
            let room = self.has_room_for_asks();
            let Some(followed) = self.tasks.followed.get_mut(&key) else { return };
            // What there is no room for is seen again with the next look at the task.
            if !room || followed.asked.contains(&input.name) {
                continue;
            }
            let at = u32::try_from(followed.asked.len()).unwrap_or(u32::MAX);
            followed.asked.push(input.name.clone());
            let asked = if at < MOST_INPUTS {
                self.ask_inputs(InputOwner::Task(key, at), Some(key), alloc::vec![input])
            } else {
                Err(InputError::TooManyInputs { limit: MOST_INPUTS as usize })
            };
            if let Err(error) = asked {
                return self.task_input_refused(key, error, now, out);
            }
        }
    }

    /// Takes in the answer to an input that a task wants: an object of it by its name, as text.
    pub(in crate::session) fn task_input_answered(
        &mut self,
        key: RequestKey,
        answer: &[u8],
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        if let Some(followed) = self.tasks.followed.get_mut(&key) {
            let members = answer.strip_prefix(b"{").and_then(|answer| answer.strip_suffix(b"}"));
            followed.task.answer(members.unwrap_or_default().to_vec(), now);
            self.drive_tasks(now, out);
        }
    }

    /// Takes in that an input that a task wants is not to be had: the task could wait for it for ever.
    pub(in crate::session) fn task_input_refused(
        &mut self,
        key: RequestKey,
        error: InputError,
        now: Timestamp,
        out: &mut Vec<u8>,
    ) {
        let Some(followed) = self.tasks.followed.get(&key) else { return };
        let error = CallError::Input { method: followed.method.clone(), error: Arc::new(error) };
        self.give_up_task(key, error, now, out);
    }
}
