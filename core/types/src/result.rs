//! [`PagedList`]: the pages of lists.

use alloc::string::String;

use mcpwire_text::json::ItemList;

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
/// members of a `cacheable` [`result!`](mcpwire_text::result).
macro_rules! page {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident { $(#[$entries_meta:meta])* $entries:ident: $Item:ty = $key:literal, }
    ) => {
        mcpwire_text::result! {
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
