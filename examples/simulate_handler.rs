//! Tests how an agent answers servers, with generated requests, and shows how a planted bug is found and shrunk.
//!
//! ```text
//! cargo run -p mcpwire --example simulate_handler
//! cargo run -p mcpwire --example simulate_handler -- planted
//! ```
//!
//! The agent fills in forms on its own: servers ask for a name or a number, and the agent has a plausible value for each type of
//! field. In a real project, [`fill_in`] would be in `src`, and [`check`] a `#[test]`.

use std::collections::BTreeMap;

use mcpwire::ConnectOptions;
use mcpwire::testkit::simulation::{Ask, Asks, Failure, Simulation, asks};
use mcpwire::types::{
    CreateMessageResult, ElicitAction, ElicitForm, ElicitResult, FieldSchema, NumberSchema, StringFormat,
};
use mcpwire::{Json, RpcError};
use serde_json::{Value, json};

/// Fills in a form. With the planted bug, the agent ignores the limits of numbers.
fn fill_in(form: &ElicitForm, has_bug: bool) -> BTreeMap<String, Value> {
    let fields = form.requested_schema.fields().map(|(field, _)| {
        let value = match &field.schema {
            FieldSchema::String(schema) => match &schema.format {
                Some(StringFormat::Email) => json!("agent@example.com"),
                Some(StringFormat::Uri) => json!("https://example.com"),
                Some(StringFormat::Date) => json!("2026-07-28"),
                Some(StringFormat::DateTime) => json!("2026-07-28T12:00:00Z"),
                _ => json!("agent"),
            },
            FieldSchema::Number(_) if has_bug => json!(0),
            FieldSchema::Number(schema) => json!(within_limits(schema)),
            FieldSchema::Boolean(_) => json!(false),
            FieldSchema::Enum(schema) => json!(schema.values.first()),
            _ => Value::Null,
        };
        (field.name.clone(), value)
    });
    fields.collect()
}

fn within_limits(schema: &NumberSchema) -> f64 {
    0_f64.max(schema.minimum.unwrap_or(f64::MIN)).min(schema.maximum.unwrap_or(f64::MAX)).ceil()
}

/// The options of the agent's connections.
fn options(has_bug: bool) -> ConnectOptions {
    ConnectOptions::default()
        .roots([])
        .on_elicitation(move |form, _| async move { Ok(ElicitResult::accept(&fill_in(&form, has_bug))?) })
        .on_url_elicitation(|_, _| async { Ok(ElicitAction::Decline) })
        .on_sampling(|_, _| async { Ok(CreateMessageResult::new("scripted", "a message")) })
}

/// Checks that the server gets an answer that it can use. The client refuses forms whose values are invalid, so the server gets an
/// error for them.
fn is_answered(_: &Ask, answer: &Result<Json, RpcError>) -> Result<(), String> {
    match answer {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("the server got an error: {}", error.message)),
    }
}

fn check(has_bug: bool) -> Result<(), Failure<Asks>> {
    Simulation::new().client_options(move || options(has_bug)).find_handler_fault(asks(), is_answered)
}

fn main() {
    let has_bug = std::env::args().nth(1).is_some_and(|argument| argument == "planted");
    match check(has_bug) {
        Ok(()) => println!("no fault was found"),
        Err(failure) => println!("{failure}"),
    }
}

#[test]
fn the_agent_passes() {
    check(false).unwrap();
}

#[test]
fn the_planted_bug_is_found_and_shrunk() {
    let failure = check(true).unwrap_err();
    println!("{failure}");
    let [ask] = &*failure.script.asks else { panic!("{failure}") };
    let properties = ask.params.member::<Json>("requestedSchema").and_then(|schema| schema.member("properties"));
    let properties: BTreeMap<String, Value> = properties.expect("it is a form");
    assert_eq!(properties.len(), 1, "{failure}");
    let minimum = properties.values().next().and_then(|field| field["minimum"].as_f64());
    assert_eq!(minimum, Some(1.0), "{failure}");
}
