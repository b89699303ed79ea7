//! MCP Apps (the extension `io.modelcontextprotocol/ui`): what it adds to the `_meta` of tools and resources. Also the settings of
//! extensions among the capabilities (2026-07-28, basic/versioning, "Extension Negotiation").

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use super::{Resource, ResourceContents, ServerCapabilities, Tool};
use crate::json::Json;
use crate::json::from_json::{self, FromJson};

/// The name of the MCP Apps extension among the capabilities.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// The media type of a page of the MCP Apps extension.
pub const UI_MIME_TYPE: &str = "text/html;profile=mcp-app";

object! {
    /// The page that shows what a tool does (`_meta.ui` of a tool).
    pub struct ToolUi("an object") {
        /// The URI of the page, which starts with `ui://` and can be read as a resource.
        optional resource_uri: String = "resourceUri",
        /// Who may call the tool: `model`, `app` or both. An empty list means both.
        or_default visibility: Vec<String> = "visibility",
    }
}

impl ToolUi {
    /// Returns whether the tool may be offered to language models.
    pub fn is_for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.iter().any(|who| who == "model")
    }
}

object! {
    /// How a page asks to be shown (`_meta.ui` of a resource). A host may refuse any of it.
    pub struct ResourceUi("an object") {
        /// The origins that the page uses, for its content security policy.
        optional csp: UiCsp = "csp",
        /// Permissions of the browser, such as `camera`; each is an object.
        optional permissions: Json = "permissions",
        /// The origin that the page asks to be served from.
        optional domain: String = "domain",
        /// Whether the host should draw a border.
        optional prefers_border: bool = "prefersBorder",
    }
}

object! {
    /// The origins that a page uses.
    pub struct UiCsp("an object") {
        /// Origins of requests.
        or_default connect_domains: Vec<String> = "connectDomains",
        /// Origins of scripts, images, styles and fonts.
        or_default resource_domains: Vec<String> = "resourceDomains",
        /// Origins of frames.
        or_default frame_domains: Vec<String> = "frameDomains",
        /// Origins of the base URI.
        or_default base_uri_domains: Vec<String> = "baseUriDomains",
    }
}

impl Tool {
    /// Returns the page that shows what the tool does, if the tool has one.
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
        // Earlier drafts of the extension had the URI alone.
        let uri_alone = || {
            let resource_uri = meta.member("ui/resourceUri")?;
            Some(ToolUi { resource_uri: Some(resource_uri), ..ToolUi::default() })
        };
        ui(Some(meta)).or_else(uri_alone)
    }
}

impl Resource {
    /// Returns how the resource, a page, asks to be shown.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

impl ResourceContents {
    /// Returns how the contents, a page, ask to be shown. They override what the list of resources says.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

fn ui<T: FromJson>(meta: Option<&Json>) -> Option<T> {
    from_json::from_str(meta?.member_text("ui")?)
}

impl ServerCapabilities {
    /// Returns the settings of an extension that the server declares, or `None` if it does not declare the extension. The
    /// settings are an object, often an empty one.
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

/// Returns the settings of the extension `name`, if they are an object.
pub(super) fn extension(declared: Option<&Json>, name: &str) -> Option<Json> {
    declared?.member::<Json>(name).filter(Json::is_object)
}
