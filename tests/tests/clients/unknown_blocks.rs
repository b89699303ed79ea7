//! What no revision of the protocol knows is kept as it came, and spoils nothing around it.

use mcpwire_blocking::ErrorKind;
use mcpwire_blocking::protocol::ContentBlock;
use mcpwire_tests::{Adapter, Call, on_every_adapter, server};

fn unknown_blocks_keep_their_json<A: Adapter>() {
    for era in ["", "--modern"] {
        let server = server!(&format!("unknown-blocks {era}"));
        let mut client = server.open::<A>();
        let result = client.call(Call::new("blocks")).expect("it is a result");
        assert_eq!(result.text().to_string(), "first\nlast");
        let [ContentBlock::Text(_), ContentBlock::Unknown(unknown), ContentBlock::Image(image), ContentBlock::Text(_)] =
            result.content.as_slice()
        else {
            panic!("four blocks, the second unknown: {:?}", result.content);
        };
        assert_eq!(unknown.kind, "hologram");
        assert_eq!(unknown.raw.get(), r#"{"type":"hologram","depth":3,"data":{"text":"inside"}}"#);
        assert_eq!(image.mime_type, "image/never-seen");
        assert!(result.meta.expect("it is there").get().contains("com.example/trace"));
        client.assert_alive();
    }
}

/// This client has not said that it can do anything with such results.
fn a_result_of_another_type_is_no_result<A: Adapter>() {
    let server = server!("result-types --modern");
    let mut client = server.open::<A>();
    client.call(Call::new("complete")).expect("it is complete");
    for kind in ["task", "vendor/type"] {
        client.failure(kind).assert(ErrorKind::Protocol, &["tools/call", kind]);
        client.assert_alive();
    }
    client.failure("input_required").assert(ErrorKind::Input, &["tools/call"]);
    client.assert_alive();
}

on_every_adapter!(unknown_blocks_keep_their_json, a_result_of_another_type_is_no_result);
