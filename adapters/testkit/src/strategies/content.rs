//! Content blocks and the contents of resources.

use mcpwire_driver::protocol::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, Number, ProtocolVersion, ResourceContents,
    ResourceLink, TextContent,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::basic::icons;
use super::{meta, name, since, text, uri};

/// Generates the annotations of a content block or resource.
pub fn annotations(version: ProtocolVersion) -> impl Strategy<Value = Annotations> {
    let audience = vec(select(vec!["user", "assistant"]), 0..3);
    let modified = since(version, ProtocolVersion::V2025_06_18, Just("2025-01-12T15:00:58Z".to_owned()));
    (audience, option::of(0.0..=1.0), modified).prop_map(|(audience, priority, last_modified)| {
        let mut annotations = Annotations::default();
        annotations.audience = audience.into_iter().map(Into::into).collect();
        annotations.priority = priority.map(Number::from);
        annotations.last_modified = last_modified;
        annotations
    })
}

/// Generates a content block of each type that the revision defines.
pub fn content_block(version: ProtocolVersion) -> BoxedStrategy<ContentBlock> {
    let common = || {
        let meta = since(version, ProtocolVersion::V2025_06_18, meta());
        (option::of(annotations(version).prop_map(Box::new)), meta)
    };
    let text = (text(), common()).prop_map(|(text, (annotations, meta))| {
        let mut block = TextContent::new(text);
        (block.annotations, block.meta) = (annotations, meta);
        ContentBlock::from(block)
    });
    let image = (base64(), common()).prop_map(|(data, (annotations, meta))| {
        let mut block = ImageContent::new(data, "image/png");
        (block.annotations, block.meta) = (annotations, meta);
        ContentBlock::from(block)
    });
    let audio = (base64(), common()).prop_map(|(data, (annotations, meta))| {
        let mut block = AudioContent::new(data, "audio/wav");
        (block.annotations, block.meta) = (annotations, meta);
        ContentBlock::from(block)
    });
    let resource = (resource_contents(version), common()).prop_map(|(resource, (annotations, meta))| {
        let mut block = EmbeddedResource::new(resource);
        (block.annotations, block.meta) = (annotations, meta);
        ContentBlock::from(block)
    });
    let link = (resource_link(version), common()).prop_map(|(mut block, (annotations, meta))| {
        (block.annotations, block.meta) = (annotations, meta);
        ContentBlock::from(block)
    });
    let first = prop_oneof![4 => text, 1 => image, 1 => resource];
    match version {
        ProtocolVersion::V2024_11_05 => first.boxed(),
        ProtocolVersion::V2025_03_26 => prop_oneof![4 => first, 1 => audio].boxed(),
        _ => prop_oneof![4 => first, 1 => audio, 1 => link].boxed(),
    }
}

fn resource_link(version: ProtocolVersion) -> impl Strategy<Value = ResourceLink> {
    let details = (option::of(text()), option::of(text()), option::of(text()), option::of(0..1_000_000_u64));
    (uri(), name(), details, icons(version)).prop_map(|(uri, name, (title, description, mime_type, size), icons)| {
        let mut link = ResourceLink::new(uri, name);
        (link.title, link.description, link.mime_type, link.size) = (title, description, mime_type, size);
        link.icons = icons;
        link
    })
}

/// Generates the contents of a resource: a text or binary data.
pub fn resource_contents(version: ProtocolVersion) -> impl Strategy<Value = ResourceContents> {
    let contents = prop_oneof![
        (uri(), text()).prop_map(|(uri, text)| ResourceContents::from_text(uri, text)),
        (uri(), base64()).prop_map(|(uri, blob)| ResourceContents::from_blob(uri, blob)),
    ];
    (contents, option::of(text()), since(version, ProtocolVersion::V2025_06_18, meta())).prop_map(
        |(mut contents, mime_type, meta)| {
            (contents.mime_type, contents.meta) = (mime_type, meta);
            contents
        },
    )
}

/// Generates data in base64.
fn base64() -> impl Strategy<Value = String> {
    "([A-Za-z0-9+/]{4}){0,4}"
}
