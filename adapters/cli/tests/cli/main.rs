//! Tests of the program as users run it: as a process with arguments, streams and an exit status.

mod calls {
    mod content;
    mod inputs;
    mod over_http;
    mod results;
    mod tasks_and_questions;
}
mod failures;
mod generate;
mod logins {
    mod clients;
    mod logging_in;
    mod stored;
}
mod messages;
mod robustness;
mod running_hub;
mod secrets;
mod servers {
    mod configured;
    mod files_of_others;
    mod next_commands;
    mod stored_state;
}
mod states;
mod support;
mod terminal;
mod windows;
