//! The catalogue: the tools of all servers, under unique names.

mod definitions;
mod filter;
mod names;

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::{fmt, mem};

use siphasher::sip::SipHasher24;

pub use definitions::{ToolChange, ToolChanges, ToolPart};
pub use filter::Filter;

use self::definitions::{Definitions, keyed_hasher};
use self::names::NameLimit;
use super::ServerId;
use mcpwire_core::{Tool, ToolList};

/// Default maximum length of exposed tool names, in characters. The APIs of common language models reject longer names.
const DEFAULT_NAME_LIMIT: usize = 64;

/// An immutable snapshot of the tools that all servers offer, with unique names.
///
/// The tools are sorted by the slug of their server (a short form of its name), then by tool name. When the tools of a
/// server change, [`CatalogueBuilder`] creates a new snapshot.
#[derive(Default)]
pub struct Catalogue {
    sections: Vec<Arc<ServerSection>>,
    len: usize,
    version: u64,
}

/// The part of a [`Catalogue`] with the tools of one server. Snapshots share the sections of unchanged servers.
struct ServerSection {
    server: ServerId,
    slug: String,
    tools: Arc<ToolList>,
    /// The offered tools, sorted by the names that the server uses for them.
    entries: Vec<ExposedTool>,
    /// Indices into `entries`, sorted by the exposed name of the tool.
    by_exposed: Vec<u32>,
}

struct ExposedTool {
    /// Index of the tool in the server's tool list.
    index: u32,
    exposed: String,
}

/// A tool that a server offers, with the unique name under which language models see it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OfferedTool<'a> {
    /// The unique name under which language models see and call the tool: `<slug>__<tool>`. The name consists of ASCII
    /// letters, digits, `_` and `-`.
    pub exposed: &'a str,
    /// The id of the server that provides the tool.
    pub server: ServerId,
    /// The slug of the server (a short form of its name): the part of `exposed` before `__`.
    pub slug: &'a str,
    /// The tool definition that the server sent. Its `name` is the name that the server uses, without the prefix
    /// `<slug>__`.
    pub tool: &'a Tool,
}

impl Catalogue {
    /// Returns the number of tools in the catalogue.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the catalogue has no tools.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the version number of this catalogue. Each new catalogue of the same [`CatalogueBuilder`] has a higher
    /// number.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Iterates over all tools, sorted by the slug of their server and then by tool name.
    pub fn tools(&self) -> impl Iterator<Item = OfferedTool<'_>> {
        self.sections.iter().flat_map(|section| section.tools())
    }

    /// Iterates over the tools that one server offers, sorted by name.
    pub fn tools_of(&self, server: ServerId) -> impl Iterator<Item = OfferedTool<'_>> {
        let section = self.sections.iter().find(|section| section.server == server);
        section.into_iter().flat_map(|section| section.tools())
    }

    /// Finds a tool by its exposed name `<slug>__<tool>`, or else by the name that its server uses.
    ///
    /// Returns `None` if no tool has this name, or if several servers use this name for a tool.
    pub fn find(&self, name: &str) -> Option<OfferedTool<'_>> {
        self.find_exposed(name).or_else(|| {
            let mut providers = self.providers(name);
            let only = providers.next()?;
            providers.next().is_none().then_some(only)
        })
    }

    /// Iterates over the tools with the name `tool`, which is the name that servers use, without the prefix `<slug>__`.
    /// Each server has at most one such tool.
    pub fn providers(&self, tool: &str) -> impl Iterator<Item = OfferedTool<'_>> {
        self.sections.iter().filter_map(move |section| section.get(tool))
    }

    fn find_exposed(&self, name: &str) -> Option<OfferedTool<'_>> {
        let slug = names::slug_of(name)?;
        let found = self.sections.binary_search_by(|section| section.slug.as_str().cmp(slug)).ok()?;
        let section = &self.sections[found];
        let exposed = |index: &u32| section.entries[*index as usize].exposed.as_str();
        let found = section.by_exposed.binary_search_by(|index| exposed(index).cmp(name)).ok()?;
        section.offer(&section.entries[section.by_exposed[found] as usize])
    }
}

impl fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} tools of {} servers", self.len, self.sections.len())
    }
}

impl ServerSection {
    fn new(server: ServerId, slug: &str, tools: &Arc<ToolList>, filter: &Filter, limit: NameLimit) -> Self {
        let tool_names: Vec<&str> = tools.listed().items.iter().map(|tool| tool.name.as_str()).collect();
        // Names are assigned before the filter is applied, so that a change of the filter does not rename tools.
        let names = names::exposed_names(server, slug, &tool_names, limit);
        let mut entries: Vec<ExposedTool> = (0..)
            .zip(names)
            .zip(&tool_names)
            .filter(|(_, tool)| filter.permits(tool))
            .map(|((index, exposed), _)| ExposedTool { index, exposed })
            .collect();
        entries.sort_unstable_by_key(|entry| tool_names[entry.index as usize]);
        let mut by_exposed: Vec<u32> = (0..).zip(&entries).map(|(index, _)| index).collect();
        by_exposed.sort_unstable_by_key(|index| entries[*index as usize].exposed.as_str());
        ServerSection { server, slug: slug.into(), tools: Arc::clone(tools), entries, by_exposed }
    }

    fn tool_name(&self, entry: &ExposedTool) -> &str {
        self.tools.listed().items.get(entry.index as usize).map_or("", |tool| &tool.name)
    }

    fn tools(&self) -> impl Iterator<Item = OfferedTool<'_>> {
        self.entries.iter().filter_map(|entry| self.offer(entry))
    }

    fn offer<'a>(&'a self, entry: &'a ExposedTool) -> Option<OfferedTool<'a>> {
        let tool = self.tools.listed().items.get(entry.index as usize)?;
        Some(OfferedTool { exposed: &entry.exposed, server: self.server, slug: &self.slug, tool })
    }

    fn get(&self, tool: &str) -> Option<OfferedTool<'_>> {
        let found = self.entries.binary_search_by(|entry| self.tool_name(entry).cmp(tool)).ok()?;
        self.offer(&self.entries[found])
    }
}

/// Builds a [`Catalogue`] from the tools of all servers, and updates it when they change.
///
/// If one server changes, only the tools of that server are processed again.
///
/// ```
/// # mod mcpwire { pub use mcpwire_core::ToolList; pub mod hub { pub mod supervisor { pub use
/// # mcpwire_supervisor::{CatalogueBuilder, Filter, ServerId}; } } pub mod types { pub use mcpwire_core::{ItemList, Json,
/// # Tool}; } }
/// use std::sync::Arc;
/// use mcpwire::ToolList;
/// use mcpwire::hub::supervisor::{CatalogueBuilder, Filter, ServerId};
/// use mcpwire::types::{ItemList, Json, Tool};
///
/// let mut list = ToolList::default();
/// let tools: Vec<Tool> = Json::parse(r#"[{"name":"read_file"},{"name":"admin.reset"}]"#)?.decode()?;
/// list.replace(ItemList { items: tools, ..ItemList::default() });
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
    /// Hashes the tool definitions, with a key that servers do not know.
    hasher: SipHasher24,
    members: BTreeMap<ServerId, CatalogueMember>,
    slugs_outdated: bool,
    is_outdated: bool,
    current: Arc<Catalogue>,
}

#[derive(Default)]
struct CatalogueMember {
    name: String,
    slug: String,
    filter: Filter,
    tools: Option<Arc<ToolList>>,
    /// The section of the catalogue for this server. `None` if the section must be rebuilt because its slug, filter or
    /// tools have changed.
    section: Option<Arc<ServerSection>>,
    /// The known tool definitions. They survive a restart of the server, so that changes are detected afterwards.
    definitions: Definitions,
}

impl fmt::Debug for CatalogueMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogueMember").field("name", &self.name).field("slug", &self.slug).finish_non_exhaustive()
    }
}

impl Default for CatalogueBuilder {
    fn default() -> Self {
        CatalogueBuilder::new()
    }
}

impl CatalogueBuilder {
    /// Creates a builder without servers. Exposed tool names have at most 64 characters.
    pub fn new() -> Self {
        CatalogueBuilder::with_longest_name(DEFAULT_NAME_LIMIT)
    }

    /// Creates a builder that limits exposed tool names to `longest` characters, for language models with other limits
    /// than 64.
    ///
    /// Values below 40 count as 40, because a shorter name has no room for the hash that makes it unique.
    pub fn with_longest_name(longest: usize) -> Self {
        CatalogueBuilder {
            limit: NameLimit::new(longest),
            hasher: keyed_hasher(0),
            members: BTreeMap::new(),
            slugs_outdated: false,
            is_outdated: false,
            current: Arc::default(),
        }
    }

    /// Sets the secret key of the hashes that detect changed tool definitions. Call this function before all others.
    ///
    /// A server that knows `seed` could change a tool definition without being detected.
    #[must_use]
    pub fn seeded(mut self, seed: u64) -> Self {
        self.hasher = keyed_hasher(seed);
        self
    }

    /// Adds a server without tools, or changes the name and filter of a server that was added before.
    ///
    /// `name` is the configured name of the server. The first part of its exposed tool names, the slug, is derived from
    /// this name.
    pub fn add(&mut self, server: ServerId, name: &str, filter: Filter) {
        let member = self.members.entry(server).or_default();
        if member.filter != filter {
            member.filter = filter;
            member.section = None;
        }
        self.rename(server, name);
    }

    /// Changes the name of a server, from which its slug is derived. Has no effect if the server is unknown.
    pub(crate) fn rename(&mut self, server: ServerId, name: &str) {
        let Some(member) = self.members.get_mut(&server) else { return };
        if member.name != name || member.slug.is_empty() {
            member.name = name.into();
            self.slugs_outdated = true;
        }
        self.is_outdated = true;
    }

    /// Removes a server and its tools. Has no effect if the server is unknown.
    pub fn remove(&mut self, server: ServerId) {
        if self.members.remove(&server).is_some() {
            self.slugs_outdated = true;
            self.is_outdated = true;
        }
    }

    /// Replaces the tool list of a server. `None` means that the server offers no tools. Has no effect if the server is
    /// unknown.
    ///
    /// Returns the tools whose definitions differ from the last known definitions, even if the server was restarted
    /// since.
    pub fn set_tools(&mut self, server: ServerId, tools: Option<Arc<ToolList>>) -> ToolChanges {
        let Some(member) = self.members.get_mut(&server) else { return ToolChanges::default() };
        let changes = tools.as_ref().map(|tools| member.definitions.compare(self.hasher, tools, &member.filter));
        member.tools = tools;
        member.section = None;
        self.is_outdated = true;
        changes.unwrap_or_default()
    }

    /// Sets the tool definitions that the host saved in an earlier run, to detect definitions that changed since then.
    ///
    /// These tools do not appear in the catalogue. Has no effect if definitions of the server are already known, for
    /// example from [`set_tools`](Self::set_tools).
    pub fn set_known_tools(&mut self, server: ServerId, tools: &ToolList) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions.set_baseline(self.hasher, tools);
        }
    }

    /// Discards the known tool definitions of a server. Call this function when a new configuration replaces the
    /// program or address of the server.
    pub fn forget_definitions(&mut self, server: ServerId) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions = Definitions::default();
        }
    }

    /// Returns the changed tools of a server that the user has not reviewed yet, at most 100.
    ///
    /// [`acknowledge_changes`](Self::acknowledge_changes) marks these changes as reviewed.
    pub fn changes(&self, server: ServerId) -> Vec<ToolChange> {
        self.members.get(&server).map(|member| member.definitions.unreviewed_changes()).unwrap_or_default()
    }

    /// Marks all changed tools of a server as reviewed by the user.
    pub fn acknowledge_changes(&mut self, server: ServerId) {
        if let Some(member) = self.members.get_mut(&server) {
            member.definitions.unreviewed.clear();
        }
    }

    /// Returns the current catalogue of all tools. Rebuilds the catalogue first if anything has changed.
    pub fn catalogue(&mut self) -> Arc<Catalogue> {
        self.assign_slugs();
        if self.is_outdated {
            self.rebuild();
        }
        Arc::clone(&self.current)
    }

    /// Returns the server to which an exposed tool name belongs, even if that server currently offers no tools.
    ///
    /// Only the slug before `__` is compared, so the server need not have the tool. Returns `None` if no server has
    /// this slug.
    pub fn server_of(&mut self, exposed: &str) -> Option<ServerId> {
        self.assign_slugs();
        let slug = names::slug_of(exposed)?;
        self.members.iter().find(|(_, member)| member.slug == slug).map(|(id, _)| *id)
    }

    /// Returns whether `server` offers the tool `tool`, and the server's filter allows the tool. `tool` is the name
    /// that the server uses, without the prefix `<slug>__`.
    pub fn offers(&self, server: ServerId, tool: &str) -> bool {
        let tools = self.members.get(&server).and_then(|member| member.tools.as_ref());
        tools.is_some_and(|tools| tools.get(tool).is_some()) && self.permits(server, tool)
    }

    /// Returns whether the filter of `server` allows the tool `tool`. `false` if the server is unknown.
    pub(crate) fn permits(&self, server: ServerId, tool: &str) -> bool {
        self.members.get(&server).is_some_and(|member| member.filter.permits(tool))
    }

    /// Derives the slugs of all servers again if a name has changed or a server was added or removed.
    fn assign_slugs(&mut self) {
        if !mem::take(&mut self.slugs_outdated) {
            return;
        }
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
        self.is_outdated = false;
        let mut sections = Vec::new();
        for (id, member) in &mut self.members {
            let Some(tools) = &member.tools else { continue };
            let build = || Arc::new(ServerSection::new(*id, &member.slug, tools, &member.filter, self.limit));
            sections.push(Arc::clone(member.section.get_or_insert_with(build)));
        }
        sections.sort_unstable_by(|one, other| one.slug.cmp(&other.slug));
        let len = sections.iter().map(|section| section.entries.len()).sum();
        self.current = Arc::new(Catalogue { sections, len, version: self.current.version + 1 });
    }
}
