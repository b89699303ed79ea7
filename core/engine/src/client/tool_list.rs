//! [`ToolList`]: the tools of a server, and whether the list of them is fresh.

use alloc::vec::Vec;
use core::mem;
use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;

use mcpwire_text::json::item_list::reject;
use mcpwire_types::{ItemList, ListToolsResult, Tool};

/// The tools of a server, with an index by name.
///
/// The list is fresh from the time it is loaded until the server reports a change. Then it is stale.
#[derive(Debug, Default)]
pub struct ToolList {
    tools: ItemList<Tool>,
    /// The position of each tool in `tools`, sorted by name.
    by_name: Vec<usize>,
    hints: CacheHints,
    /// Whether a list was loaded, and the server has not reported a change since then.
    ///
    /// Atomic, because lists shared in an `Arc` are marked as stale, too.
    fresh: AtomicBool,
}

/// How long and for whom a server allows its list of tools to be cached (protocol revision 2026-07-28,
/// server/utilities/caching, "Cacheable Model").
///
/// The default applies if the server declares nothing: no lifetime, and not public.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CacheHints {
    /// How long the list is fresh after its receipt: the shortest lifetime of all pages. `None` if no page declares a
    /// lifetime.
    pub ttl: Option<Duration>,
    /// Whether the list may be shared with clients that use other credentials. `true` only if all pages declare so.
    pub is_public: bool,
}

impl CacheHints {
    /// Returns the cache hints in one page of the list.
    pub fn of(page: &ListToolsResult) -> Self {
        let is_public = page.cache_scope.as_deref() == Some("public");
        CacheHints { ttl: page.ttl_ms.map(Duration::from_millis), is_public }
    }

    /// Combines these hints with those of another page of the same list: the result has the shorter lifetime, and is
    /// public only if both pages are. A page without a lifetime does not change the lifetime.
    #[must_use]
    pub fn and(self, page: CacheHints) -> Self {
        let ttl = [self.ttl, page.ttl].into_iter().flatten().min();
        CacheHints { ttl, is_public: self.is_public && page.is_public }
    }

    /// Returns the age at which the client requests the list of tools again, or `None` if the client uses a list of any
    /// age.
    ///
    /// This is the lifetime that the server declared ([`Self::ttl`]). A lifetime of zero counts as one minute, or as
    /// unlimited if the server reports changes of the list (`tells`).
    pub fn stale_after(self, tells: bool) -> Option<Duration> {
        match self.ttl {
            Some(Duration::ZERO) => (!tells).then_some(MIN_LIFETIME),
            ttl => ttl,
        }
    }
}

/// Age at which the client requests a list again for which the server declared a lifetime of zero: 60 s. Requesting
/// such a list before every use, as the specification allows, would cost too many requests.
const MIN_LIFETIME: Duration = Duration::from_secs(60);

impl Clone for ToolList {
    fn clone(&self) -> Self {
        let fresh = AtomicBool::new(self.is_fresh());
        ToolList { tools: self.tools.clone(), by_name: self.by_name.clone(), hints: self.hints, fresh }
    }
}

impl ToolList {
    /// Replaces the tools by those of a newly loaded list, and marks the list as fresh. If several tools have the same
    /// name, the first is kept, and the others are moved to [`ItemList::rejected`].
    pub fn replace(&mut self, mut tools: ItemList<Tool>) {
        self.by_name = sorted_by_name(&tools.items);
        let is_second = |pair: &&[usize]| tools.items[pair[0]].name == tools.items[pair[1]].name;
        let mut seconds: Vec<usize> = self.by_name.windows(2).filter(is_second).map(|pair| pair[1]).collect();
        if !seconds.is_empty() {
            seconds.sort_unstable();
            let mut places = 0..;
            reject(&mut tools, |tool| {
                let is_second = places.next().is_some_and(|place| seconds.binary_search(&place).is_ok());
                is_second.then(|| (mem::take(&mut tool.name), "a second tool of this name".into()))
            });
            self.by_name = sorted_by_name(&tools.items);
        }
        // The list exists as long as the connection, and a program may have many connections. So unused capacity is
        // freed.
        tools.items.shrink_to_fit();
        self.tools = tools;
        self.hints = CacheHints::default();
        self.fresh = AtomicBool::new(true);
    }

    /// Sets the cache hints of the list. Call this after [`ToolList::replace`], which resets them to the default.
    pub fn set_hints(&mut self, hints: CacheHints) {
        self.hints = hints;
    }

    /// Returns the cache hints that the server declared for the list.
    pub fn hints(&self) -> CacheHints {
        self.hints
    }

    /// Marks the list as stale, because the server has reported a change. The tools remain in the list.
    pub fn invalidate(&self) {
        self.fresh.store(false, Ordering::Relaxed);
    }

    /// Returns whether the tool list was loaded and the server has not reported a change of it since.
    pub fn is_fresh(&self) -> bool {
        self.fresh.load(Ordering::Relaxed)
    }

    /// Returns the tools, together with the entries of the server's list that were rejected as invalid.
    pub fn listed(&self) -> &ItemList<Tool> {
        &self.tools
    }

    /// Returns the tool with this name, or `None` if the list does not contain the tool.
    pub fn get(&self, tool: &str) -> Option<&Tool> {
        let tools = &self.tools.items;
        let found = self.by_name.binary_search_by_key(&tool, |place| &*tools[*place].name).ok()?;
        tools.get(self.by_name[found])
    }

    /// Returns whether the server has a tool of this name, or `None` if this list cannot tell.
    ///
    /// A list that is stale or was never loaded cannot tell. A truncated list ([`ItemList::is_truncated`]) cannot tell
    /// that a tool does not exist.
    pub fn knows(&self, name: &str) -> Option<bool> {
        if !self.is_fresh() {
            return None;
        }
        let has = self.get(name).is_some();
        (has || !self.tools.is_truncated).then_some(has)
    }
}

/// Returns the positions of the tools, sorted by name. Tools of the same name stay in their order.
fn sorted_by_name(tools: &[Tool]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..tools.len()).collect();
    places.sort_by(|a, b| tools[*a].name.cmp(&tools[*b].name));
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpwire_text::json::Json;
    use mcpwire_text::json::item_list::truncate;

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
        truncate(&mut tools);
        list.replace(tools);
        assert_eq!((list.knows("a"), list.knows("b")), (Some(true), None));
    }
}
