//! Tasks.

use mcpwire_driver::protocol::{
    CancelTask, Era, GetTask, Json, TaskHandle, TaskParams, TaskProtocol, UpdateTask, UpdateTaskParams,
};

use super::Outcome::{Without, Works};
use super::clients::Client;
use super::{On, Tried, text, works_if};

pub(crate) fn calls_that_become_tasks<C: Client>(on: &mut On<C>) -> Tried {
    let result = on.attempt(|client| client.follow_task("job"))?;
    let became = on.count("tasks/get") > 0;
    assert_eq!(text(&result), if became { "the job is done" } else { "at once" });
    Ok(works_if(became))
}

pub(crate) fn by_their_handle<C: Client>(on: &mut On<C>) -> Tried {
    match on.attempt(|client| client.as_task("job"))? {
        Ok(task) => {
            assert_eq!((task.task_id.as_str(), task.form), ("t1", handle(on).form));
            let result = on.attempt(|client| client.task_result(&task))?;
            assert_eq!(text(&result), "the job is done");
            Ok(Works)
        }
        Err(result) => {
            assert_eq!(text(&result), "at once");
            Ok(Without)
        }
    }
}

pub(crate) fn taken_up<C: Client>(on: &mut On<C>) -> Tried {
    let handle = handle(on);
    let result = on.attempt(|client| client.task_result(&handle))?;
    assert_eq!(text(&result), "the job is done");
    Ok(Works)
}

pub(crate) fn get<C: Client>(on: &mut On<C>) -> Tried {
    let handle = handle(on);
    assert_eq!(on.attempt(|client| client.task_status(&handle))?.task_id, "t1");
    on.request::<GetTask>(&TaskParams { task_id: "t1" })
}

pub(crate) fn cancel<C: Client>(on: &mut On<C>) -> Tried {
    let handle = handle(on);
    on.attempt(|client| client.cancel_task(&handle))?;
    on.request::<CancelTask>(&TaskParams { task_id: "t1" })
}

pub(crate) fn list<C: Client>(on: &mut On<C>) -> Tried {
    let listed = on.attempt(Client::list_tasks)?;
    assert_eq!(listed.items[0].task_id, "t1");
    Ok(Works)
}

pub(crate) fn update<C: Client>(on: &mut On<C>) -> Tried {
    let input_responses = Json::parse("{}").expect("it is JSON");
    on.request::<UpdateTask>(&UpdateTaskParams { task_id: "t1", input_responses: &input_responses })
}

/// A handle of the one task that the server has, whether it has it or not.
fn handle<C>(on: &On<C>) -> TaskHandle {
    let modern = on.version.era() == Era::Modern;
    TaskHandle::new("t1", if modern { TaskProtocol::Extension } else { TaskProtocol::Experimental })
}
