//! What works in which revision of the protocol: each feature, asked of a server that has all that its revision has, by the
//! same program through every client.
//!
//! `+` works. `-` fails at once with an error that says why, and nothing is sent. `~` is not there, and the same call works
//! without it.

mod features;

use features::clients::{Blocking, Client, Driven};
use features::server::{everything, undeclaring};
use features::{On, Outcome, Tried};
use mcpwire_driver::core::ProtocolVersion;
use mcpwire_testkit::ScriptedServer;
use mcpwire_tests::asynchronous::{AsyncStd, Smol, TokioCurrent, TokioMulti};
use mcpwire_tests::watched;

/// A feature, what comes of it from 2024-11-05 to 2026-07-28, and how that is found out.
fn matrix<C: Client>() -> Vec<Row<C>> {
    use features as f;
    vec![
        //                                              2024-11-05
        //                                              | 2025-03-26
        //                                              | | 2025-06-18
        //                                              | | | 2025-11-25
        //                                              | | | | 2026-07-28
        row("tools, in pages", /*                    */ "+ + + + +", f::tools_in_pages),
        row("calls of tools", /*                     */ "+ + + + +", f::calls),
        row("progress", /*                           */ "+ + + + +", f::progress),
        row("structured content", /*                 */ "~ ~ + + +", f::structured_content),
        row("annotations of tools", /*               */ "~ + + + +", f::tool_annotations),
        row("titles", /*                             */ "~ ~ + + +", f::titles),
        row("output schemas", /*                     */ "~ ~ + + +", f::output_schemas),
        row("icons", /*                              */ "~ ~ ~ + +", f::icons),
        row("resources", /*                          */ "+ + + + +", f::resources),
        row("resource templates", /*                 */ "+ + + + +", f::templates),
        row("reading a resource", /*                 */ "+ + + + +", f::reading),
        row("subscription to a resource", /*         */ "+ + + + +", f::updates_of_a_resource),
        row("subscription to the list of tools", /*  */ "+ + + + +", f::changes_of_a_list),
        row("`resources/subscribe` itself", /*       */ "+ + + + -", f::resources_subscribe),
        row("prompts", /*                            */ "+ + + + +", f::prompts),
        row("a prompt", /*                           */ "+ + + + +", f::a_prompt),
        row("completion", /*                         */ "+ + + + +", f::completion),
        row("completion with context", /*            */ "~ ~ + + +", f::completion_with_context),
        row("the level of logs", /*                  */ "+ + + + +", f::log_level),
        row("`logging/setLevel` itself", /*          */ "+ + + + -", f::logging_set_level),
        row("ping", /*                               */ "+ + + + +", f::ping),
        row("`ping` itself", /*                      */ "+ + + + -", f::the_method_ping),
        row("`server/discover` itself", /*           */ "- - - - +", f::server_discover),
        row("elicitation by a form", /*              */ "+ + + + +", f::elicitation_by_form),
        row("elicitation by an address", /*          */ "+ + + + +", f::elicitation_by_url),
        row("sampling", /*                           */ "+ + + + +", f::sampling),
        row("roots", /*                              */ "+ + + + +", f::roots),
        row("telling that the roots have changed", /**/ "+ + + + ~", f::changes_of_the_roots),
        row("calls of several rounds", /*            */ "~ ~ ~ ~ +", f::rounds),
        row("lists that hold for a time", /*         */ "~ ~ ~ ~ +", f::lists_that_hold),
        row("cancellation", /*                       */ "+ + + + +", f::cancellation),
        row("trace context", /*                      */ "+ + + + +", f::trace_context),
        row("calls that become tasks", /*            */ "~ ~ ~ + +", f::calls_that_become_tasks),
        row("tasks by their handles", /*             */ "~ ~ ~ + +", f::tasks_by_their_handle),
        row("tasks taken up again", /*               */ "- - - + +", f::tasks_taken_up),
        row("`tasks/get` itself", /*                 */ "- - - + +", f::tasks_get),
        row("cancellation of a task", /*             */ "- - - + +", f::tasks_cancel),
        row("the list of tasks", /*                  */ "- - - + -", f::tasks_list),
        row("`tasks/update` itself", /*              */ "- - - - +", f::tasks_update),
        // Of servers that say what they have, and that it is nothing.
        undeclared("resources", /*                   */ "- - - - -", f::resources),
        undeclared("resource templates", /*          */ "- - - - -", f::templates),
        undeclared("reading a resource", /*          */ "- - - - -", f::reading),
        undeclared("`resources/subscribe` itself", /**/ "- - - - -", f::resources_subscribe),
        undeclared("prompts", /*                     */ "- - - - -", f::prompts),
        undeclared("a prompt", /*                    */ "- - - - -", f::a_prompt),
        undeclared("tools", /*                       */ "- - - - -", f::tools_in_pages),
        undeclared("the level of logs", /*           */ "- - - - -", f::log_level),
        undeclared("the list of tasks", /*           */ "- - - - -", f::tasks_list),
        // The first revision had no way to declare it.
        undeclared("completion", /*                  */ "+ - - - -", f::completion),
    ]
}

struct Row<C> {
    name: String,
    expected: &'static str,
    server: fn(ProtocolVersion) -> ScriptedServer,
    tried: fn(&mut On<C>) -> Tried,
}

fn row<C>(name: &str, expected: &'static str, tried: fn(&mut On<C>) -> Tried) -> Row<C> {
    Row { name: name.into(), expected, server: everything, tried }
}

fn undeclared<C>(name: &str, expected: &'static str, tried: fn(&mut On<C>) -> Tried) -> Row<C> {
    Row { name: format!("undeclared: {name}"), expected, server: undeclaring, tried }
}

fn mark(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Works => "+",
        Outcome::FailsLocally => "-",
        Outcome::Without => "~",
    }
}

fn what_works_in_which_revision<C: Client>() {
    let mut wrong = Vec::new();
    for Row { name, expected, server, tried } in matrix::<C>() {
        let found = ProtocolVersion::ALL.map(|version| {
            let mut on = On::<C>::new(server(version), version);
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

#[test]
fn blocking() {
    watched(what_works_in_which_revision::<Blocking>);
}

#[test]
fn tokio_current() {
    watched(what_works_in_which_revision::<Driven<TokioCurrent>>);
}

#[test]
fn tokio_multi() {
    watched(what_works_in_which_revision::<Driven<TokioMulti>>);
}

#[test]
fn smol() {
    watched(what_works_in_which_revision::<Driven<Smol>>);
}

#[test]
fn async_std() {
    watched(what_works_in_which_revision::<Driven<AsyncStd>>);
}
