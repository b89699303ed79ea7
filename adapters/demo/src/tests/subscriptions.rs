//! Subscriptions to the resource that changes, in both eras.

use serde_json::{Value, json};

use super::{Client, modern};

const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";

fn listen(client: &mut Client, notifications: &Value) -> u64 {
    client.send("subscriptions/listen", &modern(json!({ "notifications": notifications })))
}

#[test]
fn a_legacy_client_is_notified_until_it_unsubscribes() {
    let mut client = Client::legacy("2025-11-25");
    let echo = json!({ "name": "echo", "arguments": { "message": "hi" } });
    let calls = json!({ "uri": "demo://calls" });
    assert_eq!(client.request("resources/subscribe", &calls)["result"], json!({}));
    client.request("tools/call", &echo);
    let updated = client.receive();
    assert_eq!((&updated["method"], &updated["params"]), (&json!("notifications/resources/updated"), &calls));
    assert_eq!(client.request("resources/read", &calls)["result"]["contents"][0]["text"], "1");
    assert_eq!(client.request("resources/unsubscribe", &calls)["result"], json!({}));
    client.request("tools/call", &echo);
    assert_eq!(
        client.request("resources/read", &calls)["result"]["contents"][0]["text"],
        "2",
        "without a notification"
    );
    let unknown = client.request("resources/subscribe", &json!({ "uri": "demo://nonesuch" }));
    assert_eq!(unknown["error"]["code"], -32002);
    assert_eq!(client.request("subscriptions/listen", &json!({}))["error"]["code"], -32601);
}

#[test]
fn a_modern_client_is_notified_until_it_cancels() {
    let mut client = Client::start();
    let subscription =
        listen(&mut client, &json!({ "resourceSubscriptions": ["demo://calls"], "toolsListChanged": true }));
    let acknowledged = client.receive();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["_meta"][SUBSCRIPTION_ID], subscription);
    assert_eq!(acknowledged["params"]["notifications"], json!({ "resourceSubscriptions": ["demo://calls"] }));
    client.call("echo", &json!({ "message": "hi" }));
    let updated = client.receive();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(
        (&updated["params"]["uri"], &updated["params"]["_meta"][SUBSCRIPTION_ID]),
        (&json!("demo://calls"), &json!(subscription))
    );
    client.notify("notifications/cancelled", &json!({ "requestId": subscription }));
    client.call("echo", &json!({ "message": "hi" }));
    let read = client.request("resources/read", &modern(json!({ "uri": "demo://calls" })))["result"].take();
    assert_eq!((&read["contents"][0]["text"], &read["ttlMs"]), (&json!("2"), &json!(0)));
    assert_eq!(
        client.request("resources/subscribe", &modern(json!({ "uri": "demo://calls" })))["error"]["code"],
        -32601
    );
}

#[test]
fn a_subscription_agrees_only_to_what_the_server_has() {
    let mut client = Client::start();
    for asked in [json!({}), json!({ "resourceSubscriptions": ["demo://nonesuch"], "promptsListChanged": true })] {
        listen(&mut client, &asked);
        assert_eq!(client.receive()["params"]["notifications"], json!({}));
    }
    for wrong in [json!([]), json!({ "resourceSubscriptions": "demo://calls" })] {
        listen(&mut client, &wrong);
        assert_eq!(client.receive()["error"]["code"], -32602);
    }
}
