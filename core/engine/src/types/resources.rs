//! Resources: lists, contents and change notifications. Specification: server/resources.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::object::object;
use super::result::{page, result};
use super::{Annotations, Icon, ItemList, ResourceContents};
use crate::json::Json;
use crate::json::from_json::Mismatch;

object! {
    /// A resource that clients can read from a server, such as a file or a database record (`Resource`).
    ///
    /// [`ListResourcesResult`] rejects resources without a URI. A resource without a name gets its URI as its name.
    pub struct Resource("a resource", finish check_resource) {
        /// URI of the resource for `resources/read`.
        required uri: String = "uri",
        /// Identifier for programs.
        always name: String = "name",
        /// Display name (from revision 2025-06-18).
        optional title: String = "title",
        /// Description of the resource, which helps language models to understand it.
        optional description: String = "description",
        /// MIME type of the resource, if the server knows it.
        optional mime_type: String = "mimeType",
        /// Size of the resource in bytes, before encoding, if the server knows it.
        optional size: u64 = "size",
        /// Hints about the resource's audience and importance.
        optional annotations: Annotations = "annotations",
        /// Icons to display for the resource (from revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Additional metadata (`_meta`; from revision 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_resource(mut resource: Resource) -> Result<Resource, Mismatch> {
    resource.name = name_or_uri(resource.name, &resource.uri, "`uri` is empty")?;
    Ok(resource)
}

impl Resource {
    /// Returns the display name: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// A URI template: it describes the URIs of a family of resources (`ResourceTemplate`).
    ///
    /// [`ListResourceTemplatesResult`] rejects templates without a URI template. A template without a name gets its URI
    /// template as its name.
    ///
    /// Specification: server/resources, "Resource Templates".
    pub struct ResourceTemplate("a resource template", finish check_template) {
        /// The URI template, in the syntax of RFC 6570.
        required uri_template: String = "uriTemplate",
        /// Identifier for programs.
        always name: String = "name",
        /// Display name (from revision 2025-06-18).
        optional title: String = "title",
        /// Description of the resources, which helps language models to understand them.
        optional description: String = "description",
        /// MIME type of the resources, if all of them have the same.
        optional mime_type: String = "mimeType",
        /// Hints about the resources' audience and importance.
        optional annotations: Annotations = "annotations",
        /// Icons to display for the resources (from revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Additional metadata (`_meta`; from revision 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_template(mut template: ResourceTemplate) -> Result<ResourceTemplate, Mismatch> {
    template.name = name_or_uri(template.name, &template.uri_template, "`uriTemplate` is empty")?;
    Ok(template)
}

impl ResourceTemplate {
    /// Returns the display name: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

/// Returns the name of a resource, or its URI if the name is empty. Rejects a resource without a URI, which no client
/// can read.
fn name_or_uri(name: String, uri: &str, empty: &'static str) -> Result<String, Mismatch> {
    match (uri.is_empty(), name.is_empty()) {
        (true, _) => Err(Mismatch::named_object(empty, Some(name).filter(|name| !name.is_empty()))),
        (false, true) => Ok(uri.into()),
        (false, false) => Ok(name),
    }
}

page! {
    /// One page of the resources of a server (`ListResourcesResult`).
    pub struct ListResourcesResult {
        /// The resources of this page.
        resources: Resource = "resources",
    }
}

page! {
    /// One page of the resource templates of a server (`ListResourceTemplatesResult`).
    pub struct ListResourceTemplatesResult {
        /// The templates of this page.
        resource_templates: ResourceTemplate = "resourceTemplates",
    }
}

/// Parameters of `resources/read`.
#[derive(Debug, Serialize)]
pub struct ReadResourceParams<'a> {
    /// URI of the resource.
    pub uri: &'a str,
}

result! {
    /// Result of `resources/read`: the contents of a resource (`ReadResourceResult`).
    ///
    /// A resource may have several contents, as a folder does. Contents that are neither text nor binary data keep
    /// their members in [`ResourceContents::extra`]. An entry that is not an object is rejected.
    pub cacheable struct ReadResourceResult {
        /// The contents. Empty if the server sent none.
        always contents: ItemList<ResourceContents> = "contents",
    }
}

/// Parameters of `resources/subscribe` (up to revision 2025-11-25).
///
/// Specification of revision 2025-11-25: server/resources, "Subscriptions".
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SubscribeParams<'a> {
    /// URI of the resource to subscribe to.
    pub uri: &'a str,
}

/// Parameters of `resources/unsubscribe` (up to revision 2025-11-25).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct UnsubscribeParams<'a> {
    /// URI of the resource to unsubscribe from.
    pub uri: &'a str,
}

object! {
    /// Parameters of `notifications/resources/updated`: a resource to which the client subscribed has changed.
    ///
    /// Specification: server/resources, "Subscriptions".
    pub struct ResourceUpdated("an object") {
        /// URI of the changed resource. It may be a sub-resource of the resource that the client subscribed to.
        required uri: String = "uri",
        /// Additional metadata of the notification (`_meta`). From revision 2026-07-28 on, it contains the id of the
        /// subscription.
        optional meta: Json = "_meta",
    }
}
