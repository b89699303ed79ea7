//! The MCP Apps extension (`io.modelcontextprotocol/ui`): the members that it adds to the `_meta` of tools and
//! resources.
//!
//! This module also looks up the settings of any extension. Specification: basic/versioning, "Extension Negotiation".

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::{Resource, ResourceContents, ServerCapabilities, Tool};
use crate::json::Json;
use crate::json::from_json::{self, FromJson};

/// Identifier of the MCP Apps extension in the `extensions` of the client's and the server's capabilities.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// MIME type of the HTML pages that the MCP Apps extension displays.
pub const UI_MIME_TYPE: &str = "text/html;profile=mcp-app";

object! {
    /// The user interface of a tool (`_meta.ui` of the tool; MCP Apps extension).
    pub struct ToolUi("an object") {
        /// URI of the page to display, with the scheme `ui:`. Read it with `resources/read`.
        optional resource_uri: String = "resourceUri",
        /// The callers that may use the tool: `model`, `app` or both. An empty list means both.
        or_default visibility: Vec<String> = "visibility",
    }
}

impl ToolUi {
    /// Returns whether the host may offer the tool to language models.
    pub fn is_for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.iter().any(|who| who == "model")
    }
}

object! {
    /// Display settings that a page requests (`_meta.ui` of a resource; MCP Apps extension).
    ///
    /// A host may ignore any of them.
    pub struct ResourceUi("an object") {
        /// Origins that the page loads from, to build its content security policy.
        optional csp: UiCsp = "csp",
        /// Browser permissions that the page requests. Each member names a permission, such as `camera`, and has an
        /// object as its value.
        optional permissions: Json = "permissions",
        /// Origin from which the page wants to be served.
        optional domain: String = "domain",
        /// Whether the page prefers to be displayed with a border.
        optional prefers_border: bool = "prefersBorder",
    }
}

object! {
    /// Origins that a page loads from, by purpose. The host builds the page's content security policy from them.
    pub struct UiCsp("an object") {
        /// Origins for network requests: `fetch`, `XMLHttpRequest` and WebSocket (`connect-src`).
        or_default connect_domains: Vec<String> = "connectDomains",
        /// Origins for scripts, images, styles and fonts.
        or_default resource_domains: Vec<String> = "resourceDomains",
        /// Origins for nested frames (`frame-src`).
        or_default frame_domains: Vec<String> = "frameDomains",
        /// Origins allowed as the base URI of the document (`base-uri`).
        or_default base_uri_domains: Vec<String> = "baseUriDomains",
    }
}

impl Tool {
    /// Returns the user interface of the tool, or `None` if the tool has none.
    ///
    /// ```
    /// use mcpwire_core::{Json, Tool};
    ///
    /// let tool = r#"{"name":"get-time","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://get-time/mcp-app.html"}}}"#;
    /// let tool: Tool = Json::parse(tool)?.decode()?;
    /// assert_eq!(tool.ui().unwrap().resource_uri.as_deref(), Some("ui://get-time/mcp-app.html"));
    /// # Ok::<(), mcpwire_core::JsonError>(())
    /// ```
    pub fn ui(&self) -> Option<ToolUi> {
        let meta = self.meta.as_ref()?;
        // Earlier drafts of the extension used one member, `ui/resourceUri`, which holds only the URI.
        let uri_alone = || {
            let resource_uri = meta.member("ui/resourceUri")?;
            Some(ToolUi { resource_uri: Some(resource_uri), ..ToolUi::default() })
        };
        ui(Some(meta)).or_else(uri_alone)
    }
}

impl Resource {
    /// Returns the display settings that the resource requests, or `None` if it requests none.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

impl ResourceContents {
    /// Returns the display settings that these contents request, or `None` if they request none.
    ///
    /// They take precedence over [`Resource::ui`].
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

fn ui<T: FromJson>(meta: Option<&Json>) -> Option<T> {
    from_json::from_str(meta?.member_text("ui")?)
}

impl ServerCapabilities {
    /// Returns the settings of an extension, or `None` if the server does not declare the extension.
    ///
    /// The settings are a JSON object, often an empty one.
    ///
    /// ```
    /// use mcpwire_core::{Json, ServerCapabilities};
    ///
    /// let declared = r#"{"extensions":{"com.example/search":{"maxResults":5}}}"#;
    /// let declared: ServerCapabilities = Json::parse(declared)?.decode()?;
    /// let search = declared.extension("com.example/search").unwrap();
    /// assert_eq!(search.member::<u32>("maxResults"), Some(5));
    /// assert!(declared.extension("com.example/other").is_none());
    /// # Ok::<(), mcpwire_core::JsonError>(())
    /// ```
    pub fn extension(&self, name: &str) -> Option<Json> {
        extension(self.extensions.as_ref(), name)
    }
}

/// Returns the settings of the extension `name` if they are an object.
pub(super) fn extension(declared: Option<&Json>, name: &str) -> Option<Json> {
    declared?.member::<Json>(name).filter(Json::is_object)
}
