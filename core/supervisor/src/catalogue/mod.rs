//! The tools of all servers under one roof.

mod definitions;
mod filter;
mod keyed;
mod names;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use definitions::{ToolChange, ToolChanges, ToolPart};
pub use filter::Filter;

use self::definitions::Definitions;
use self::keyed::Key;
use self::names::Longest;
use super::ServerId;
use mcpwire_core::Tool;
use mcpwire_core::ToolList;

/// The longest name of a tool unless something else is asked for: what the interfaces of language models take.
const LONGEST_NAME: usize = 64;

/// The tools that are offered, at one moment. Cheap to hand around, and never changed: a change makes another one.
///
/// The tools are in the order of their servers' slugs, and then of their names; so the list stays the same as long as the
/// tools do, whichever server started first.
#[derive(Default)]
pub struct Catalogue {
    sections: Vec<Arc<Section>>,
    len: usize,
    version: u64,
}

/// The tools of one server.
struct Section {
    server: ServerId,
    slug: String,
    tools: Arc<ToolList>,
    /// In the order of the names that the server gives them.
    entries: Vec<Entry>,
    /// Places in `entries`, in the order of the names that are shown.
    by_exposed: Vec<u32>,
}

struct Entry {
    /// The place in the server's list.
    place: u32,
    exposed: String,
}

/// A tool that is offered.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Offered<'a> {
    /// The name to show and to call it by: `<slug>__<tool>`, unique among all, of letters, digits, `_` and `-`.
    pub exposed: &'a str,
    /// Whose it is.
    pub server: ServerId,
    /// What stands for the server in the name.
    pub slug: &'a str,
    /// The tool, with the name that its server calls it by.
    pub tool: &'a Tool,
}

impl Catalogue {
    /// How many tools there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Counts the changes: of two catalogues of a host, the one with the higher number is the later one.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The tools, in order.
    pub fn tools(&self) -> impl Iterator<Item = Offered<'_>> {
        self.sections.iter().flat_map(|section| section.entries.iter().filter_map(|entry| section.offer(entry)))
    }

    /// The tools of one server, in order.
    pub fn tools_of(&self, server: ServerId) -> impl Iterator<Item = Offered<'_>> {
        let section = self.sections.iter().find(|section| section.server == server);
        section.into_iter().flat_map(|section| section.entries.iter().filter_map(|entry| section.offer(entry)))
    }

    /// The tool of that name: the one that is shown by it, or else the only one that its server calls so.
    pub fn find(&self, name: &str) -> Option<Offered<'_>> {
        self.find_exposed(name).or_else(|| {
            let mut providers = self.providers(name);
            let only = providers.next()?;
            providers.next().is_none().then_some(only)
        })
    }

    /// All tools that their servers call by that name.
    pub fn providers(&self, tool: &str) -> impl Iterator<Item = Offered<'_>> {
        self.sections.iter().filter_map(move |section| section.get(tool))
    }

    fn find_exposed(&self, name: &str) -> Option<Offered<'_>> {
        let slug = &name[..name.find(names::BORDER)?];
        let found = self.sections.binary_search_by(|section| section.slug.as_str().cmp(slug)).ok()?;
        let section = &self.sections[found];
        let exposed = |place: &u32| section.entries[*place as usize].exposed.as_str();
        let found = section.by_exposed.binary_search_by(|place| exposed(place).cmp(name)).ok()?;
        section.offer(&section.entries[section.by_exposed[found] as usize])
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tools of {} servers", self.len, self.sections.len())
    }
}

impl Section {
    fn new(server: ServerId, slug: &str, tools: &Arc<ToolList>, filter: &Filter, longest: Longest) -> Self {
        let raw: Vec<&str> = tools.listed().items.iter().map(|tool| tool.name.as_str()).collect();
        // Names are given before anything is left out: what is offered today changes no other name.
        let names = names::exposed(server, slug, &raw, longest);
        let mut entries: Vec<Entry> = (0..)
            .zip(names)
            .zip(&raw)
            .filter(|(_, raw)| filter.permits(raw))
            .map(|((place, exposed), _)| Entry { place, exposed })
            .collect();
        entries.sort_unstable_by_key(|entry| raw[entry.place as usize]);
        let mut by_exposed: Vec<u32> = (0..).zip(&entries).map(|(place, _)| place).collect();
        by_exposed.sort_unstable_by_key(|place| entries[*place as usize].exposed.as_str());
        Section { server, slug: slug.into(), tools: Arc::clone(tools), entries, by_exposed }
    }

    fn raw(&self, entry: &Entry) -> &str {
        self.tools.listed().items.get(entry.place as usize).map_or("", |tool| &tool.name)
    }

    fn offer<'a>(&'a self, entry: &'a Entry) -> Option<Offered<'a>> {
        let tool = self.tools.listed().items.get(entry.place as usize)?;
        Some(Offered { exposed: &entry.exposed, server: self.server, slug: &self.slug, tool })
    }

    fn get(&self, tool: &str) -> Option<Offered<'_>> {
        let found = self.entries.binary_search_by(|entry| self.raw(entry).cmp(tool)).ok()?;
        self.offer(&self.entries[found])
    }
}

/// Keeps a [`Catalogue`] up to date. What changes at one server costs the others nothing.
///
/// ```
/// use std::sync::Arc;
/// use mcpwire_supervisor::{CatalogueBuilder, Filter, ServerId};
/// use mcpwire_core::{Json, Listed, Tool, ToolList};
///
/// let mut list = ToolList::default();
/// let tools: Vec<Tool> = Json::parse(r#"[{"name":"read_file"},{"name":"admin.reset"}]"#)?.decode()?;
/// list.replace(Listed { items: tools, ..Listed::default() });
///
/// let id = ServerId::from_random(1);
/// let mut builder = CatalogueBuilder::new();
/// builder.add(id, "My Files", Filter::default());
/// builder.set_tools(id, Some(Arc::new(list)));
/// let catalogue = builder.catalogue();
/// let names: Vec<&str> = catalogue.tools().map(|tool| tool.exposed).collect();
/// assert_eq!(names, ["my_files__admin_reset", "my_files__read_file"]);
/// assert_eq!(catalogue.find("my_files__admin_reset").unwrap().tool.name, "admin.reset");
/// assert_eq!(catalogue.find("read_file").unwrap().server, id);
/// # Ok::<(), mcpwire_core::JsonError>(())
/// ```
#[derive(Debug)]
pub struct CatalogueBuilder {
    longest: Longest,
    key: Key,
    members: BTreeMap<ServerId, Member>,
    /// Servers have come, gone or been renamed: the slugs of others may be others.
    renamed: bool,
    /// The catalogue is not that of now.
    changed: bool,
    current: Arc<Catalogue>,
}

struct Member {
    name: String,
    slug: String,
    filter: Filter,
    tools: Option<Arc<ToolList>>,
    /// Made of the four above.
    section: Option<Arc<Section>>,
    /// What its tools were said to be, also while it offers none.
    definitions: Definitions,
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member").field("name", &self.name).field("slug", &self.slug).finish_non_exhaustive()
    }
}

impl Default for CatalogueBuilder {
    fn default() -> Self {
        CatalogueBuilder::new()
    }
}

impl CatalogueBuilder {
    /// No servers. Names have 64 characters at most.
    pub fn new() -> Self {
        CatalogueBuilder::with_longest_name(LONGEST_NAME)
    }

    /// The same with another limit, of 40 characters at least: with fewer, there is no room to tell tools apart.
    pub fn with_longest_name(longest: usize) -> Self {
        CatalogueBuilder {
            longest: Longest::new(longest),
            key: Key::new(0),
            members: BTreeMap::new(),
            renamed: false,
            changed: false,
            current: Arc::default(),
        }
    }

    /// Tools are remembered by hashes that are made with this. It is to be unknown to servers: one that knew it could make a
    /// tool into another that looks the same. To be set before anything else.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.key = Key::new(seed);
        self
    }

    /// Takes in a server, or another name or filter of one. Its name for people makes its slug; what a server calls itself
    /// is not used, for it need not be unique.
    pub fn add(&mut self, server: ServerId, name: &str, filter: Filter) {
        let fresh = || Member {
            name: String::new(),
            slug: String::new(),
            filter: Filter::default(),
            tools: None,
            section: None,
            definitions: Definitions::default(),
        };
        let member = self.members.entry(server).or_insert_with(fresh);
        if member.name != name || member.slug.is_empty() {
            member.name = name.into();
            self.renamed = true;
        }
        if member.filter != filter {
            member.filter = filter;
            member.section = None;
        }
        self.changed = true;
    }

    /// A server is no more.
    pub fn remove(&mut self, server: ServerId) {
        if self.members.remove(&server).is_some() {
            self.renamed = true;
            self.changed = true;
        }
    }

    /// What a server offers now; `None` if it offers nothing. Of no effect for a server that was not added.
    ///
    /// Gives the tools that are described in another way than when they were last listed, however long ago: also if the server
    /// was started again since, or did not have them for a while.
    pub fn set_tools(&mut self, server: ServerId, tools: Option<Arc<ToolList>>) -> ToolChanges {
        let Some(member) = self.members.get_mut(&server) else { return ToolChanges::default() };
        let changes = tools.as_ref().map(|tools| member.definitions.compare(self.key, tools, &member.filter));
        member.tools = tools;
        member.section = None;
        self.changed = true;
        changes.unwrap_or_default()
    }

    /// What a server's tools were when they were last listed, if that was before this began: what is different then is told.
    /// Of no effect if a list of it has been seen.
    pub fn expect_tools(&mut self, server: ServerId, tools: &ToolList) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions.expect(self.key, tools);
        }
    }

    /// What a server runs is another now: that its tools are others is no news.
    pub fn expect_others(&mut self, server: ServerId) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions = Definitions::default();
        }
    }

    /// The tools of a server that were described in another way, until [`changes_seen`](Self::changes_seen): 100 at most.
    pub fn changes(&self, server: ServerId) -> Vec<ToolChange> {
        self.members.get(&server).map(|member| member.definitions.told()).unwrap_or_default()
    }

    /// Somebody has looked at the changes of a server's tools.
    pub fn changes_seen(&mut self, server: ServerId) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions.seen();
        }
    }

    /// The catalogue of now. Only what has changed since the last one is made anew.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        if self.renamed {
            self.name_anew();
        }
        if self.changed {
            self.collect();
        }
        Arc::clone(&self.current)
    }

    /// Returns the server that the exposed name of a tool belongs to, also while that server offers no tools. Only the part
    /// before `__` is compared: the server need not have such a tool.
    pub fn server_of(&mut self, exposed: &str) -> Option<ServerId> {
        if self.renamed {
            self.name_anew();
        }
        let (slug, _) = exposed.split_once(names::BORDER)?;
        self.members.iter().find(|(_, member)| member.slug == slug).map(|(id, _)| *id)
    }

    /// Whether a server offers such a tool, by the name that it gives it.
    pub fn offers(&self, server: ServerId, tool: &str) -> bool {
        self.members.get(&server).is_some_and(|member| {
            let has = member.tools.as_ref().is_some_and(|tools| tools.get(tool).is_some());
            has && member.filter.permits(tool)
        })
    }

    fn name_anew(&mut self) {
        self.renamed = false;
        let names = self.members.iter().map(|(id, member)| (*id, member.name.as_str()));
        for (id, slug) in names::slugs(names, self.longest) {
            if let Some(member) = self.members.get_mut(&id)
                && member.slug != slug
            {
                member.slug = slug;
                member.section = None;
            }
        }
    }

    fn collect(&mut self) {
        self.changed = false;
        let mut sections = Vec::new();
        for (id, member) in &mut self.members {
            let Some(tools) = &member.tools else { continue };
            let made = || Arc::new(Section::new(*id, &member.slug, tools, &member.filter, self.longest));
            sections.push(Arc::clone(member.section.get_or_insert_with(made)));
        }
        sections.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
        let len = sections.iter().map(|section| section.entries.len()).sum();
        self.current = Arc::new(Catalogue { sections, len, version: self.current.version + 1 });
    }
}
