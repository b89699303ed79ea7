//! Roots: the folders that the client tells servers of (2026-07-28, client/roots).
//!
//! Deprecated from 2026-07-28 on: folders are to be told by the arguments of tools or the server's configuration.

use alloc::string::String;
use alloc::vec::Vec;

use super::object::object;
use crate::json::Json;

object! {
    /// A folder or file that matters to what the user does.
    pub struct Root("a root") {
        /// Its address, which starts with `file://`.
        required uri: String = "uri",
        /// The name that people read.
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
    /// The answer to `roots/list`: of a request in the legacy era, of a request for input from 2026-07-28.
    pub struct ListRootsResult("an object") {
        /// The roots.
        or_blank roots: Vec<Root> = "roots",
        /// Metadata (up to 2025-11-25).
        optional meta: Json = "_meta",
    }
}

impl ListRootsResult {
    /// The answer that names these roots.
    pub fn new(roots: impl IntoIterator<Item = Root>) -> Self {
        ListRootsResult { roots: roots.into_iter().collect(), ..ListRootsResult::default() }
    }
}
