//! [`ToolList`]: the tools of a server, and whether the list is fresh.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use crate::types::{ItemList, ListToolsResult, Tool};

/// The tools of a server, with an index by name. [`Pages`](crate::internal::Pages) joins the pages of the list.
#[derive(Debug, Default)]
pub struct ToolList {
    tools: ItemList<Tool>,
    /// The hash of each name and the index of its tool, sorted by hash and then by name.
    by_name: Vec<(u32, u32)>,
    hints: CacheHints,
    /// Whether the list was loaded, and the server has not reported a change since. Atomic, so that the owners of a shared list
    /// can invalidate it.
    fresh: AtomicBool,
}

/// The lifetime and scope that a modern server declares for a list (2026-07-28, server/utilities/caching, "Cacheable Model").
///
/// The default applies if the server declares nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// How long the list is fresh after it was received. The shortest lifetime of all pages; `None` if no page declares one.
    pub ttl: Option<Duration>,
    /// Whether clients with another authorization may get the list too. `true` if all pages declare so.
    pub is_public: bool,
}

impl CacheHints {
    /// Returns the hints of one page of a list.
    pub fn of(page: &ListToolsResult) -> Self {
        let is_public = page.cache_scope.as_deref() == Some("public");
        CacheHints { ttl: page.ttl_ms.map(Duration::from_millis), is_public }
    }

    /// Combines the hints of a list with those of its next page.
    #[must_use]
    pub fn and(self, page: CacheHints) -> Self {
        let ttl = [self.ttl, page.ttl].into_iter().flatten().min();
        CacheHints { ttl, is_public: self.is_public && page.is_public }
    }

    /// Returns the age at which the list should be requested again when it is next used.
    ///
    /// Returns `None` if the list stays fresh until the server reports a change. `tells` says whether the server reports
    /// changes. A lifetime of zero lets clients request the list "every time the result is needed". That is not necessary if
    /// the server reports changes, and otherwise once per minute is enough.
    pub fn stale_after(self, tells: bool) -> Option<Duration> {
        match self.ttl {
            Some(Duration::ZERO) => (!tells).then_some(MIN_LIFETIME),
            ttl => ttl,
        }
    }
}

/// Lifetime of a list with a declared lifetime of zero, if the server does not report changes.
const MIN_LIFETIME: Duration = Duration::from_secs(60);

impl Clone for ToolList {
    fn clone(&self) -> Self {
        let fresh = AtomicBool::new(self.is_fresh());
        ToolList { tools: self.tools.clone(), by_name: self.by_name.clone(), hints: self.hints, fresh }
    }
}

impl ToolList {
    /// Replaces the list. Later tools with the name of an earlier one are removed and listed in [`ItemList::rejected`].
    pub fn replace(&mut self, mut tools: ItemList<Tool>) {
        let mut names = by_name(&tools.items);
        let duplicates = duplicates(&names);
        if !duplicates.is_empty() {
            reject_at(&mut tools, &duplicates);
            names = by_name(&tools.items);
        }
        self.by_name = names.into_iter().map(|entry| (entry.hash, entry.place)).collect();
        // The list lives as long as the connection, and a program may have many connections.
        tools.items.shrink_to_fit();
        self.tools = tools;
        self.hints = CacheHints::default();
        self.fresh = AtomicBool::new(true);
    }

    /// Sets the cache hints of the list. Call this after [`ToolList::replace`], which resets them.
    pub fn set_hints(&mut self, hints: CacheHints) {
        self.hints = hints;
    }

    /// Returns the cache hints of the list.
    pub fn hints(&self) -> CacheHints {
        self.hints
    }

    /// Marks the list as stale, after the server has reported a change. The tools remain available.
    pub fn invalidate(&self) {
        self.fresh.store(false, Ordering::Relaxed);
    }

    /// Returns whether the list was loaded, and the server has not reported a change since.
    pub fn is_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed)
    }

    /// Returns the tools, and the rejected entries of the server's list.
    pub fn listed(&self) -> &ItemList<Tool> {
        &self.tools
    }

    /// Returns the tool with this name.
    pub fn get(&self, tool: &str) -> Option<&Tool> {
        let wanted = hash(tool);
        let found = self.by_name.binary_search_by(|(hash, place)| {
            // Equal hashes are rare, unless a server chooses the names for that.
            hash.cmp(&wanted).then_with(|| name(&self.tools, *place).cmp(tool))
        });
        self.tools.items.get(self.by_name[found.ok()?].1 as usize)
    }

    /// Returns whether the server has a tool of this name.
    ///
    /// Returns `None` if the list is not loaded or stale, or if a truncated list ([`ItemList::is_truncated`]) does not contain the tool.
    pub fn knows(&self, name: &str) -> Option<bool> {
        if !self.is_fresh() {
            return None;
        }
        let has = self.get(name).is_some();
        (has || !self.tools.is_truncated).then_some(has)
    }
}

fn name(tools: &ItemList<Tool>, place: u32) -> &str {
    tools.items.get(place as usize).map_or("", |tool| &tool.name)
}

/// The name and index of a tool. Sorts by hash first, which costs a tenth of a comparison of names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct NamedTool<'a> {
    hash: u32,
    name: &'a str,
    place: u32,
}

/// Returns the tools sorted by name. Tools with the same name stay in the order of the list.
fn by_name(tools: &[Tool]) -> Vec<NamedTool<'_>> {
    let names =
        tools.iter().zip(0..).map(|(tool, place)| NamedTool { hash: hash(&tool.name), name: &tool.name, place });
    // A heap needs a tenth of the code size of a slice sort.
    names.collect::<BinaryHeap<_>>().into_sorted_vec()
}

/// Returns the indexes of the tools with the name of an earlier tool, in order.
fn duplicates(names: &[NamedTool<'_>]) -> Vec<u32> {
    let duplicates = names.windows(2).filter(|pair| pair[0].name == pair[1].name).map(|pair| pair[1].place);
    duplicates.collect::<BinaryHeap<_>>().into_sorted_vec()
}

/// Rejects the tools at these indexes.
fn reject_at(tools: &mut ItemList<Tool>, places: &[u32]) {
    let mut places = places.iter().map(|place| *place as usize).peekable();
    let mut place = 0;
    tools.reject(|tool| {
        let is_duplicate = places.next_if_eq(&place).is_some();
        place += 1;
        is_duplicate.then(|| (mem::take(&mut tool.name), "a second tool of this name".into()))
    });
}

/// Returns the FNV-1a hash of a name.
fn hash(name: &str) -> u32 {
    name.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;

    #[test]
    fn a_list_holds_as_long_as_the_page_that_holds_least_and_is_public_if_all_are() {
        let page = |hints: &str| {
            let page = Json::parse(alloc::format!(r#"{{"tools":[]{hints}}}"#)).unwrap();
            CacheHints::of(&page.decode::<ListToolsResult>().unwrap())
        };
        let hints = |ttl: Option<u64>, is_public| CacheHints { ttl: ttl.map(Duration::from_millis), is_public };
        let long = page(r#","ttlMs":5000,"cacheScope":"public""#);
        assert_eq!(long, hints(Some(5_000), true));
        assert_eq!(long.and(page(r#","ttlMs":7,"cacheScope":"private""#)), hints(Some(7), false));
        assert_eq!(page("").and(long), hints(Some(5_000), false));
        assert_eq!(page(r#","ttlMs":null,"cacheScope":7"#), hints(None, false));
        for (ttl, tells, after) in [
            (None, false, None),
            (Some(0), true, None),
            (Some(0), false, Some(60_000)),
            (Some(1), true, Some(1)),
            (Some(u64::MAX), false, Some(u64::MAX)),
        ] {
            assert_eq!(hints(ttl, true).stale_after(tells), after.map(Duration::from_millis), "{ttl:?} {tells}");
        }
    }

    #[test]
    fn a_second_tool_of_a_name_is_reported_at_its_place_in_the_servers_list() {
        let tools = r#"[{"name":"a"},7,{"name":"b"},{},{"name":"a"},{"name":"c"},{"name":"b"}]"#;
        let mut list = ToolList::default();
        list.replace(Json::parse(tools).unwrap().decode().unwrap());
        let rejected = &list.listed().rejected;
        let places: Vec<_> = rejected.iter().map(|rejected| (rejected.index, rejected.name.as_deref())).collect();
        assert_eq!(places, [(1, None), (3, None), (4, Some("a")), (6, Some("b"))]);
        assert_eq!(list.listed().items.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["a", "b", "c"]);
    }

    #[test]
    fn a_list_that_is_not_all_excludes_no_tool() {
        let mut tools: ItemList<Tool> = Json::parse(r#"[{"name":"a","inputSchema":{}}]"#).unwrap().decode().unwrap();
        let mut list = ToolList::default();
        list.replace(tools.clone());
        assert_eq!((list.knows("a"), list.knows("b")), (Some(true), Some(false)));
        tools.truncate();
        list.replace(tools);
        assert_eq!((list.knows("a"), list.knows("b")), (Some(true), None));
    }
}
