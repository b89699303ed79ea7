//! Null where a field may be absent means that it is absent.

use std::sync::{Arc, Mutex};

use mcpwire_blocking::protocol::{ContentBlock, Negotiate};
use mcpwire_tests::{Adapter, Call, done_of_total, on_every_adapter, server};

fn null_means_absent<A: Adapter>() {
    let server = server!("null-fields").configured(|config| config.negotiate = Negotiate::Legacy);
    let mut client = server.open::<A>();
    let info = client.server_info().expect("it said who it is");
    assert_eq!((info.name(), info.instructions.as_deref()), ("bad-habits", None));

    let tools = client.list_tools().expect("it has tools");
    assert!(client.rejected_tools().is_empty());
    assert_eq!(tools.len(), 2);
    assert_eq!((&tools[0].title, &tools[0].description, &tools[0].output_schema), (&None, &None, &None));

    let seen = Arc::new(Mutex::new(Vec::new()));
    let result = client.call(Call::new("echo").progress(&seen)).expect("it is a result");
    assert_eq!(result.text().to_string(), "not null");
    assert!(!result.is_error);
    assert!(result.structured_content.is_none() && result.meta.is_none());
    assert!(matches!(
        result.content.as_slice(),
        [ContentBlock::Text(_), ContentBlock::ResourceLink(_), ContentBlock::Resource(_)]
    ));
    let seen = seen.lock().unwrap();
    assert_eq!((done_of_total(&seen[0]), &seen[0].message), ((1.0, None), &None));
}

on_every_adapter!(null_means_absent);
