//! What servers have beside tools.

use mcpwire_driver::protocol::internal::{Subscribe, SubscribeParams};
use mcpwire_driver::protocol::{
    CompleteParams, CompletionReference, Json, LogMessage, LoggingLevel, SetLevel, SetLevelParams, SubscriptionEvent,
    SubscriptionFilter,
};
use serde_json::{Value, json};

use super::Outcome::Works;
use super::clients::Client;
use super::server::URI;
use super::{On, Outcome, Tried, works_if};

pub(crate) fn resources<C: Client>(on: &mut On<C>) -> Tried {
    let listed = on.attempt(Client::resources)?;
    assert_eq!(listed.items[0].uri, URI);
    Ok(Works)
}

pub(crate) fn templates<C: Client>(on: &mut On<C>) -> Tried {
    let listed = on.attempt(Client::templates)?;
    assert_eq!(listed.items[0].uri_template, "file:///{p}");
    Ok(Works)
}

pub(crate) fn reading<C: Client>(on: &mut On<C>) -> Tried {
    let read = on.attempt(|client| client.read(URI))?;
    assert_eq!(read.contents.items[0].text.as_deref(), Some("what it says"));
    Ok(Works)
}

pub(crate) fn updates_of_a_resource<C: Client>(on: &mut On<C>) -> Tried {
    let wanted = SubscriptionFilter::new().resource(URI);
    let event = heard(on, &wanted, "notifications/resources/updated", &json!({"uri": URI}))?;
    assert_eq!(event, SubscriptionEvent::ResourceUpdated { uri: URI.into() });
    assert_eq!(on.count("subscriptions/listen"), usize::from(on.is_modern()));
    assert_eq!(on.count("resources/subscribe"), usize::from(!on.is_modern()));
    Ok(Works)
}

pub(crate) fn changes_of_a_list<C: Client>(on: &mut On<C>) -> Tried {
    let wanted = SubscriptionFilter::new().tools();
    let event = heard(on, &wanted, "notifications/tools/list_changed", &json!({}))?;
    assert_eq!(event, SubscriptionEvent::ToolsChanged);
    Ok(Works)
}

/// Subscribes, and hears what the server tells after.
fn heard<C: Client>(
    on: &mut On<C>,
    wanted: &SubscriptionFilter,
    what: &'static str,
    params: &Value,
) -> Result<SubscriptionEvent, Outcome> {
    let (server, modern, mut params) = (on.server.clone(), on.is_modern(), params.clone());
    let tell = move || {
        if modern {
            let listen = server.requests().into_iter().rfind(|request| request.method == "subscriptions/listen");
            let id = listen.and_then(|listen| listen.id).expect("it was asked");
            params["_meta"] = json!({"io.modelcontextprotocol/subscriptionId": id});
        }
        server.notify(what, &params);
    };
    let tell = std::cell::RefCell::new(tell);
    let (agreed, event) = on.attempt(|client| client.heard_after(wanted, &|| (tell.borrow_mut())()))?;
    assert_eq!(agreed, *wanted);
    Ok(event)
}

pub(crate) fn resources_subscribe<C: Client>(on: &mut On<C>) -> Tried {
    on.request::<Subscribe>(&SubscribeParams { uri: URI })
}

pub(crate) fn prompts<C: Client>(on: &mut On<C>) -> Tried {
    let listed = on.attempt(Client::prompts)?;
    assert_eq!(listed.items[0].name, "greet");
    Ok(Works)
}

pub(crate) fn a_prompt<C: Client>(on: &mut On<C>) -> Tried {
    let prompt = on.attempt(|client| client.prompt("greet", &json!({"name": "Ann"})))?;
    assert_eq!(prompt.messages.items[0].content.as_text(), Some("Greet Ann."));
    Ok(Works)
}

pub(crate) fn completion<C: Client>(on: &mut On<C>) -> Tried {
    let result = on.attempt(|client| client.complete(&framework()))?;
    assert_eq!(result.completion.values, ["flask", "flutter"]);
    Ok(Works)
}

pub(crate) fn completion_with_context<C: Client>(on: &mut On<C>) -> Tried {
    let mut params = framework();
    params.context = &[("language", "python")];
    let result = on.attempt(|client| client.complete(&params))?;
    let sent = on.server.requests().pop().expect("it was asked");
    let has = sent.param::<Value>("context").is_some();
    assert_eq!(result.completion.values.len(), if has { 1 } else { 2 });
    Ok(works_if(has))
}

fn framework() -> CompleteParams<'static> {
    CompleteParams::new(CompletionReference::Prompt { name: "greet" }, "framework", "fl")
}

pub(crate) fn log_level<C: Client>(on: &mut On<C>) -> Tried {
    on.attempt(|client| client.set_log_level(&LoggingLevel::Warning))?;
    on.attempt(|client| client.call("log", &json!({})))?;
    assert_eq!(on.client.logs().iter().map(LogMessage::text).collect::<Vec<_>>(), ["hot"]);
    let requests = on.server.requests();
    let level: Option<Value> = if on.is_modern() {
        requests[0].param::<Json>("_meta").and_then(|meta| meta.member("io.modelcontextprotocol/logLevel"))
    } else {
        requests[0].param("level")
    };
    assert_eq!(level, Some(json!("warning")));
    assert_eq!(on.count("logging/setLevel"), usize::from(!on.is_modern()));
    Ok(Works)
}

pub(crate) fn logging_set_level<C: Client>(on: &mut On<C>) -> Tried {
    on.request::<SetLevel>(&SetLevelParams { level: &LoggingLevel::Error })
}
