//! What many results have in common: the type of the result, cache hints, and the pages of lists.

use alloc::string::String;

use crate::ItemList;
use crate::json::from_json::Mismatch;
use crate::text::excerpt;

/// Returns an error if the `resultType` of a result is not `complete`: the members of other types of result may have
/// another meaning (specification: basic, "`ResultType`").
pub(crate) fn check_complete(result_type: Option<&str>) -> Result<(), Mismatch> {
    match result_type {
        // Servers send no type before protocol revision 2026-07-28.
        None | Some("complete") => Ok(()),
        Some(other) => {
            let other = excerpt(other.as_bytes());
            let reason = alloc::format!("a result of type {other:?}, which was not declared as understood");
            Err(Mismatch::member(reason, "resultType"))
        }
    }
}

/// Declares the result type of a request: an [`object!`](crate::object::object) with the additional members
/// `resultType` and `_meta`.
///
/// The keyword `cacheable` also adds the cache hints `ttlMs` and `cacheScope`.
macro_rules! result {
    ($(#[$meta:meta])* pub struct $Name:ident { $($own:tt)* }) => {
        $crate::object::object! {
            $(#[$meta])*
            pub struct $Name(
                "an object",
                finish |result: $Name| $crate::result::check_complete(result.result_type.as_deref()).map(|()| result)
            ) {
                $($own)*
                /// `resultType` of the response: `complete`, or `None` if the server sent none (before protocol
                /// revision 2026-07-28).
                result_type result_type: String = "resultType",
                /// Additional metadata of the result (`_meta`).
                optional meta: Json = "_meta",
            }
        }
    };
    ($(#[$meta:meta])* pub cacheable struct $Name:ident { $($own:tt)* }) => {
        $crate::object::object! {
            $(#[$meta])*
            pub struct $Name(
                "an object",
                finish |result: $Name| $crate::result::check_complete(result.result_type.as_deref()).map(|()| result)
            ) {
                $($own)*
                /// `resultType` of the response: `complete`, or `None` if the server sent none (before protocol
                /// revision 2026-07-28).
                result_type result_type: String = "resultType",
                /// Time for which the client may cache the result, in milliseconds after receipt (from protocol
                /// revision 2026-07-28). `None` if the server sent no valid time.
                optional ttl_ms: u64 = "ttlMs",
                /// Who may receive the cached result (from protocol revision 2026-07-28): everyone (`public`), or only
                /// requests with the same authorization (`private`). `None` means `private`.
                optional cache_scope: String = "cacheScope",
                /// Additional metadata of the result (`_meta`).
                optional meta: Json = "_meta",
            }
        }
    };
}
pub(crate) use result;

/// A result that is one page of a list, such as the result of `tools/list`.
///
/// Specification: server/utilities/pagination.
#[doc(alias = "PaginatedResult")]
pub trait PagedList {
    /// Type of the entries of the list.
    type Item;

    /// Splits this page into its entries and the cursor of the next page. The cursor is `None` on the last page.
    fn into_page(self) -> (ItemList<Self::Item>, Option<String>);

    /// Returns the size of this page's entries as JSON text, in bytes. The client limits the sum for all pages of a
    /// list.
    ///
    /// The default implementation returns 0, so that the client limits only the number of pages and entries.
    fn bytes(&self) -> usize {
        0
    }
}

/// Declares the result type of a paginated request, such as `tools/list`: a list of entries, `nextCursor` and the
/// members of a `cacheable` [`result!`](crate::result::result).
macro_rules! page {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident { $(#[$entries_meta:meta])* $entries:ident: $Item:ty = $key:literal, }
    ) => {
        $crate::result::result! {
            $(#[$meta])*
            pub cacheable struct $Name {
                $(#[$entries_meta])*
                always $entries: ItemList<$Item> = $key,
                /// Cursor with which to request the next page. `None` on the last page.
                optional next_cursor: String = "nextCursor",
            }
        }

        $crate::result::paged_list!($Name, $entries: $Item);

        impl $Name {
            /// Creates the last page of a list, with these entries.
            pub fn new(entries: impl IntoIterator<Item = $Item>) -> Self {
                $Name { $entries: entries.into_iter().collect(), ..$Name::default() }
            }

            /// Sets the cursor with which clients request the next page.
            #[must_use]
            pub fn with_next_cursor(mut self, cursor: impl Into<String>) -> Self {
                self.next_cursor = Some(cursor.into());
                self
            }
        }
    };
}
pub(crate) use page;

macro_rules! paged_list {
    ($Name:ident, $entries:ident: $Item:ty) => {
        impl $crate::PagedList for $Name {
            type Item = $Item;

            fn into_page(self) -> (ItemList<$Item>, Option<String>) {
                (self.$entries, self.next_cursor)
            }

            fn bytes(&self) -> usize {
                self.$entries.bytes
            }
        }
    };
}
pub(crate) use paged_list;
