//! Roots: the directories and files that the client offers to servers. Specification: client/roots.
//!
//! The specification deprecates roots from revision 2026-07-28 on, in favour of tool arguments and server
//! configuration.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_text::json::Json;
use mcpwire_text::object;

object! {
    /// A root: a directory or file that a server may work on.
    pub struct Root("a root") {
        /// URI of the root. The specification requires the scheme `file:`.
        required uri: String = "uri",
        /// Display name of the root.
        optional name: String = "name",
        /// Additional metadata of the root (`_meta`; from protocol revision 2025-06-18).
        optional meta: Json = "_meta",
    }
}

impl Root {
    /// Creates a root with this URI and without a display name.
    pub fn new(uri: impl Into<String>) -> Self {
        Root { uri: uri.into(), ..Root::default() }
    }
}

object! {
    /// Result of `roots/list`: the roots that the client offers to the server.
    ///
    /// Up to protocol revision 2025-11-25, the server asks for it with a JSON-RPC request. From revision 2026-07-28 on,
    /// the server asks for it in an `input_required` result.
    #[doc(alias("roots/list", "ListRootsRequest"))]
    pub struct ListRootsResult("an object") {
        /// The directories and files on which the server may work.
        always roots: Vec<Root> = "roots",
        /// Additional metadata of the result (`_meta`; up to protocol revision 2025-11-25).
        optional meta: Json = "_meta",
    }
}

impl ListRootsResult {
    /// Creates a result that contains these roots.
    pub fn new(roots: impl IntoIterator<Item = Root>) -> Self {
        ListRootsResult { roots: roots.into_iter().collect(), ..ListRootsResult::default() }
    }
}
