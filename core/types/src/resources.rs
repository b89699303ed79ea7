//! Resources: lists, contents and change notifications. Specification: server/resources.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use crate::Icon;
use crate::result::page;
use mcpwire_text::json::from_json::Mismatch;
use mcpwire_text::json::{ItemList, Json, Number};
use mcpwire_text::object;
use mcpwire_text::result;

object! {
    /// A resource that clients can read from a server, such as a file or a database record.
    ///
    /// A resource without a URI is invalid: a [`ListResourcesResult`] omits it, and reports it in
    /// [`ItemList::rejected`]. If the server sent no name, the URI is used as the name.
    pub struct Resource("a resource", finish check_resource) {
        /// URI of the resource, for use in `resources/read`.
        required uri: String = "uri",
        /// Name of the resource, for use by programs rather than for display.
        always name: String = "name",
        /// Display name of the resource (from protocol revision 2025-06-18).
        optional title: String = "title",
        /// Description of the resource, which helps language models to understand its contents.
        optional description: String = "description",
        /// MIME type of the resource. `None` if the server sent none.
        optional mime_type: String = "mimeType",
        /// Size of the resource in bytes, before base64 encoding. `None` if the server sent no size.
        optional size: u64 = "size",
        /// Hints about the resource, such as its intended audience and importance.
        optional annotations: Annotations = "annotations",
        /// Icons to display for the resource (from protocol revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Additional metadata of the resource (`_meta`; from protocol revision 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_resource(mut resource: Resource) -> Result<Resource, Mismatch> {
    resource.name = name_or_uri(resource.name, &resource.uri, "`uri` is empty")?;
    Ok(resource)
}

impl Resource {
    /// Returns the display name of the resource: `title`, or `name` if there is no title.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// Hints for clients about a content block or resource, such as for whom it is and how important it is.
    ///
    /// Specification: server/resources, "Annotations".
    pub struct Annotations("an object") {
        /// For whom the content block or resource is intended: `user`, `assistant` or both. Empty if the server sent no
        /// audience.
        or_default audience: Vec<String> = "audience",
        /// Importance of the content block or resource, from 0 (entirely optional) to 1 (required). `None` if the
        /// server sent none.
        optional priority: Number = "priority",
        /// Time at which the resource was last modified, in ISO 8601 notation, such as `2025-01-12T15:00:58Z`. `None`
        /// if the server sent none.
        optional last_modified: String = "lastModified",
    }
}

object! {
    /// A URI template that a server offers to address a family of resources.
    ///
    /// A resource template without a `uriTemplate` is invalid: a [`ListResourceTemplatesResult`] omits it, and reports
    /// it in [`ItemList::rejected`]. If the server sent no name, the URI template is used as the name.
    ///
    /// Specification: server/resources, "Resource Templates".
    pub struct ResourceTemplate("a resource template", finish check_template) {
        /// The URI template in the syntax of RFC 6570, such as `file:///logs/{date}`.
        required uri_template: String = "uriTemplate",
        /// Name of the resource template, for use by programs rather than for display.
        always name: String = "name",
        /// Display name of the resource template (from protocol revision 2025-06-18).
        optional title: String = "title",
        /// Description of the resources that match the template, which helps language models to understand their
        /// contents.
        optional description: String = "description",
        /// MIME type of all resources that match the template. `None` if they have different types, or if the server
        /// sent none.
        optional mime_type: String = "mimeType",
        /// Hints about the resources that match the template, such as their intended audience and importance.
        optional annotations: Annotations = "annotations",
        /// Icons to display for the resources that match the template (from protocol revision 2025-11-25).
        or_default icons: Vec<Icon> = "icons",
        /// Additional metadata of the resource template (`_meta`; from protocol revision 2025-06-18).
        optional meta: Json = "_meta",
    }
}

fn check_template(mut template: ResourceTemplate) -> Result<ResourceTemplate, Mismatch> {
    template.name = name_or_uri(template.name, &template.uri_template, "`uriTemplate` is empty")?;
    Ok(template)
}

impl ResourceTemplate {
    /// Returns the display name of the resource template: `title`, or `name` if there is no title.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

fn name_or_uri(name: String, uri: &str, empty: &'static str) -> Result<String, Mismatch> {
    match (uri.is_empty(), name.is_empty()) {
        (true, _) => Err(Mismatch::named_object(empty, Some(name).filter(|name| !name.is_empty()))),
        (false, true) => Ok(uri.into()),
        (false, false) => Ok(name),
    }
}

page! {
    /// Result of `resources/list`: one page of the list of resources that a server offers.
    #[doc(alias("resources/list", "ListResourcesResultResponse"))]
    pub struct ListResourcesResult {
        /// The resources on this page.
        resources: Resource = "resources",
    }
}

page! {
    /// Result of `resources/templates/list`: one page of the list of resource templates that a server offers.
    #[doc(alias("resources/templates/list", "ListResourceTemplatesResultResponse"))]
    pub struct ListResourceTemplatesResult {
        /// The resource templates on this page.
        resource_templates: ResourceTemplate = "resourceTemplates",
    }
}

/// Parameters of `resources/read`.
#[derive(Debug, Serialize)]
#[doc(alias("resources/read", "ReadResourceRequest", "ReadResourceRequestParams"))]
pub struct ReadResourceParams<'a> {
    /// URI of the resource to read.
    pub uri: &'a str,
}

result! {
    /// Result of `resources/read`: the contents of a resource.
    ///
    /// Reading a folder, for example, may return one [`ResourceContents`] for each file. Contents that are not a JSON
    /// object are omitted, and reported in [`ItemList::rejected`].
    #[doc(alias("resources/read", "ReadResourceResultResponse"))]
    pub cacheable struct ReadResourceResult {
        /// The contents of the resource. Empty if the server sent none.
        always contents: ItemList<ResourceContents> = "contents",
    }
}

object! {
    /// The contents of a resource: text or binary data (`TextResourceContents`, `BlobResourceContents`).
    ///
    /// The field `extra` also contains members whose value has the wrong type.
    #[doc(alias("TextResourceContents", "BlobResourceContents"))]
    pub struct ResourceContents("the contents of a resource") {
        /// URI of the resource. Empty if the server sent none.
        [kept] always uri: String = "uri",
        /// MIME type of the contents. `None` if the server sent none.
        [kept] optional mime_type: String = "mimeType",
        /// The contents as text. `None` if the server sent no text.
        [kept] optional text: String = "text",
        /// The contents as binary data, encoded in base64. `None` if the server sent no binary data.
        [kept] optional blob: String = "blob",
        /// Additional metadata of the contents (`_meta`).
        [kept] optional meta: Json = "_meta",
    }
}

/// Parameters of `resources/subscribe` (up to protocol revision 2025-11-25).
///
/// Specification of revision 2025-11-25: server/resources, "Subscriptions".
#[derive(Clone, Copy, Debug, Serialize)]
#[doc(alias("resources/subscribe", "SubscribeRequest", "SubscribeRequestParams"))]
pub struct SubscribeParams<'a> {
    /// URI of the resource to subscribe to.
    pub uri: &'a str,
}

/// Parameters of `resources/unsubscribe` (up to protocol revision 2025-11-25).
#[derive(Clone, Copy, Debug, Serialize)]
#[doc(alias("resources/unsubscribe", "UnsubscribeRequest", "UnsubscribeRequestParams"))]
pub struct UnsubscribeParams<'a> {
    /// URI of the resource to unsubscribe from.
    pub uri: &'a str,
}

object! {
    /// Parameters of `notifications/resources/updated`: a resource to which the client subscribed has changed.
    ///
    /// Specification: server/resources, "Subscriptions".
    #[doc(alias("notifications/resources/updated", "ResourceUpdatedNotification", "ResourceUpdatedNotificationParams"))]
    pub struct ResourceUpdated("an object") {
        /// URI of the changed resource. It may be a sub-resource of the resource to which the client subscribed.
        required uri: String = "uri",
        /// Additional metadata of the notification (`_meta`). From protocol revision 2026-07-28 on, the metadata
        /// contains the id of the subscription.
        optional meta: Json = "_meta",
    }
}
