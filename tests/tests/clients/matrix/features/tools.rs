//! Tools and their calls.

use mcpwire_driver::protocol::{CallError, ProtocolVersion};
use mcpwire_tests::done_of_total;
use serde_json::json;

use super::Outcome::{Without, Works};
use super::clients::Client;
use super::{On, Tried, text, works_if};

pub(crate) fn in_pages<C: Client>(on: &mut On<C>) -> Tried {
    let tools = on.attempt(Client::tools)?;
    assert_eq!((tools.len(), on.count("tools/list")), (10, 5));
    Ok(Works)
}

pub(crate) fn calls<C: Client>(on: &mut On<C>) -> Tried {
    let result = on.attempt(|client| client.call("echo", &json!({"message": "hello"})))?;
    assert_eq!(text(&result), "hello");
    Ok(Works)
}

pub(crate) fn progress<C: Client>(on: &mut On<C>) -> Tried {
    let mut seen = Vec::new();
    let result = on.attempt(|client| client.call_for_progress("steps", &mut seen))?;
    assert_eq!(text(&result), "stepped");
    assert_eq!(seen.iter().map(done_of_total).collect::<Vec<_>>(), [(1.0, Some(2.0)), (2.0, Some(2.0))]);
    Ok(Works)
}

pub(crate) fn structured_content<C: Client>(on: &mut On<C>) -> Tried {
    let result = on.attempt(|client| client.call("measure", &json!({})))?;
    assert_eq!(text(&result), r#"{"n":21}"#);
    match on.client.structured("measure") {
        Ok(value) => assert_eq!(value, json!({"n": 21})),
        Err(error) => {
            assert!(matches!(error.call_error(), Some(CallError::Structured { .. })), "{error}");
            assert!(error.to_string().contains(r#"{"n":21}"#), "it says what there is: {error}");
            return Ok(Without);
        }
    }
    Ok(Works)
}

pub(crate) fn annotations<C: Client>(on: &mut On<C>) -> Tried {
    let annotations = on.tool("measure")?.annotations;
    Ok(works_if(annotations.is_some_and(|annotations| annotations.read_only_hint == Some(true))))
}

pub(crate) fn titles<C: Client>(on: &mut On<C>) -> Tried {
    let tool = on.tool("measure")?;
    let has = tool.title.as_deref() == Some("Titled");
    let annotated = on.version >= ProtocolVersion::V2025_03_26;
    assert_eq!(
        tool.display_name(),
        if has {
            "Titled"
        } else if annotated {
            "Annotated"
        } else {
            "measure"
        }
    );
    Ok(works_if(has))
}

pub(crate) fn output_schemas<C: Client>(on: &mut On<C>) -> Tried {
    Ok(works_if(on.tool("measure")?.output_schema.is_some_and(|schema| schema.get().contains("integer"))))
}

pub(crate) fn icons<C: Client>(on: &mut On<C>) -> Tried {
    Ok(works_if(on.tool("measure")?.icons.iter().any(|icon| icon.src == "https://a.example/i.png")))
}
