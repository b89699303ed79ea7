//! Resources: what servers have to read, and how it is read and watched (2026-07-28, server/resources).

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::object::object;
use super::result_type::complete;
use super::{Annotations, Icon, Listed, ResourceContents};
use crate::json::Json;
use crate::json::from_json::Mismatch;

object! {
    /// Something that can be read from a server: a file, a record, a page.
    ///
    /// A list leaves out an entry without an address. One without a name goes by its address.
    pub struct Resource("a resource", finish check_resource) {
        /// The address to read it at.
        required uri: String = "uri",
        /// The name that programs use.
        or_blank name: String = "name",
        /// The name that people read (from 2025-06-18).
        optional title: String = "title",
        /// What it is, in words for a language model.
        optional description: String = "description",
        /// Its media type.
        optional mime_type: String = "mimeType",
        /// Its size in bytes, before any encoding.
        optional size: u64 = "size",
        /// For whom it is, and how much it matters.
        optional annotations: Annotations = "annotations",
        /// Pictures of it (from 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Metadata (from 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_resource(mut resource: Resource) -> Result<Resource, Mismatch> {
    resource.name = checked_name(resource.name, &resource.uri, "`uri` is empty")?;
    Ok(resource)
}

impl Resource {
    /// The name to show: the title where there is one.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// Resources whose addresses follow a pattern (2026-07-28, server/resources, "Resource Templates").
    ///
    /// A list leaves out an entry without a pattern. One without a name goes by its pattern.
    pub struct ResourceTemplate("a resource template", finish check_template) {
        /// The pattern, a URI template of RFC 6570.
        required uri_template: String = "uriTemplate",
        /// The name that programs use.
        or_blank name: String = "name",
        /// The name that people read (from 2025-06-18).
        optional title: String = "title",
        /// What such resources are, in words for a language model.
        optional description: String = "description",
        /// The media type, where all of them have the same.
        optional mime_type: String = "mimeType",
        /// For whom they are, and how much they matter.
        optional annotations: Annotations = "annotations",
        /// Pictures of them (from 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Metadata (from 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_template(mut template: ResourceTemplate) -> Result<ResourceTemplate, Mismatch> {
    template.name = checked_name(template.name, &template.uri_template, "`uriTemplate` is empty")?;
    Ok(template)
}

impl ResourceTemplate {
    /// The name to show: the title where there is one.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// What cannot be read is left out; what can be read is kept, named or not.
fn checked_name(name: String, address: &str, empty: &'static str) -> Result<String, Mismatch> {
    match (address.is_empty(), name.is_empty()) {
        (true, _) => Err(Mismatch::Object { reason: empty.into(), name: Some(name).filter(|name| !name.is_empty()) }),
        (false, true) => Ok(address.into()),
        (false, false) => Ok(name),
    }
}

object! {
    /// One page of a server's resources (`ListResourcesResult`).
    pub struct ListResourcesResult(
        "an object",
        finish |page: ListResourcesResult| complete(page.result_type.as_deref()).map(|()| page)
    ) {
        /// The resources.
        or_blank resources: Listed<Resource> = "resources",
        /// Where the next page starts; absent on the last one.
        optional next_cursor: String = "nextCursor",
        /// `complete`.
        optional result_type: String = "resultType",
        /// For how long the answer holds, in milliseconds.
        optional ttl_ms: u64 = "ttlMs",
        /// Who may share a cached answer: `public` or `private`.
        optional cache_scope: String = "cacheScope",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

object! {
    /// One page of a server's resource templates (`ListResourceTemplatesResult`).
    pub struct ListResourceTemplatesResult(
        "an object",
        finish |page: ListResourceTemplatesResult| complete(page.result_type.as_deref()).map(|()| page)
    ) {
        /// The templates.
        or_blank resource_templates: Listed<ResourceTemplate> = "resourceTemplates",
        /// Where the next page starts; absent on the last one.
        optional next_cursor: String = "nextCursor",
        /// `complete`.
        optional result_type: String = "resultType",
        /// For how long the answer holds, in milliseconds.
        optional ttl_ms: u64 = "ttlMs",
        /// Who may share a cached answer: `public` or `private`.
        optional cache_scope: String = "cacheScope",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

/// Parameters of `resources/read`.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReadResourceParams<'a> {
    /// The address of the resource.
    pub uri: &'a str,
}

object! {
    /// What a resource holds (`ReadResourceResult`).
    ///
    /// There may be several contents, as of a folder. Those that are neither text nor binary keep what they are in
    /// [`ResourceContents::extra`]; those that are no object at all are left out, and told.
    pub struct ReadResourceResult(
        "an object",
        finish |result: ReadResourceResult| complete(result.result_type.as_deref()).map(|()| result)
    ) {
        /// The contents; empty where the server sent none.
        or_blank contents: Listed<ResourceContents> = "contents",
        /// `complete`.
        optional result_type: String = "resultType",
        /// For how long the answer holds, in milliseconds.
        optional ttl_ms: u64 = "ttlMs",
        /// Who may share a cached answer: `public` or `private`.
        optional cache_scope: String = "cacheScope",
        /// Metadata.
        optional meta: Json = "_meta",
    }
}

/// Parameters of `resources/subscribe` (up to 2025-11-25, server/resources, "Subscriptions").
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SubscribeParams<'a> {
    /// The address of the resource to watch.
    pub uri: &'a str,
}

/// Parameters of `resources/unsubscribe` (up to 2025-11-25).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UnsubscribeParams<'a> {
    /// The address of the resource that need not be watched any more.
    pub uri: &'a str,
}

object! {
    /// A resource that is watched has changed: what `notifications/resources/updated` carries (2026-07-28,
    /// server/resources, "Subscriptions").
    pub struct ResourceUpdated("an object") {
        /// Its address; may lie within the one that was subscribed to.
        required uri: String = "uri",
        /// Metadata; from 2026-07-28 it says on which subscription this comes.
        optional meta: Json = "_meta",
    }
}
