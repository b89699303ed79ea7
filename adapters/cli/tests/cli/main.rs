//! Tests of the program as users run it: as a process with arguments, streams and an exit status.

mod calls {
    mod content;
    mod inputs;
    mod listening;
    mod over_http;
    mod questions;
    mod results;
    mod tasks;
}
mod failures {
    mod exit_status;
    mod interrupts_and_timeouts;
}
mod hub {
    mod servers;
    mod socket;
}
mod imports;
mod logins {
    mod clients;
    mod logging_in;
    mod needed;
    mod stored;
}
mod secrets;
mod servers {
    mod by_name;
    mod files_of_others;
    mod stored_state;
}
mod support;
mod terminal;
