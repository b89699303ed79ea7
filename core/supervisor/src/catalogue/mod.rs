//! The catalogue: the tools of all servers under unique names.

mod definitions;
mod filter;
mod keyed_hash;
mod names;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

pub use definitions::{ToolChange, ToolChanges, ToolPart};
pub use filter::Filter;

use self::definitions::Definitions;
use self::keyed_hash::HashKey;
use self::names::NameLimit;
use super::ServerId;
use mcpwire_core::Tool;
use mcpwire_core::ToolList;

/// Default length limit of exposed tool names, from the APIs of language models.
const DEFAULT_NAME_LIMIT: usize = 64;

/// An immutable snapshot of all offered tools.
///
/// The tools are sorted by slug of the server and then by name. The order does not depend on which server started
/// first.
///
/// Each change produces a new catalogue that shares unchanged parts with the previous one.
#[derive(Default)]
pub struct Catalogue {
    sections: Vec<Arc<Section>>,
    len: usize,
    version: u64,
}

/// The offered tools of one server.
struct Section {
    server: ServerId,
    slug: String,
    tools: Arc<ToolList>,
    /// The offered tools, sorted by the names that the server gives them.
    entries: Vec<Entry>,
    /// Indices into `entries`, sorted by exposed name.
    by_exposed: Vec<u32>,
}

struct Entry {
    /// Index into the server's tool list.
    place: u32,
    exposed: String,
}

/// An offered tool, with its server and its exposed name.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OfferedTool<'a> {
    /// The unique name to show and call: `<slug>__<tool>`, made of letters, digits, `_` and `-`.
    pub exposed: &'a str,
    /// The server that provides the tool.
    pub server: ServerId,
    /// The part of the exposed name that stands for the server.
    pub slug: &'a str,
    /// The tool definition, with the name that the server gives it.
    pub tool: &'a Tool,
}

impl Catalogue {
    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the catalogue has no tools.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the version of the catalogue. A host's later catalogue has a higher version.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Iterates over all tools, sorted by slug and name.
    pub fn tools(&self) -> impl Iterator<Item = OfferedTool<'_>> {
        self.sections.iter().flat_map(|section| section.entries.iter().filter_map(|entry| section.offer(entry)))
    }

    /// Iterates over the tools of one server, sorted by name.
    pub fn tools_of(&self, server: ServerId) -> impl Iterator<Item = OfferedTool<'_>> {
        let section = self.sections.iter().find(|section| section.server == server);
        section.into_iter().flat_map(|section| section.entries.iter().filter_map(|entry| section.offer(entry)))
    }

    /// Finds a tool by its exposed name, or by its own name if only one server offers a tool of that name.
    pub fn find(&self, name: &str) -> Option<OfferedTool<'_>> {
        self.find_exposed(name).or_else(|| {
            let mut providers = self.providers(name);
            let only = providers.next()?;
            providers.next().is_none().then_some(only)
        })
    }

    /// Iterates over the tools that have this name on their servers.
    pub fn providers(&self, tool: &str) -> impl Iterator<Item = OfferedTool<'_>> {
        self.sections.iter().filter_map(move |section| section.get(tool))
    }

    fn find_exposed(&self, name: &str) -> Option<OfferedTool<'_>> {
        let slug = &name[..name.find(names::SEPARATOR)?];
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
    fn new(server: ServerId, slug: &str, tools: &Arc<ToolList>, filter: &Filter, limit: NameLimit) -> Self {
        let raw: Vec<&str> = tools.listed().items.iter().map(|tool| tool.name.as_str()).collect();
        // Names are assigned before filtering, so that a change of the filter renames no tool.
        let names = names::exposed_names(server, slug, &raw, limit);
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

    fn offer<'a>(&'a self, entry: &'a Entry) -> Option<OfferedTool<'a>> {
        let tool = self.tools.listed().items.get(entry.place as usize)?;
        Some(OfferedTool { exposed: &entry.exposed, server: self.server, slug: &self.slug, tool })
    }

    fn get(&self, tool: &str) -> Option<OfferedTool<'_>> {
        let found = self.entries.binary_search_by(|entry| self.raw(entry).cmp(tool)).ok()?;
        self.offer(&self.entries[found])
    }
}

/// Builds a [`Catalogue`] and keeps it up to date. A change at one server does not rebuild the sections of the others.
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
    limit: NameLimit,
    key: HashKey,
    members: BTreeMap<ServerId, Member>,
    /// Whether servers were added, removed or renamed, so that slugs must be assigned again.
    renamed: bool,
    /// Whether `current` is outdated.
    changed: bool,
    current: Arc<Catalogue>,
}

struct Member {
    name: String,
    slug: String,
    filter: Filter,
    tools: Option<Arc<ToolList>>,
    /// Cached section, built from the four fields above.
    section: Option<Arc<Section>>,
    /// The known tool definitions, also while the server offers no tools.
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
    /// Creates a builder without servers. Exposed names have at most 64 characters.
    pub fn new() -> Self {
        CatalogueBuilder::with_longest_name(DEFAULT_NAME_LIMIT)
    }

    /// Creates a builder with another limit of exposed names, in characters.
    ///
    /// The minimum is 40: a shorter name has no room for the hash that keeps tools apart.
    pub fn with_longest_name(longest: usize) -> Self {
        CatalogueBuilder {
            limit: NameLimit::new(longest),
            key: HashKey::new(0),
            members: BTreeMap::new(),
            renamed: false,
            changed: false,
            current: Arc::default(),
        }
    }

    /// Sets the secret seed of the hashes that detect changed tools. Call this first.
    ///
    /// A server that knows the seed could change a tool unnoticed.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.key = HashKey::new(seed);
        self
    }

    /// Adds a server, or updates its name and filter.
    ///
    /// The configured name determines the slug. The name that a server gives itself need not be unique, so it is not
    /// used.
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

    /// Removes a server.
    pub fn remove(&mut self, server: ServerId) {
        if self.members.remove(&server).is_some() {
            self.renamed = true;
            self.changed = true;
        }
    }

    /// Sets the tools of a server; `None` if it offers none. Has no effect for an unknown server.
    ///
    /// Returns the tools whose definition changed since they were last listed, even across restarts of the server.
    pub fn set_tools(&mut self, server: ServerId, tools: Option<Arc<ToolList>>) -> ToolChanges {
        let Some(member) = self.members.get_mut(&server) else { return ToolChanges::default() };
        let changes = tools.as_ref().map(|tools| member.definitions.compare(self.key, tools, &member.filter));
        member.tools = tools;
        member.section = None;
        self.changed = true;
        changes.unwrap_or_default()
    }

    /// Sets the tools of an earlier run as the baseline for detecting changed definitions. Has no effect once a list
    /// has been seen.
    pub fn set_known_tools(&mut self, server: ServerId, tools: &ToolList) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions.set_baseline(self.key, tools);
        }
    }

    /// Discards the known definitions of a server that now runs another program.
    pub fn forget_definitions(&mut self, server: ServerId) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions = Definitions::default();
        }
    }

    /// Returns up to 100 changed tools of a server that have not been marked by [`acknowledge_changes`](Self::acknowledge_changes).
    pub fn changes(&self, server: ServerId) -> Vec<ToolChange> {
        self.members.get(&server).map(|member| member.definitions.unreviewed()).unwrap_or_default()
    }

    /// Marks the changed tools of a server as reviewed.
    pub fn acknowledge_changes(&mut self, server: ServerId) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions.mark_reviewed();
        }
    }

    /// Returns the current catalogue. Rebuilds only the sections that changed.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        if self.renamed {
            self.assign_slugs();
        }
        if self.changed {
            self.rebuild();
        }
        Arc::clone(&self.current)
    }

    /// Returns the server that the exposed name of a tool belongs to, also while that server offers no tools. Only the part
    /// before `__` is compared: the server need not have such a tool.
    pub fn server_of(&mut self, exposed: &str) -> Option<ServerId> {
        if self.renamed {
            self.assign_slugs();
        }
        let (slug, _) = exposed.split_once(names::SEPARATOR)?;
        self.members.iter().find(|(_, member)| member.slug == slug).map(|(id, _)| *id)
    }

    /// Returns whether a server offers a tool, given the server's own name of the tool.
    pub fn offers(&self, server: ServerId, tool: &str) -> bool {
        self.members.get(&server).is_some_and(|member| {
            let has = member.tools.as_ref().is_some_and(|tools| tools.get(tool).is_some());
            has && member.filter.permits(tool)
        })
    }

    fn assign_slugs(&mut self) {
        self.renamed = false;
        let names = self.members.iter().map(|(id, member)| (*id, member.name.as_str()));
        for (id, slug) in names::slugs(names, self.limit) {
            if let Some(member) = self.members.get_mut(&id)
                && member.slug != slug
            {
                member.slug = slug;
                member.section = None;
            }
        }
    }

    fn rebuild(&mut self) {
        self.changed = false;
        let mut sections = Vec::new();
        for (id, member) in &mut self.members {
            let Some(tools) = &member.tools else { continue };
            let made = || Arc::new(Section::new(*id, &member.slug, tools, &member.filter, self.limit));
            sections.push(Arc::clone(member.section.get_or_insert_with(made)));
        }
        sections.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
        let len = sections.iter().map(|section| section.entries.len()).sum();
        self.current = Arc::new(Catalogue { sections, len, version: self.current.version + 1 });
    }
}
