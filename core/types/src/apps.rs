//! The MCP Apps extension (`io.modelcontextprotocol/ui`): the members that the extension adds to the `_meta` of tools
//! and resources.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{Resource, ResourceContents, Tool};
use mcpwire_text::json::from_json::{self, FromJson};
use mcpwire_text::json::{Json, JsonText};
use mcpwire_text::object;

/// Identifier of the MCP Apps extension. Clients and servers that support the extension declare this key in the
/// `extensions` member of their capabilities.
pub const UI_EXTENSION: &str = "io.modelcontextprotocol/ui";

/// MIME type of an HTML page that a host application displays as the user interface of a tool (MCP Apps extension).
pub const UI_MIME_TYPE: &str = "text/html;profile=mcp-app";

object! {
    /// The member `_meta.ui` of a tool: which HTML page is the tool's user interface, and who may call the tool (MCP
    /// Apps extension).
    pub struct ToolUi("an object") {
        /// URI of the HTML page to display, such as `ui://get-time/mcp-app.html`. The client reads the page with
        /// `resources/read`. `None` if the tool has no page.
        optional resource_uri: String = "resourceUri",
        /// Who may call the tool: language models (`model`), the HTML page that is the tool's user interface (`app`) or
        /// both. An empty list means both.
        or_default visibility: Vec<String> = "visibility",
    }
}

impl ToolUi {
    /// Returns whether language models may call the tool: [`ToolUi::visibility`] is empty or contains `model`.
    pub fn is_for_model(&self) -> bool {
        self.visibility.is_empty() || self.visibility.iter().any(|who| who == "model")
    }
}

object! {
    /// The member `_meta.ui` of a resource that is an HTML page: how the page asks to be displayed (MCP Apps
    /// extension).
    ///
    /// The application that displays the page may ignore these settings.
    pub struct ResourceUi("an object") {
        /// External origins that the HTML page asks to use, for example to load scripts. `None` if it asks for none.
        optional csp: UiCsp = "csp",
        /// Browser permissions that the HTML page asks for: a JSON object with the names of the permissions as keys,
        /// such as `{"camera":{}}`. `None` if the page asks for none.
        optional permissions: Json = "permissions",
        /// Origin under which the HTML page asks to run, for example because an API accepts requests from this origin
        /// only. `None` means the default origin of the application that displays the page.
        optional domain: String = "domain",
        /// Whether the HTML page asks for a visible border (`true`) or for no border (`false`). `None` leaves the
        /// choice to the application that displays the page.
        optional prefers_border: bool = "prefersBorder",
    }
}

object! {
    /// External origins that an HTML page asks to use, such as `https://api.example.com`.
    ///
    /// The application that displays the page allows these origins in the page's Content Security Policy (CSP).
    pub struct UiCsp("an object") {
        /// Origins to which the page sends requests by `fetch`, `XMLHttpRequest` and WebSocket (CSP directive
        /// `connect-src`).
        or_default connect_domains: Vec<String> = "connectDomains",
        /// Origins from which the page loads scripts, images, styles, fonts and media (CSP directives such as
        /// `script-src`).
        or_default resource_domains: Vec<String> = "resourceDomains",
        /// Origins of the pages that the page embeds in frames (CSP directive `frame-src`).
        or_default frame_domains: Vec<String> = "frameDomains",
        /// Origins that the page may name in its `<base>` element (CSP directive `base-uri`).
        or_default base_uri_domains: Vec<String> = "baseUriDomains",
    }
}

impl Tool {
    /// Returns the user interface that the tool declares in `_meta.ui`, or `None` if the tool declares none.
    ///
    /// Earlier drafts of the extension declared only the URI of the page, as `_meta["ui/resourceUri"]`. This URI is
    /// returned if `_meta.ui` is absent or not an object.
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::{Json, Tool}; } }
    /// use mcpwire::types::{Json, Tool};
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
            let resource_uri = from_json::from_str(meta.member_text("ui/resourceUri")?)?;
            Some(ToolUi { resource_uri: Some(resource_uri), ..ToolUi::default() })
        };
        ui(Some(meta)).or_else(uri_alone)
    }
}

impl Resource {
    /// Returns how the HTML page in this resource asks to be displayed: the member `_meta.ui` of the MCP Apps
    /// extension.
    ///
    /// Returns `None` if that member is absent or not an object.
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

impl ResourceContents {
    /// Returns how the HTML page in these resource contents asks to be displayed: the member `_meta.ui` of the MCP Apps
    /// extension.
    ///
    /// Returns `None` if that member is absent or not an object. The returned settings take precedence over those of
    /// [`Resource::ui`].
    pub fn ui(&self) -> Option<ResourceUi> {
        ui(self.meta.as_ref())
    }
}

fn ui<T: FromJson>(meta: Option<&Json>) -> Option<T> {
    from_json::from_str(meta?.member_text("ui")?)
}
