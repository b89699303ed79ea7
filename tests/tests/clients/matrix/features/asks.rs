//! What servers ask of clients.

use mcpwire_driver::protocol::Root;
use serde_json::{Value, json};

use super::Outcome::{Without, Works};
use super::clients::{Client, MODEL, NAME, ROOT};
use super::{On, Tried, works_if};

pub(crate) fn elicitation_by_form<C: Client>(on: &mut On<C>) -> Tried {
    assert_eq!(on.answer_to("form")?, json!({"action": "accept", "content": {"name": NAME}}));
    Ok(Works)
}

pub(crate) fn elicitation_by_url<C: Client>(on: &mut On<C>) -> Tried {
    assert_eq!(on.answer_to("visit")?, json!({"action": "accept"}));
    Ok(Works)
}

pub(crate) fn sampling<C: Client>(on: &mut On<C>) -> Tried {
    let answer = on.answer_to("sample")?;
    assert_eq!((&answer["role"], &answer["content"]["text"]), (&json!("assistant"), &json!(MODEL)));
    Ok(Works)
}

pub(crate) fn roots<C: Client>(on: &mut On<C>) -> Tried {
    assert_eq!(on.answer_to("roots")?, json!({"roots": [{"uri": ROOT}]}));
    Ok(Works)
}

pub(crate) fn changes_of_the_roots<C: Client>(on: &mut On<C>) -> Tried {
    const CHANGED: &str = "notifications/roots/list_changed";
    on.attempt(|client| client.set_roots(vec![Root::new("file:///other")]))?;
    // In both eras, who asks is told the new ones.
    assert_eq!(on.answer_to("roots")?, json!({"roots": [{"uri": "file:///other"}]}));
    Ok(works_if(on.server.notifications().iter().any(|told| told.method == CHANGED)))
}

pub(crate) fn rounds<C: Client>(on: &mut On<C>) -> Tried {
    let result = on.attempt(|client| client.call("roots", &json!({})))?;
    let calls: Vec<_> = on.server.requests().into_iter().filter(|request| request.method == "tools/call").collect();
    let [first, second] = &calls[..] else {
        assert_eq!(calls.len(), 1);
        return Ok(Without);
    };
    assert!(first.id != second.id && first.param::<Value>("arguments") == second.param("arguments"));
    assert_eq!(second.param::<String>("requestState").as_deref(), Some("state 1"));
    assert_eq!(result.meta.expect("it is there").member::<String>("state").as_deref(), Some("state 1"));
    Ok(Works)
}
