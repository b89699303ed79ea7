//! Lists that come in pages, put together (2026-07-28, server/utilities/pagination).

use alloc::string::String;
use alloc::vec::Vec;

use crate::types::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListTasksResult, ListToolsResult, Listed,
    Prompt, Resource, ResourceTemplate, Task, Tool,
};

/// The most pages that are asked for. 1,000: a server that pages by one would still list more than anybody reads.
const MAX_PAGES: usize = 1_000;

/// The most entries that are kept. 100,000: ten times the largest lists seen in the field.
const MAX_ENTRIES: usize = 100_000;

/// A page of a list.
pub trait PagedList {
    /// What is listed.
    type Item;

    /// The entries, and where the next page starts.
    fn into_page(self) -> (Listed<Self::Item>, Option<String>);
}

macro_rules! paged {
    ($( $Page:ident . $entries:ident: $Item:ident; )*) => { $(
        impl PagedList for $Page {
            type Item = $Item;

            fn into_page(self) -> (Listed<$Item>, Option<String>) {
                (self.$entries, self.next_cursor)
            }
        }
    )* };
}

paged! {
    ListToolsResult.tools: Tool;
    ListResourcesResult.resources: Resource;
    ListResourceTemplatesResult.resource_templates: ResourceTemplate;
    ListPromptsResult.prompts: Prompt;
    ListTasksResult.tasks: Task;
}

/// A list on its way, page by page.
///
/// A server whose pages lead in a circle, or never end, gives what it has given by then.
#[derive(Clone, Debug)]
pub struct Pages<T> {
    list: Listed<T>,
    cursors: Vec<String>,
}

impl<T> Default for Pages<T> {
    fn default() -> Self {
        Pages { list: Listed::default(), cursors: Vec::new() }
    }
}

impl<T> Pages<T> {
    /// Takes in a page. Gives the cursor of the next one; `None` if the list is complete.
    pub fn add(&mut self, page: impl PagedList<Item = T>) -> Option<&str> {
        let (entries, cursor) = page.into_page();
        self.list.append(entries);
        let cursor = cursor?;
        let goes_on = self.cursors.len() + 1 < MAX_PAGES
            && self.list.items.len() + self.list.rejected.len() < MAX_ENTRIES
            && !self.cursors.contains(&cursor);
        if !goes_on {
            return None;
        }
        self.cursors.push(cursor);
        self.cursors.last().map(String::as_str)
    }

    /// The list.
    pub fn into_list(self) -> Listed<T> {
        self.list
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::json::Json;

    fn page(name: &str, cursor: Option<&str>) -> ListPromptsResult {
        let cursor = cursor.map(|cursor| format!(r#","nextCursor":"{cursor}""#)).unwrap_or_default();
        Json::parse(format!(r#"{{"prompts":[{{"name":"{name}"}},7]{cursor}}}"#)).unwrap().decode().unwrap()
    }

    #[test]
    fn all_pages_are_one_list() {
        let mut pages = Pages::default();
        assert_eq!(pages.add(page("a", Some("1"))), Some("1"));
        assert_eq!(pages.add(page("b", None)), None);
        let list = pages.into_list();
        assert_eq!(list.items.iter().map(|prompt| prompt.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(list.rejected.iter().map(|entry| entry.index).collect::<Vec<_>>(), [1, 3]);
    }

    #[test]
    fn a_circle_is_left() {
        let mut pages = Pages::default();
        assert!(pages.add(page("a", Some("1"))).is_some());
        assert!(pages.add(page("b", Some("2"))).is_some());
        assert!(pages.add(page("c", Some("1"))).is_none());
    }

    #[test]
    fn a_list_that_never_ends_is_cut() {
        let mut pages = Pages::default();
        let mut asked = 0;
        while pages.add(page("a", Some(&format!("{asked}")))).is_some() {
            asked += 1;
        }
        assert_eq!(asked, MAX_PAGES - 1);
    }
}
