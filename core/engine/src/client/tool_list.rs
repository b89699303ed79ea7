//! A server's tools, as far as they are known.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use crate::types::{ListToolsResult, Listed, Tool};

/// The tools of a server, and whether the list of them still holds. [`Pages`](crate::internal::Pages) builds such a list.
#[derive(Debug, Default)]
pub struct ToolList {
    tools: Listed<Tool>,
    /// Hashes of the names and places in that list, sorted: a call looks its tool up, and lists can be long.
    by_name: Vec<(u32, u32)>,
    hints: CacheHints,
    fresh: AtomicBool,
}

/// What a modern server says of how its list may be kept (2026-07-28, server/utilities/caching, "Cacheable Model"). The
/// default is what one says that says nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// For how long the list holds from when it came. Of several pages, the shortest; `None` where no page says so.
    pub ttl: Option<Duration>,
    /// Whether it may be shown to anybody, and not only to those with the same authorisation. All pages must say so.
    pub is_public: bool,
}

impl CacheHints {
    /// Those of one page of a list.
    pub fn of(page: &ListToolsResult) -> Self {
        let is_public = page.cache_scope.as_deref() == Some("public");
        CacheHints { ttl: page.ttl_ms.map(Duration::from_millis), is_public }
    }

    /// Those of a list with these pages.
    #[must_use]
    pub fn and(self, page: CacheHints) -> Self {
        let ttl = [self.ttl, page.ttl].into_iter().flatten().min();
        CacheHints { ttl, is_public: self.is_public && page.is_public }
    }

    /// After how long the list should be asked for again, when it is next looked at; `None` if only a word of the server's is
    /// reason to. `tells` says whether it tells when its tools change.
    ///
    /// A list that holds for no time at all may be asked for "every time the result is needed": of a server that tells of
    /// changes that would be for nothing, and of another, once a minute will do.
    pub fn stale_after(self, tells: bool) -> Option<Duration> {
        match self.ttl {
            Some(Duration::ZERO) => (!tells).then_some(NO_TIME_AT_ALL),
            ttl => ttl,
        }
    }
}

/// For how long a list is believed of which its server says that it does not hold, and of which it will not tell more.
const NO_TIME_AT_ALL: Duration = Duration::from_secs(60);

impl Clone for ToolList {
    fn clone(&self) -> Self {
        let fresh = AtomicBool::new(self.is_fresh());
        ToolList { tools: self.tools.clone(), by_name: self.by_name.clone(), hints: self.hints, fresh }
    }
}

impl ToolList {
    /// Takes the place of the old list. Names are unique within a server: a second tool of a name, which could not be called,
    /// is left out and told.
    pub fn replace(&mut self, mut tools: Listed<Tool>) {
        let mut names = by_name(&tools.items);
        let doubles = doubles(&names);
        if !doubles.is_empty() {
            leave_out(&mut tools, &doubles);
            names = by_name(&tools.items);
        }
        self.by_name = names.into_iter().map(|entry| (entry.hash, entry.place)).collect();
        // It is kept for as long as the connection, of which a program may have many.
        tools.items.shrink_to_fit();
        self.tools = tools;
        self.hints = CacheHints::default();
        self.fresh = AtomicBool::new(true);
    }

    /// What the server says of how the list may be kept. To be set after [`ToolList::replace`].
    pub fn set_hints(&mut self, hints: CacheHints) {
        self.hints = hints;
    }

    /// What the server says of how the list may be kept.
    pub fn hints(&self) -> CacheHints {
        self.hints
    }

    /// The server says that the list has changed: it is still shown, and no longer believed. Those who share the list need
    /// no copy of their own for that.
    pub fn invalidate(&self) {
        self.fresh.store(false, Ordering::Relaxed);
    }

    /// Whether the list is there, and the server has not said that it has changed.
    pub fn is_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed)
    }

    /// The tools, and what was left out.
    pub fn listed(&self) -> &Listed<Tool> {
        &self.tools
    }

    /// The tool of that name.
    pub fn get(&self, tool: &str) -> Option<&Tool> {
        let wanted = hash(tool);
        let found = self.by_name.binary_search_by(|(hash, place)| {
            // Equal hashes are rare, unless a server sees to it.
            hash.cmp(&wanted).then_with(|| name(&self.tools, *place).cmp(tool))
        });
        self.tools.items.get(self.by_name[found.ok()?].1 as usize)
    }

    /// Whether the server has a tool of that name; `None` if the list is not there or no longer holds, or if it is not in a
    /// list that is not all ([`Listed::is_cut`]).
    pub fn knows(&self, name: &str) -> Option<bool> {
        if !self.is_fresh() {
            return None;
        }
        let has = self.get(name).is_some();
        (has || !self.tools.is_cut).then_some(has)
    }
}

fn name(tools: &Listed<Tool>, place: u32) -> &str {
    tools.items.get(place as usize).map_or("", |tool| &tool.name)
}

/// A tool's name and place. In order, hashes come first: they are compared at a tenth of the cost of names.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Entry<'a> {
    hash: u32,
    name: &'a str,
    place: u32,
}

/// The names in order; those that are equal in the order in which they came.
fn by_name(tools: &[Tool]) -> Vec<Entry<'_>> {
    let names = tools.iter().zip(0..).map(|(tool, place)| Entry { hash: hash(&tool.name), name: &tool.name, place });
    // A heap sorts in a tenth of the code that the sorts of slices come with.
    names.collect::<BinaryHeap<_>>().into_sorted_vec()
}

/// The places of those whose name is another's before them, in order.
fn doubles(names: &[Entry<'_>]) -> Vec<u32> {
    let doubles = names.windows(2).filter(|pair| pair[0].name == pair[1].name).map(|pair| pair[1].place);
    doubles.collect::<BinaryHeap<_>>().into_sorted_vec()
}

/// Rejects the tools at these places.
fn leave_out(tools: &mut Listed<Tool>, places: &[u32]) {
    let mut places = places.iter().map(|place| *place as usize).peekable();
    let mut place = 0;
    tools.reject(|tool| {
        let is_double = places.next_if_eq(&place).is_some();
        place += 1;
        is_double.then(|| (mem::take(&mut tool.name), "a second tool of this name".into()))
    });
}

/// FNV-1a.
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
        let mut tools: Listed<Tool> = Json::parse(r#"[{"name":"a","inputSchema":{}}]"#).unwrap().decode().unwrap();
        let mut list = ToolList::default();
        list.replace(tools.clone());
        assert_eq!((list.knows("a"), list.knows("b")), (Some(true), Some(false)));
        tools.cut();
        list.replace(tools);
        assert_eq!((list.knows("a"), list.knows("b")), (Some(true), None));
    }
}
