//! Strategies for content blocks and the contents of resources.

use mcpwire_driver::protocol::{Annotations, ContentBlock, ProtocolVersion, ResourceContents};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::values::{Object, V06};
use super::{name, text, uri};

/// Generates the annotations of a content block or a resource, such as its audience and its priority.
pub fn annotations(version: ProtocolVersion) -> impl Strategy<Value = Annotations> {
    Object::new(version)
        .member("audience", vec(select(vec!["user", "assistant"]), 0..3))
        .optional("priority", 0.0..=1.0)
        .since(V06, "lastModified", Just("2025-01-12T15:00:58Z"))
        .generate()
}

/// Generates a content block of any type that the revision defines, mostly text.
pub fn content_block(version: ProtocolVersion) -> BoxedStrategy<ContentBlock> {
    let block = |kind| {
        let object = Object::new(version).member("type", Just(kind));
        object.optional("annotations", annotations(version)).meta()
    };
    let text_block = block("text").member("text", text()).generate();
    let image = block("image").member("data", base64()).member("mimeType", Just("image/png")).generate();
    let audio = block("audio").member("data", base64()).member("mimeType", Just("audio/wav")).generate();
    let resource = block("resource").member("resource", resource_contents(version)).generate();
    let link = block("resource_link")
        .member("uri", uri())
        .member("name", name())
        .optional("title", text())
        .optional("description", text())
        .optional("mimeType", text())
        .optional("size", 0..1_000_000_u64)
        .icons()
        .generate();
    let first = prop_oneof![4 => text_block, 1 => image, 1 => resource];
    match version {
        ProtocolVersion::V2024_11_05 => first.boxed(),
        ProtocolVersion::V2025_03_26 => prop_oneof![4 => first, 1 => audio].boxed(),
        _ => prop_oneof![4 => first, 1 => audio, 1 => link].boxed(),
    }
}

/// Generates the contents of a resource: a text, or binary data in base64.
pub fn resource_contents(version: ProtocolVersion) -> impl Strategy<Value = ResourceContents> {
    let contents = || Object::new(version).member("uri", uri()).optional("mimeType", text()).meta();
    prop_oneof![contents().member("text", text()).generate(), contents().member("blob", base64()).generate(),]
}

/// Generates up to 12 bytes of data in base64.
fn base64() -> impl Strategy<Value = String> {
    "([A-Za-z0-9+/]{4}){0,4}"
}
