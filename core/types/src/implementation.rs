//! The name and version of a client or server.

use alloc::string::String;
use alloc::vec::Vec;

use crate::object::object;

object! {
    /// Name and version of a client or server program (`Implementation`).
    ///
    /// The peer chooses these values, and nobody verifies them. Use them for display and logs, not for decisions.
    pub struct Implementation("an implementation") {
        /// Name that identifies the program, such as `example-server`. Empty if the peer sent none.
        always name: String = "name",
        /// Version of the program. Empty if the peer sent none.
        always version: String = "version",
        /// Display name of the program.
        optional title: String = "title",
        /// Description of the program, for people.
        optional description: String = "description",
        /// URL of the program's website.
        optional website_url: String = "websiteUrl",
        /// Icons to display for the program.
        or_default icons: Vec<Icon> = "icons",
    }
}

impl Implementation {
    /// Creates the description of a program from its name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Implementation { name: name.into(), version: version.into(), ..Implementation::default() }
    }

    /// Returns the title of the program, or its name if there is no title.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// An icon for display in a user interface (`Icon`; from revision 2025-11-25).
    ///
    /// The peer chooses the URL of the icon, so do not trust it. This library never fetches the URL.
    pub struct Icon("an icon") {
        /// URL of the icon's image: an `https:` URL, or a `data:` URL that contains the image.
        required src: String = "src",
        /// MIME type of the image. Use it if the source of the image reports no type, or only a generic one.
        optional mime_type: String = "mimeType",
        /// Sizes at which the icon can be displayed, such as `48x48`, or `any` for a scalable image. Empty means any
        /// size.
        or_default sizes: Vec<String> = "sizes",
        /// Background for which the icon is designed: `light` or `dark`. `None` means any background.
        optional theme: String = "theme",
    }
}
