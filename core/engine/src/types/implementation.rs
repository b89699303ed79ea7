//! The name and version of a client or server.

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;

object! {
    /// Name and version of a client or server (`Implementation`).
    ///
    /// The peer reports them itself: use them for display and logs, not for decisions.
    pub struct Implementation("an implementation") {
        /// The name for programs.
        always name: String = "name",
        /// The version; may be empty.
        always version: String = "version",
        /// The name to show to people.
        optional title: String = "title",
        /// What the program is.
        optional description: String = "description",
        /// The URL of the program's website.
        optional website_url: String = "websiteUrl",
        /// Icons of the program.
        or_default icons: Vec<Icon> = "icons",
    }
}

impl Implementation {
    /// An implementation with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Implementation { name: name.into(), version: version.into(), ..Implementation::default() }
    }

    /// Returns the name to show to people: the title if there is one, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// An icon (`Icon`, from 2025-11-25). Its URL is untrusted, and this library never fetches it.
    pub struct Icon("an icon") {
        /// An `https:` or `data:` URL.
        required src: String = "src",
        /// The media type; absent if it follows from the URL.
        optional mime_type: String = "mimeType",
        /// Sizes such as `48x48`, or `any`.
        or_default sizes: Vec<String> = "sizes",
        /// The colour theme that the icon is made for: `light` or `dark`.
        optional theme: String = "theme",
    }
}
