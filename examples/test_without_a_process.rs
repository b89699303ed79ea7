//! Tests a program that uses a server, with a scripted server and virtual time.
//!
//! ```text
//! cargo run --example test_without_a_process
//! ```
//!
//! The tested function is [`forecast`]: it requests the weather from a server, and tries again after a timeout. In a real project, it would
//! be in `src`, and each function below would be a `#[test]`.

use std::time::Duration;

use mcpwire::runtime::McpClient;
use mcpwire::testkit::{ScriptedResponse, ScriptedServer, Testkit};
use mcpwire::{Error, ErrorKind};
use serde_json::json;

/// The timeout of each attempt.
const PATIENCE: Duration = Duration::from_secs(20);

/// Returns the weather in a city as text.
async fn forecast<R>(client: &McpClient<R>, city: &str) -> Result<String, Error> {
    let ask = || client.call_tool("forecast", json!({ "city": city })).timeout(PATIENCE);
    let result = match ask().await {
        Err(error) if error.kind() == ErrorKind::Timeout => ask().await?,
        other => other?,
    };
    Ok(format!("{city}: {}", result.text()))
}

fn a_forecast_names_its_city() {
    let kit = Testkit::new(ScriptedServer::new().tool("forecast", |_| "sunny"));
    let told = kit.run(async |client| forecast(&client, "Oslo").await).expect("the server answers");
    assert_eq!(told, "Oslo: sunny");
    assert_eq!(kit.server().calls("forecast")[0].get(), r#"{"city":"Oslo"}"#);
}

fn a_slow_server_is_asked_once_more() {
    let mut calls = 0;
    let server = ScriptedServer::new().tool("forecast", move |_| {
        calls += 1;
        // No response to the first call, and a response to the second just before its timeout.
        if calls == 1 {
            ScriptedResponse::new()
        } else {
            ScriptedResponse::new().wait(Duration::from_secs(19)).text("rain")
        }
    });
    let kit = Testkit::new(server);
    let told = kit.run(async |client| forecast(&client, "Bergen").await).expect("the server answers");
    assert_eq!(told, "Bergen: rain");
    // The test itself takes no time.
    assert_eq!(kit.time().elapsed(), Duration::from_secs(20 + 19));
    // The client has cancelled the first call.
    assert_eq!(kit.server().cancellations().len(), 1);
}

fn a_server_that_crashes_is_an_error() {
    let kit =
        Testkit::new(ScriptedServer::new().tool("forecast", |_| ScriptedResponse::new().raw(r#"{"json"#).close()));
    let error = kit.run(async |client| forecast(&client, "Tromsø").await).expect_err("there is no answer");
    assert_eq!(error.kind(), ErrorKind::Closed);
}

fn main() {
    a_forecast_names_its_city();
    a_slow_server_is_asked_once_more();
    a_server_that_crashes_is_an_error();
    println!("three tests passed: 39 s of virtual time, no process, no network");
}
