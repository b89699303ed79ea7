//! Being told of changes: the same in every revision of the protocol. The server is a script in memory, whose file changes
//! twice a minute; the minute passes in no time.
//!
//! ```text
//! cargo run --example subscribe
//! ```

use std::time::Duration;

use mcpwire_driver::core::{Era, SubscriptionEvent, SubscriptionFilter};
use mcpwire_driver::{Error, McpClient};
use mcpwire_testkit::{ScriptedResponse, ScriptedServer, Testkit};
use serde_json::json;

const FILE: &str = "file:///project/config.json";

async fn watch<R>(client: &McpClient<R>) -> Result<(), Error> {
    let wanted = SubscriptionFilter::new().tools().prompts().resource(FILE);
    let mut changes = client.subscribe(&wanted).await?;
    // What the server does not agree to will never be told.
    let agreed = changes.acknowledged();
    println!("prompts are {}watched", if agreed.prompts_list_changed { "" } else { "not " });

    // However late a change is taken, it is there; told twice before, it is one.
    while let Some(change) = changes.next().await {
        match change {
            SubscriptionEvent::ResourceUpdated { uri } => {
                let result = client.read_resource(&uri).await?;
                let text = result.contents.items.first().and_then(|contents| contents.text.as_deref());
                println!("{uri} is now {}", text.unwrap_or("empty"));
            }
            SubscriptionEvent::ToolsChanged => println!("{} tools", client.list_tools().await?.len()),
            // All that is watched may have changed: too much at once, or there was an interruption.
            other => println!("everything is to be looked at: {other:?}"),
        }
    }
    // Dropped before, it would be cancelled, and the server told.
    println!("{}", changes.end().map(ToString::to_string).unwrap_or_default());
    Ok(())
}

fn main() -> Result<(), Error> {
    Testkit::new(server()).run(async |client| watch(&client).await)
}

/// A server of the legacy era: it has `resources/subscribe`, and tells of its tools without being asked.
fn server() -> ScriptedServer {
    let half_a_minute = Duration::from_secs(30);
    let updated = move |answer: ScriptedResponse| {
        answer.wait(half_a_minute).notify("notifications/resources/updated", json!({ "uri": FILE }))
    };
    let mut versions = 0;
    ScriptedServer::new()
        .era(Era::Legacy)
        .capabilities(json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}}))
        .tool("build", |_| "built")
        .on("resources/subscribe", move |_| {
            let answer = updated(updated(ScriptedResponse::new().result(json!({}))));
            answer.notify("notifications/tools/list_changed", ()).wait(half_a_minute).close()
        })
        .on("resources/read", move |_| {
            versions += 1;
            ScriptedResponse::new().result(json!({"contents": [{"uri": FILE, "text": format!("version {versions}")}]}))
        })
}
