//! Who speaks: the name and version that client and server give of themselves.

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;

object! {
    /// Name and version of a client or server (`Implementation`). Self-reported: for display and logs, not for decisions.
    pub struct Implementation("an implementation") {
        /// The name that programs use.
        or_blank name: String = "name",
        /// The version; may be empty.
        or_blank version: String = "version",
        /// The name that people read.
        optional title: String = "title",
        /// What it is.
        optional description: String = "description",
        /// Where to read more.
        optional website_url: String = "websiteUrl",
        /// Pictures of it.
        or_default icons: Vec<Icon> = "icons",
    }
}

impl Implementation {
    /// A name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Implementation { name: name.into(), version: version.into(), ..Implementation::default() }
    }

    /// The name to show: the title where there is one.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

object! {
    /// A picture that stands for something (`Icon`, from 2025-11-25). The address is untrusted: nothing fetches it here.
    pub struct Icon("an icon") {
        /// An `https:` or `data:` address.
        required src: String = "src",
        /// Its media type, if it is not to be guessed from the address.
        optional mime_type: String = "mimeType",
        /// Sizes such as `48x48` or `any`.
        or_default sizes: Vec<String> = "sizes",
        /// `light` or `dark`.
        optional theme: String = "theme",
    }
}
