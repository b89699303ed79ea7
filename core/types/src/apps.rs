//! The MCP Apps extension (`io.modelcontextprotocol/ui`): the members that the extension adds to the `_meta` of tools
//! and resources.
//!
//! This module also looks up the settings of any extension. Specification: basic/versioning, "Extension Negotiation".

use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Json;
use crate::json::from_json::{self, FromJson};
use crate::object::object;
use crate::{Resource, ResourceContents, ServerCapabilities, Tool};

/// Identifier of the MCP Apps extension. Clients and servers that support the extension declare this key in the
/// `extensions` member of their capabilities.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// MIME type of HTML pages that are a user interface of the MCP Apps extension.
pub const UI_MIME_TYPE: &str = "text/html;profile=mcp-app";

object! {
    /// The user interface that a tool declares in `_meta.ui` (MCP Apps extension).
    pub struct ToolUi("an object") {
        /// URI of the HTML page to display, with the scheme `ui:`. The client reads the page with `resources/read`.
        optional resource_uri: String = "resourceUri",
        /// Who may call the tool: `model` (language models), `app` (the displayed page) or both. An empty list means
        /// both.
        or_default visibility: Vec<String> = "visibility",
    }
}

impl ToolUi {
    /// Returns whether language models may call the tool: `visibility` is empty or contains `model`.
    pub fn is_for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.iter().any(|who| who == "model")
    }
}

object! {
    /// Display settings that an HTML page requests in `_meta.ui` of its resource (MCP Apps extension).
    ///
    /// A host application may ignore any of these settings.
    pub struct ResourceUi("an object") {
        /// Origins from which the page loads content. The host builds the page's content security policy from them.
        /// `None` if the page declares no origins.
        optional csp: UiCsp = "csp",
        /// Browser permissions that the page requests: a JSON object whose keys are names of permissions, such as
        /// `camera`, and whose values are objects. `None` if the page requests no permissions.
        optional permissions: Json = "permissions",
        /// Origin from which the page requests to be served. `None` if the page requests no origin.
        optional domain: String = "domain",
        /// Whether the page requests a border around itself. `None` if the page leaves the choice to the host.
        optional prefers_border: bool = "prefersBorder",
    }
}

object! {
    /// Origins from which an HTML page loads content, by purpose. The host builds the page's content security policy
    /// from them.
    pub struct UiCsp("an object") {
        /// Origins of network requests by `fetch`, `XMLHttpRequest` and WebSocket (CSP directive `connect-src`).
        or_default connect_domains: Vec<String> = "connectDomains",
        /// Origins of scripts, images, styles and fonts.
        or_default resource_domains: Vec<String> = "resourceDomains",
        /// Origins of nested frames (CSP directive `frame-src`).
        or_default frame_domains: Vec<String> = "frameDomains",
        /// Origins that are allowed as the base URI of the document (CSP directive `base-uri`).
        or_default base_uri_domains: Vec<String> = "baseUriDomains",
    }
}

impl Tool {
    /// Returns the user interface that the tool declares in `_meta`, or `None` if the tool declares none.
    ///
    /// ```
    /// use mcpwire_types::{Json, Tool};
    ///
    /// let tool = r#"{"name":"get-time","inputSchema":{},"_meta":{"ui":{"resourceUri":"ui://get-time/mcp-app.html"}}}"#;
    /// let tool: Tool = Json::parse(tool)?.decode()?;
    /// assert_eq!(tool.ui().unwrap().resource_uri.as_deref(), Some("ui://get-time/mcp-app.html"));
    /// # Ok::<(), mcpwire_types::JsonError>(())
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
    /// Returns the display settings in `_meta.ui` of the resource, or `None` if there are none.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

impl ResourceContents {
    /// Returns the display settings in `_meta.ui` of these resource contents, or `None` if there are none.
    ///
    /// If the resource in the list of resources has settings too ([`Resource::ui`]), use these instead.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

fn ui<T: FromJson>(meta: Option<&Json>) -> Option<T> {
    from_json::from_str(meta?.member_text("ui")?)
}

impl ServerCapabilities {
    /// Returns the settings of the extension `name`, or `None` if the server does not declare the extension.
    ///
    /// The settings are a JSON object, often an empty one.
    ///
    /// ```
    /// use mcpwire_types::{Json, ServerCapabilities};
    ///
    /// let declared = r#"{"extensions":{"com.example/search":{"maxResults":5}}}"#;
    /// let declared: ServerCapabilities = Json::parse(declared)?.decode()?;
    /// let search = declared.extension("com.example/search").unwrap();
    /// assert_eq!(search.member::<u32>("maxResults"), Some(5));
    /// assert!(declared.extension("com.example/other").is_none());
    /// # Ok::<(), mcpwire_types::JsonError>(())
    /// ```
    pub fn extension(&self, name: &str) -> Option<Json> {
        extension(self.extensions.as_ref(), name)
    }
}

/// Returns the settings of the extension `name`, or `None` if they are absent or not an object. `declared` is the
/// `extensions` member of a client's or server's capabilities.
pub(crate) fn extension(declared: Option<&Json>, name: &str) -> Option<Json> {
    declared?.member::<Json>(name).filter(Json::is_object)
}
