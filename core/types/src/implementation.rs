//! The name and version of a client or server.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::object;

object! {
    /// Name and version of a client or server program.
    ///
    /// The program itself states these values, and nobody verifies them. Use them for display and logs, not for
    /// decisions.
    pub struct Implementation("an implementation") {
        /// Name that identifies the client or server program, such as `example-server`. Empty if the program sent none.
        always name: String = "name",
        /// Version of the client or server program. Empty if the program sent none.
        always version: String = "version",
        /// Display name of the client or server program. `None` if the program sent none.
        optional title: String = "title",
        /// Description of the client or server program, for people. `None` if the program sent none.
        optional description: String = "description",
        /// URL of the website of the client or server program. `None` if the program sent none.
        optional website_url: String = "websiteUrl",
        /// Icons to display for the client or server program. Empty if the program sent none.
        or_default icons: Vec<Icon> = "icons",
    }
}

impl Implementation {
    /// Creates an `Implementation` with the program's name and version. All other fields are empty.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Implementation { name: name.into(), version: version.into(), ..Implementation::default() }
    }

    /// Returns the title of the client or server program, or its name if it has no title.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// An icon for display in a user interface, for example of a server or tool (from protocol revision 2025-11-25).
    ///
    /// The peer chooses the URL of the icon, so do not trust it. This library never fetches the URL.
    pub struct Icon("an icon") {
        /// URL of the icon's image: an HTTP or HTTPS URL, or a `data:` URL that contains the image.
        required src: String = "src",
        /// MIME type of the icon's image, such as `image/png`. `None` if the peer sent none.
        ///
        /// Use it if the web server of the image sends no type, or only a generic one such as
        /// `application/octet-stream`.
        optional mime_type: String = "mimeType",
        /// Sizes at which the icon can be displayed, such as `48x48`, or `any` for a scalable image. Empty means any
        /// size.
        or_default sizes: Vec<String> = "sizes",
        /// Background for which the icon is designed: `light` or `dark`. `None` means that the icon fits any
        /// background.
        optional theme: String = "theme",
    }
}
