//! Subscribes to changes, with the same code for all revisions of the protocol. The server is scripted and changes a file twice a minute,
//! in virtual time.
//!
//! ```text
//! cargo run --example subscribe
//! ```

use std::time::Duration;

use mcpwire::Error;
use mcpwire::SubscriptionEvent;
use mcpwire::runtime::McpClient;
use mcpwire::testkit::{ScriptedResponse, ScriptedServer, Testkit};
use mcpwire::types::{Era, SubscriptionFilter};
use serde_json::json;

const FILE: &str = "file:///project/config.json";

async fn watch<R>(client: &McpClient<R>) -> Result<(), Error> {
    let wanted = SubscriptionFilter::new().tools().prompts().resource(FILE);
    let mut changes = client.subscribe(&wanted).await?;
    // The server may accept a part of the subscription only.
    let agreed = changes.acknowledged();
    println!("prompts are {}watched", if agreed.prompts_list_changed { "" } else { "not " });

    // No change is lost. Repeated changes of a resource are merged.
    while let Some(change) = changes.next().await {
        match change {
            SubscriptionEvent::ResourceUpdated { uri } => {
                let result = client.read_resource(&uri).await?;
                let text = result.contents.items.first().and_then(|contents| contents.text.as_deref());
                println!("{uri} is now {}", text.unwrap_or("empty"));
            }
            SubscriptionEvent::ToolsChanged => println!("{} tools", client.list_tools().await?.len()),
            // Too many changes, or an interruption: everything may have changed.
            other => println!("everything is to be looked at: {other:?}"),
        }
    }
    // Dropping the subscription would have ended it on the server.
    println!("{}", changes.end().map(ToString::to_string).unwrap_or_default());
    Ok(())
}

fn main() -> Result<(), Error> {
    Testkit::new(server()).run(async |client| watch(&client).await)
}

/// A legacy server: it supports `resources/subscribe`, and reports list changes without a subscription.
fn server() -> ScriptedServer {
    let half_a_minute = Duration::from_secs(30);
    let updated = move |response: ScriptedResponse| {
        response.wait(half_a_minute).notify("notifications/resources/updated", json!({ "uri": FILE }))
    };
    let mut versions = 0;
    ScriptedServer::new()
        .era(Era::Legacy)
        .capabilities(json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}}))
        .tool("build", |_| "built")
        .on("resources/subscribe", move |_| {
            let response = updated(updated(ScriptedResponse::new().result(json!({}))));
            response.notify("notifications/tools/list_changed", ()).wait(half_a_minute).close()
        })
        .on("resources/read", move |_| {
            versions += 1;
            ScriptedResponse::new().result(json!({"contents": [{"uri": FILE, "text": format!("version {versions}")}]}))
        })
}
