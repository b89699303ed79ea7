//! Resources: how they are listed, read and watched (2026-07-28, server/resources).

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::object::object;
use super::result::{page, result};
use super::{Annotations, Icon, Listed, ResourceContents};
use crate::json::Json;
use crate::json::from_json::Mismatch;

object! {
    /// A resource that can be read from a server: a file, a record, a page.
    ///
    /// An entry of a list is rejected if it has no URI. An entry without a name has its URI as its name.
    pub struct Resource("a resource", finish check_resource) {
        /// The URI to read the resource by.
        required uri: String = "uri",
        /// The name for programs.
        always name: String = "name",
        /// The name to show to people (from 2025-06-18).
        optional title: String = "title",
        /// What the resource is, in words for a language model.
        optional description: String = "description",
        /// The media type.
        optional mime_type: String = "mimeType",
        /// The size in bytes, before any encoding.
        optional size: u64 = "size",
        /// For whom the resource is, and how important it is.
        optional annotations: Annotations = "annotations",
        /// Icons of the resource (from 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Metadata (from 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_resource(mut resource: Resource) -> Result<Resource, Mismatch> {
    resource.name = name_or_uri(resource.name, &resource.uri, "`uri` is empty")?;
    Ok(resource)
}

impl Resource {
    /// Returns the name to show to people: the title if there is one, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// A template for the URIs of resources (2026-07-28, server/resources, "Resource Templates").
    ///
    /// An entry of a list is rejected if it has no template. An entry without a name has its template as its name.
    pub struct ResourceTemplate("a resource template", finish check_template) {
        /// The URI template (RFC 6570).
        required uri_template: String = "uriTemplate",
        /// The name for programs.
        always name: String = "name",
        /// The name to show to people (from 2025-06-18).
        optional title: String = "title",
        /// What the resources are, in words for a language model.
        optional description: String = "description",
        /// The media type, if it is the same for all resources of the template.
        optional mime_type: String = "mimeType",
        /// For whom the resources are, and how important they are.
        optional annotations: Annotations = "annotations",
        /// Icons of the resources (from 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Metadata (from 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_template(mut template: ResourceTemplate) -> Result<ResourceTemplate, Mismatch> {
    template.name = name_or_uri(template.name, &template.uri_template, "`uriTemplate` is empty")?;
    Ok(template)
}

impl ResourceTemplate {
    /// Returns the name to show to people: the title if there is one, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// Returns the name of a resource, which is its URI if it has no other. Rejects a resource without a URI: it cannot be read.
fn name_or_uri(name: String, uri: &str, empty: &'static str) -> Result<String, Mismatch> {
    match (uri.is_empty(), name.is_empty()) {
        (true, _) => Err(Mismatch::Object { reason: empty.into(), name: Some(name).filter(|name| !name.is_empty()) }),
        (false, true) => Ok(uri.into()),
        (false, false) => Ok(name),
    }
}

page! {
    /// One page of a server's resources (`ListResourcesResult`).
    pub struct ListResourcesResult {
        /// The resources.
        resources: Resource = "resources",
    }
}

page! {
    /// One page of a server's resource templates (`ListResourceTemplatesResult`).
    pub struct ListResourceTemplatesResult {
        /// The templates.
        resource_templates: ResourceTemplate = "resourceTemplates",
    }
}

/// Parameters of `resources/read`.
#[derive(Debug, Serialize)]
pub struct ReadResourceParams<'a> {
    /// The URI of the resource.
    pub uri: &'a str,
}

result! {
    /// The contents of a resource (`ReadResourceResult`).
    ///
    /// There may be several contents, for example of a folder. Contents that are neither text nor binary keep their members in
    /// [`ResourceContents::extra`]. An entry that is not an object is rejected.
    pub cacheable struct ReadResourceResult {
        /// The contents; empty if the server sent none.
        always contents: Listed<ResourceContents> = "contents",
    }
}

/// Parameters of `resources/subscribe` (up to 2025-11-25, server/resources, "Subscriptions").
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SubscribeParams<'a> {
    /// The URI of the resource to watch.
    pub uri: &'a str,
}

/// Parameters of `resources/unsubscribe` (up to 2025-11-25).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UnsubscribeParams<'a> {
    /// The URI of the resource to stop watching.
    pub uri: &'a str,
}

object! {
    /// Parameters of `notifications/resources/updated`: a watched resource has changed (2026-07-28, server/resources,
    /// "Subscriptions").
    pub struct ResourceUpdated("an object") {
        /// The URI of the resource. It may be a part of the resource that was subscribed to.
        required uri: String = "uri",
        /// Metadata. From 2026-07-28 on it names the subscription.
        optional meta: Json = "_meta",
    }
}
