//! The program as its users run it: a process with arguments, streams and an exit status.

mod a_call_by_name_can_be_watched;
mod a_closed_stdout_is_quiet;
mod a_killed_server_is_named;
mod a_server_asks_the_user;
mod a_trace_has_every_message;
mod an_interrupt_ends_everything;
mod big_results_pass_through;
mod calls_become_tasks;
mod demo_server;
mod exit_status_says_what_happened;
mod features_beside_tools;
mod json_is_one_document;
mod listen_tells_until_ctrl_c;
mod messages_of_the_server_go_to_stderr;
mod prompts_restore_the_terminal;
mod secrets_are_not_shown;
mod servers_are_named_rightly;
mod servers_are_used_by_name;
mod servers_at_an_address;
mod servers_that_do_not_run;
mod support;
mod terminals_are_safe;
mod the_demo_shows_how_it_goes;
mod the_hubs_socket_is_private;
mod the_server_gets_what_it_is_given;
mod timeout_cancels_the_call;
