//! What the extension for user interfaces (MCP Apps, `io.modelcontextprotocol/ui`) puts into the `_meta` of tools and
//! resources, and the settings of extensions among the capabilities (2026-07-28, basic/versioning, "Extension Negotiation").

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::{Resource, ResourceContents, ServerCapabilities, Tool};
use crate::json::Json;
use crate::json::from_json;

/// The extension's name among the capabilities.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The media type of pages that the extension is about.
pub const UI_MIME_TYPE: &str = "text/html;profile=mcp-app";

object! {
    /// Which page shows what a tool does (`_meta.ui` of a tool).
    pub struct ToolUi("an object") {
        /// The address of the page, which starts with `ui://` and can be read as a resource.
        optional resource_uri: String = "resourceUri",
        /// Who may call the tool: `model`, `app` or both; both if the list is empty.
        or_default visibility: Vec<String> = "visibility",
    }
}

impl ToolUi {
    /// Whether language models are to be offered the tool.
    pub fn is_for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.iter().any(|who| who == "model")
    }
}

object! {
    /// How a page wants to be shown (`_meta.ui` of a resource). All of it is the server's wish, and nothing that a host must
    /// grant.
    pub struct ResourceUi("an object") {
        /// What the page loads from other hosts, for its content security policy.
        optional csp: UiCsp = "csp",
        /// Permissions of the browser, such as `camera`, each an object.
        optional permissions: Json = "permissions",
        /// The origin that the page wants of its own.
        optional domain: String = "domain",
        /// Whether the host shall draw a border.
        optional prefers_border: bool = "prefersBorder",
    }
}

object! {
    /// The origins that a page uses.
    pub struct UiCsp("an object") {
        /// For requests.
        or_default connect_domains: Vec<String> = "connectDomains",
        /// For scripts, pictures, styles and fonts.
        or_default resource_domains: Vec<String> = "resourceDomains",
        /// For frames.
        or_default frame_domains: Vec<String> = "frameDomains",
        /// For the base address.
        or_default base_uri_domains: Vec<String> = "baseUriDomains",
    }
}

impl Tool {
    /// The page that shows what the tool does, if it has one.
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
        // Before there was a member for all of it, the address stood alone.
        let alone = || {
            let resource_uri = meta.member("ui/resourceUri")?;
            Some(ToolUi { resource_uri: Some(resource_uri), ..ToolUi::default() })
        };
        ui(Some(meta)).or_else(alone)
    }
}

impl Resource {
    /// How the page that it is wants to be shown.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

impl ResourceContents {
    /// How the page that they are wants to be shown. Counts more than what the list of resources said.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

fn ui<T: from_json::FromJson>(meta: Option<&Json>) -> Option<T> {
    from_json::from_str(meta?.member_text("ui")?)
}

impl ServerCapabilities {
    /// The settings of an extension that the server declares: an object, often empty. `None` if it does not declare it.
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

/// Returns the member `name` of an object of extensions, if it is an object.
pub(super) fn extension(declared: Option<&Json>, name: &str) -> Option<Json> {
    declared?.member::<Json>(name).filter(Json::is_object)
}
