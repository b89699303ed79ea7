//! Prompts, resources, and subscriptions to their changes.

use serde_json::{Value, json};

use super::{Client, modern};

fn complete(client: &mut Client, reference: &Value, argument: &str, value: &str) -> Value {
    let params = json!({ "ref": reference, "argument": { "name": argument, "value": value } });
    client.request("completion/complete", &modern(params))
}

#[test]
fn prompts_are_filled_in() {
    let mut client = Client::start();
    let listed = client.request("prompts/list", &modern(json!({})))["result"].take();
    assert_eq!(
        (&listed["prompts"][0]["name"], &listed["prompts"][1]["name"]),
        (&json!("greeting"), &json!("forecast"))
    );
    let mut get = |name: &str, arguments: Value| {
        client.request("prompts/get", &modern(json!({ "name": name, "arguments": arguments })))
    };
    let greeting = get("greeting", json!({ "name": "Ada", "language": "German" }));
    let text = &greeting["result"]["messages"][0]["content"]["text"];
    assert_eq!(text, "Write a short greeting for Ada in German.");
    let forecast = get("forecast", json!({ "city": "São Paulo" }))["result"].take();
    assert_eq!(forecast["messages"][0]["content"]["resource"]["uri"], "demo://weather/S%C3%A3o%20Paulo");
    for (name, arguments) in
        [("greeting", json!({})), ("greeting", json!({ "name": 1 })), ("nonesuch", json!({})), ("greeting", json!([]))]
    {
        assert_eq!(get(name, arguments.clone())["error"]["code"], -32602, "{name} {arguments}");
    }
}

#[test]
fn resources_are_read_also_through_the_template() {
    let mut client = Client::start();
    let listed = client.request("resources/list", &modern(json!({})))["result"].take();
    let uris: Vec<_> = listed["resources"].as_array().into_iter().flatten().map(|it| it["uri"].clone()).collect();
    assert_eq!(uris, ["demo://about", "demo://calls", "demo://chart.png"]);
    for uri in uris {
        let read = client.request("resources/read", &modern(json!({ "uri": uri })))["result"].take();
        assert_eq!(read["contents"][0]["uri"], uri);
        let is_text = read["contents"][0]["text"].is_string();
        assert_ne!(is_text, read["contents"][0]["blob"].is_string(), "{read}");
    }
    let templates = client.request("resources/templates/list", &modern(json!({})))["result"].take();
    assert_eq!(templates["resourceTemplates"][0]["uriTemplate"], "demo://weather/{city}");
    let read = client.request("resources/read", &modern(json!({ "uri": "demo://weather/S%C3%A3o%20Paulo" })));
    let weather: Value = serde_json::from_str(read["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let called = client.call("weather", &json!({ "city": "São Paulo" }));
    assert_eq!(weather, called["result"]["structuredContent"]);
}

#[test]
fn an_unknown_resource_is_refused_with_the_code_of_its_era() {
    for uri in ["demo://nonesuch", "demo://weather/", "demo://weather/a/b", "demo://weather/%FF", "file:///etc/passwd"]
    {
        let modern = Client::start().request("resources/read", &modern(json!({ "uri": uri })))["error"].take();
        assert_eq!((&modern["code"], &modern["data"]["uri"]), (&json!(-32602), &json!(uri)));
        let legacy = Client::legacy("2025-11-25").request("resources/read", &json!({ "uri": uri }))["error"].take();
        assert_eq!((&legacy["code"], &legacy["data"]["uri"]), (&json!(-32002), &json!(uri)));
    }
}

#[test]
fn arguments_of_prompts_and_of_the_template_are_completed() {
    let mut client = Client::start();
    let (greeting, template) = (
        json!({ "type": "ref/prompt", "name": "greeting" }),
        json!({ "type": "ref/resource", "uri": "demo://weather/{city}" }),
    );
    let completion = complete(&mut client, &template, "city", "po")["result"]["completion"].take();
    assert_eq!(completion, json!({ "values": ["Porto"], "total": 1, "hasMore": false }));
    let completion = complete(&mut client, &greeting, "language", "")["result"]["completion"].take();
    assert_eq!((&completion["total"], &completion["values"][2]), (&json!(3), &json!("Portuguese")));
    assert_eq!(complete(&mut client, &greeting, "name", "A")["result"]["completion"]["values"], json!([]));
    for (reference, argument) in [
        (&json!({ "type": "ref/prompt", "name": "nonesuch" }), "city"),
        (&json!({ "type": "ref/resource", "uri": "demo://about" }), "city"),
        (&template, "nonesuch"),
        (&json!({}), "city"),
    ] {
        assert_eq!(complete(&mut client, reference, argument, "")["error"]["code"], -32602, "{reference} {argument}");
    }
    let without = modern(json!({ "ref": greeting }));
    assert_eq!(client.request("completion/complete", &without)["error"]["code"], -32602);
}

#[test]
fn titles_and_the_completions_capability_are_as_new_as_they_are() {
    for (version, has_titles, declares_completions) in
        [("2024-11-05", false, false), ("2025-03-26", false, true), ("2025-06-18", true, true)]
    {
        let mut client = Client::start();
        let opened = client.request("initialize", &json!({ "protocolVersion": version }))["result"].take();
        assert_eq!(opened["capabilities"].get("completions").is_some(), declares_completions, "{version}");
        for (method, list) in [
            ("prompts/list", "prompts"),
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
        ] {
            let listed = client.request(method, &json!({}))["result"].take();
            assert_eq!(listed[list][0].get("title").is_some(), has_titles, "{version} {method}");
        }
    }
}

// Subscriptions.

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
