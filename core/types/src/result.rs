//! What many results have in common: the type of the result, cache hints, and the pages of lists.

use alloc::string::String;

use crate::ItemList;
use crate::json::from_json::Mismatch;
use crate::text::excerpt;

/// Returns an error if the `resultType` of a result is not `complete`, because the fields of such a result would be
/// misread (specification: basic, "`ResultType`").
///
/// `None` means `complete`, because servers send no type before protocol revision 2026-07-28.
pub(crate) fn check_complete(result_type: Option<&str>) -> Result<(), Mismatch> {
    match result_type {
        None | Some("complete") => Ok(()),
        Some(other) => {
            let other = excerpt(other.as_bytes());
            let reason = alloc::format!("a result of type {other:?}, which was not declared as understood");
            Err(Mismatch::member(reason, "resultType"))
        }
    }
}

/// Declares the result of a request, as [`object!`](crate::object::object) declares an object. Adds the members that
/// all results have: `resultType` and `_meta`.
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
                /// Type of the result: always `complete`. `None` if the server sent none, as before protocol revision
                /// 2026-07-28.
                optional result_type: String = "resultType",
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
                /// Type of the result: always `complete`. `None` if the server sent none, as before protocol revision
                /// 2026-07-28.
                optional result_type: String = "resultType",
                /// Time for which the client may cache the result, in milliseconds after receipt (from protocol
                /// revision 2026-07-28). `None` if the server sent no valid time.
                optional ttl_ms: u64 = "ttlMs",
                /// Who may receive the cached result: everyone (`public`), or only requests with the same authorization
                /// (`private`). `None` means `private`. From protocol revision 2026-07-28.
                optional cache_scope: String = "cacheScope",
                /// Additional metadata of the result (`_meta`).
                optional meta: Json = "_meta",
            }
        }
    };
}
pub(crate) use result;

/// A result that is one page of a list.
///
/// Specification: server/utilities/pagination.
pub trait PagedList {
    /// Type of the entries of the list.
    type Item;

    /// Returns the entries of this page, and the cursor of the next page (`None` on the last page).
    fn into_page(self) -> (ItemList<Self::Item>, Option<String>);

    /// Returns the size of this page's entries as JSON text, in bytes. [`Pages`](crate::internal::Pages) limits the sum
    /// of these sizes.
    ///
    /// The default implementation returns 0. The size of the list is then not limited.
    fn bytes(&self) -> usize {
        0
    }
}

/// Declares a `cacheable` result that is one page of a list: adds the cursor of the next page, and implements
/// [`PagedList`].
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
    };
}
pub(crate) use page;

/// Implements [`PagedList`] for a result whose entries are in the field `$entries`.
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
