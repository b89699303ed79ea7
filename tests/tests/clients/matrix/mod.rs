//! What works in which revision of the protocol: each feature, asked of a server that has all that its revision has, by the
//! same program through every client.
//!
//! `+` works. `-` fails at once with an error that says why, and nothing is sent. `~` is not there, and the same call works
//! without it.

mod features;
mod server;

use features::{On, Outcome, Tried};
use mcpwire_driver::protocol::ProtocolVersion;
use mcpwire_testkit::ScriptedServer;
use mcpwire_tests::{Adapter, on_both_clients};
use server::{everything, undeclaring};

/// A feature, what comes of it from 2024-11-05 to 2026-07-28, and how that is found out.
fn matrix<A: Adapter>() -> Vec<Row<A>> {
    vec![
        //                                              2024-11-05
        //                                              | 2025-03-26
        //                                              | | 2025-06-18
        //                                              | | | 2025-11-25
        //                                              | | | | 2026-07-28
        row("tools, in pages", /*                    */ "+ + + + +", features::tools_in_pages),
        row("calls of tools", /*                     */ "+ + + + +", features::calls_of_tools),
        row("progress", /*                           */ "+ + + + +", features::progress),
        row("structured content", /*                 */ "~ ~ + + +", features::structured_content),
        row("annotations of tools", /*               */ "~ + + + +", features::annotations),
        row("titles", /*                             */ "~ ~ + + +", features::titles),
        row("output schemas", /*                     */ "~ ~ + + +", features::output_schemas),
        row("icons", /*                              */ "~ ~ ~ + +", features::icons),
        row("resources", /*                          */ "+ + + + +", features::resources),
        row("resource templates", /*                 */ "+ + + + +", features::templates),
        row("reading a resource", /*                 */ "+ + + + +", features::reading),
        row("subscription to a resource", /*         */ "+ + + + +", features::updates_of_a_resource),
        row("subscription to the list of tools", /*  */ "+ + + + +", features::changes_of_a_list),
        row("`resources/subscribe` itself", /*       */ "+ + + + -", features::resources_subscribe),
        row("prompts", /*                            */ "+ + + + +", features::prompts),
        row("a prompt", /*                           */ "+ + + + +", features::a_prompt),
        row("completion", /*                         */ "+ + + + +", features::completion),
        row("completion with context", /*            */ "~ ~ + + +", features::completion_with_context),
        row("the level of logs", /*                  */ "+ + + + +", features::log_level),
        row("`logging/setLevel` itself", /*          */ "+ + + + -", features::logging_set_level),
        row("ping", /*                               */ "+ + + + +", features::ping),
        row("`ping` itself", /*                      */ "+ + + + -", features::the_method_ping),
        row("`server/discover` itself", /*           */ "- - - - +", features::server_discover),
        row("elicitation by a form", /*              */ "+ + + + +", features::elicitation_by_form),
        row("elicitation by an address", /*          */ "+ + + + +", features::elicitation_by_url),
        row("sampling", /*                           */ "+ + + + +", features::sampling),
        row("roots", /*                              */ "+ + + + +", features::roots),
        row("telling that the roots have changed", /**/ "+ + + + ~", features::changes_of_the_roots),
        row("calls of several rounds", /*            */ "~ ~ ~ ~ +", features::rounds),
        row("lists that hold for a time", /*         */ "~ ~ ~ ~ +", features::lists_that_hold),
        row("cancellation", /*                       */ "+ + + + +", features::cancellation),
        row("trace context", /*                      */ "+ + + + +", features::trace_context),
        row("calls that become tasks", /*            */ "~ ~ ~ + +", features::calls_that_become_tasks),
        row("tasks by their handles", /*             */ "~ ~ ~ + +", features::tasks_by_their_handle),
        row("tasks taken up again", /*               */ "- - - + +", features::tasks_taken_up),
        row("`tasks/get` itself", /*                 */ "- - - + +", features::get_task),
        row("cancellation of a task", /*             */ "- - - + +", features::cancel_task),
        row("the list of tasks", /*                  */ "- - - + -", features::list_tasks),
        row("`tasks/update` itself", /*              */ "- - - - +", features::update_task),
        // Of servers that say what they have, and that it is nothing.
        undeclared("resources", /*                   */ "- - - - -", features::resources),
        undeclared("resource templates", /*          */ "- - - - -", features::templates),
        undeclared("reading a resource", /*          */ "- - - - -", features::reading),
        undeclared("`resources/subscribe` itself", /**/ "- - - - -", features::resources_subscribe),
        undeclared("prompts", /*                     */ "- - - - -", features::prompts),
        undeclared("a prompt", /*                    */ "- - - - -", features::a_prompt),
        undeclared("tools", /*                       */ "- - - - -", features::tools_in_pages),
        undeclared("the level of logs", /*           */ "- - - - -", features::log_level),
        undeclared("the list of tasks", /*           */ "- - - - -", features::list_tasks),
        // The first revision had no way to declare it.
        undeclared("completion", /*                  */ "+ - - - -", features::completion),
    ]
}

struct Row<A> {
    name: String,
    expected: &'static str,
    server: fn(ProtocolVersion) -> ScriptedServer,
    tried: fn(&mut On<A>) -> Tried,
}

fn row<A: Adapter>(name: &str, expected: &'static str, tried: fn(&mut On<A>) -> Tried) -> Row<A> {
    Row { name: name.into(), expected, server: everything, tried }
}

fn undeclared<A: Adapter>(name: &str, expected: &'static str, tried: fn(&mut On<A>) -> Tried) -> Row<A> {
    Row { name: format!("undeclared: {name}"), expected, server: undeclaring, tried }
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Works => "+",
        Outcome::FailsLocally => "-",
        Outcome::Without => "~",
    }
}

fn what_works_in_which_revision<A: Adapter>() {
    let mut wrong = Vec::new();
    for Row { name, expected, server, tried } in matrix::<A>() {
        let found = ProtocolVersion::ALL.map(|version| {
            let mut on = On::<A>::new(server(version), version);
            mark(tried(&mut on).unwrap_or_else(|outcome| outcome))
        });
        let found = found.join(" ");
        println!("{name:<40} {found}");
        if found != expected {
            wrong.push(format!("{name}: {found} instead of {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

on_both_clients!(what_works_in_which_revision);
