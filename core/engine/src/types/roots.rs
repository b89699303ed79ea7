//! Roots: the folders that the client names to servers (2026-07-28, client/roots).
//!
//! The protocol deprecates roots from 2026-07-28 on, in favour of tool arguments or the server's configuration.

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use crate::json::Json;

object! {
    /// A folder or file that the user works on.
    pub struct Root("a root") {
        /// The URI, which starts with `file://`.
        required uri: String = "uri",
        /// The name to show to people.
        optional name: String = "name",
        /// Metadata (from 2025-06-18).
        optional meta: Json = "_meta",
    }
}

impl Root {
    /// A root without a name.
    pub fn new(uri: impl Into<String>) -> Self {
        Root { uri: uri.into(), ..Root::default() }
    }
}

object! {
    /// The client's answer to `roots/list`: to a request in the legacy era, to a request for input from 2026-07-28 on.
    pub struct ListRootsResult("an object") {
        /// The roots.
        always roots: Vec<Root> = "roots",
        /// Metadata (up to 2025-11-25).
        optional meta: Json = "_meta",
    }
}

impl ListRootsResult {
    /// An answer with these roots.
    pub fn new(roots: impl IntoIterator<Item = Root>) -> Self {
        ListRootsResult { roots: roots.into_iter().collect(), ..ListRootsResult::default() }
    }
}
