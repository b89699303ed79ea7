//! What the results of requests have in common: their type, how long they may be cached, and pages of lists.

use alloc::string::String;

use super::Listed;
use crate::json::from_json::Mismatch;
use crate::text::excerpt;

/// Rejects a result whose type is not `complete` (2026-07-28, basic, "`ResultType`").
///
/// An absent type means `complete`: servers of earlier revisions send none. Read as the result of its method, a result of
/// another type would look like an empty one.
pub(super) fn check_complete(result_type: Option<&str>) -> Result<(), Mismatch> {
    match result_type {
        None | Some("complete") => Ok(()),
        Some(other) => {
            let other = excerpt(other.as_bytes());
            let reason = alloc::format!("a result of type {other:?}, which was not declared as understood").into();
            Err(Mismatch::Member { reason, key: "resultType" })
        }
    }
}

/// Declares the result of a request, an [`object!`](super::object::object) with the members that all results have.
///
/// A `cacheable` result also has the members that say how long it may be cached.
macro_rules! result {
    ($(#[$meta:meta])* pub struct $Name:ident { $($own:tt)* }) => {
        $crate::types::object::object! {
            $(#[$meta])*
            pub struct $Name(
                "an object",
                finish |result: $Name| $crate::types::result::check_complete(result.result_type.as_deref()).map(|()| result)
            ) {
                $($own)*
                /// The type of the result: `complete`, or absent before 2026-07-28.
                optional result_type: String = "resultType",
                /// Metadata.
                optional meta: Json = "_meta",
            }
        }
    };
    ($(#[$meta:meta])* pub cacheable struct $Name:ident { $($own:tt)* }) => {
        $crate::types::object::object! {
            $(#[$meta])*
            pub struct $Name(
                "an object",
                finish |result: $Name| $crate::types::result::check_complete(result.result_type.as_deref()).map(|()| result)
            ) {
                $($own)*
                /// The type of the result: `complete`, or absent before 2026-07-28.
                optional result_type: String = "resultType",
                /// For how long the result may be cached, in milliseconds (from 2026-07-28).
                optional ttl_ms: u64 = "ttlMs",
                /// Who may share a cached result: `public` or `private` (from 2026-07-28).
                optional cache_scope: String = "cacheScope",
                /// Metadata.
                optional meta: Json = "_meta",
            }
        }
    };
}
pub(super) use result;

/// One page of a list (2026-07-28, server/utilities/pagination).
pub trait PagedList {
    /// The type of an entry.
    type Item;

    /// Returns the entries, and the cursor of the next page if there is one.
    fn into_page(self) -> (Listed<Self::Item>, Option<String>);

    /// Returns the length of the list as JSON, in bytes, by which [`Pages`](crate::Pages) bounds its memory.
    ///
    /// By default it is 0: then only the number of pages and entries is bounded.
    fn bytes(&self) -> usize {
        0
    }
}

/// Declares one page of a list: a cacheable result with a list of entries and a cursor.
macro_rules! page {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident { $(#[$entries_meta:meta])* $entries:ident: $Item:ty = $key:literal, }
    ) => {
        $crate::types::result::result! {
            $(#[$meta])*
            pub cacheable struct $Name {
                $(#[$entries_meta])*
                always $entries: Listed<$Item> = $key,
                /// The cursor of the next page; absent on the last page.
                optional next_cursor: String = "nextCursor",
            }
        }

        $crate::types::result::paged_list!($Name, $entries: $Item);
    };
}
pub(super) use page;

/// Implements [`PagedList`] for a page whose field `$entries` has its entries.
macro_rules! paged_list {
    ($Name:ident, $entries:ident: $Item:ty) => {
        impl $crate::types::PagedList for $Name {
            type Item = $Item;

            fn into_page(self) -> (Listed<$Item>, Option<String>) {
                (self.$entries, self.next_cursor)
            }

            fn bytes(&self) -> usize {
                self.$entries.bytes
            }
        }
    };
}
pub(super) use paged_list;
