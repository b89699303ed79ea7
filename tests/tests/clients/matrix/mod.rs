//! What works in which revision of the protocol: each feature, asked of a server that has all that its revision has, by the
//! same program through every client.
//!
//! `+` works. `-` fails at once with an error that says why, and nothing is sent. `~` is not there, and the same call works
//! without it.

mod features;

use features::clients::{Blocking, Client, Driven};
use features::server::{everything, undeclaring};
use features::{On, Outcome, Tried};
use mcpwire_driver::protocol::ProtocolVersion;
use mcpwire_testkit::ScriptedServer;
use mcpwire_tests::asynchronous::{AsyncStd, Smol, TokioCurrent, TokioMulti};
use mcpwire_tests::watched;

/// A feature, what comes of it from 2024-11-05 to 2026-07-28, and how that is found out.
fn matrix<C: Client>() -> Vec<Row<C>> {
    use features::{asks, offers, requests, tasks, tools};
    vec![
        //                                              2024-11-05
        //                                              | 2025-03-26
        //                                              | | 2025-06-18
        //                                              | | | 2025-11-25
        //                                              | | | | 2026-07-28
        row("tools, in pages", /*                    */ "+ + + + +", tools::in_pages),
        row("calls of tools", /*                     */ "+ + + + +", tools::calls),
        row("progress", /*                           */ "+ + + + +", tools::progress),
        row("structured content", /*                 */ "~ ~ + + +", tools::structured_content),
        row("annotations of tools", /*               */ "~ + + + +", tools::annotations),
        row("titles", /*                             */ "~ ~ + + +", tools::titles),
        row("output schemas", /*                     */ "~ ~ + + +", tools::output_schemas),
        row("icons", /*                              */ "~ ~ ~ + +", tools::icons),
        row("resources", /*                          */ "+ + + + +", offers::resources),
        row("resource templates", /*                 */ "+ + + + +", offers::templates),
        row("reading a resource", /*                 */ "+ + + + +", offers::reading),
        row("subscription to a resource", /*         */ "+ + + + +", offers::updates_of_a_resource),
        row("subscription to the list of tools", /*  */ "+ + + + +", offers::changes_of_a_list),
        row("`resources/subscribe` itself", /*       */ "+ + + + -", offers::resources_subscribe),
        row("prompts", /*                            */ "+ + + + +", offers::prompts),
        row("a prompt", /*                           */ "+ + + + +", offers::a_prompt),
        row("completion", /*                         */ "+ + + + +", offers::completion),
        row("completion with context", /*            */ "~ ~ + + +", offers::completion_with_context),
        row("the level of logs", /*                  */ "+ + + + +", offers::log_level),
        row("`logging/setLevel` itself", /*          */ "+ + + + -", offers::logging_set_level),
        row("ping", /*                               */ "+ + + + +", requests::ping),
        row("`ping` itself", /*                      */ "+ + + + -", requests::the_method_ping),
        row("`server/discover` itself", /*           */ "- - - - +", requests::server_discover),
        row("elicitation by a form", /*              */ "+ + + + +", asks::elicitation_by_form),
        row("elicitation by an address", /*          */ "+ + + + +", asks::elicitation_by_url),
        row("sampling", /*                           */ "+ + + + +", asks::sampling),
        row("roots", /*                              */ "+ + + + +", asks::roots),
        row("telling that the roots have changed", /**/ "+ + + + ~", asks::changes_of_the_roots),
        row("calls of several rounds", /*            */ "~ ~ ~ ~ +", asks::rounds),
        row("lists that hold for a time", /*         */ "~ ~ ~ ~ +", requests::lists_that_hold),
        row("cancellation", /*                       */ "+ + + + +", requests::cancellation),
        row("trace context", /*                      */ "+ + + + +", requests::trace_context),
        row("calls that become tasks", /*            */ "~ ~ ~ + +", tasks::calls_that_become_tasks),
        row("tasks by their handles", /*             */ "~ ~ ~ + +", tasks::by_their_handle),
        row("tasks taken up again", /*               */ "- - - + +", tasks::taken_up),
        row("`tasks/get` itself", /*                 */ "- - - + +", tasks::get),
        row("cancellation of a task", /*             */ "- - - + +", tasks::cancel),
        row("the list of tasks", /*                  */ "- - - + -", tasks::list),
        row("`tasks/update` itself", /*              */ "- - - - +", tasks::update),
        // Of servers that say what they have, and that it is nothing.
        undeclared("resources", /*                   */ "- - - - -", offers::resources),
        undeclared("resource templates", /*          */ "- - - - -", offers::templates),
        undeclared("reading a resource", /*          */ "- - - - -", offers::reading),
        undeclared("`resources/subscribe` itself", /**/ "- - - - -", offers::resources_subscribe),
        undeclared("prompts", /*                     */ "- - - - -", offers::prompts),
        undeclared("a prompt", /*                    */ "- - - - -", offers::a_prompt),
        undeclared("tools", /*                       */ "- - - - -", tools::in_pages),
        undeclared("the level of logs", /*           */ "- - - - -", offers::log_level),
        undeclared("the list of tasks", /*           */ "- - - - -", tasks::list),
        // The first revision had no way to declare it.
        undeclared("completion", /*                  */ "+ - - - -", offers::completion),
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
