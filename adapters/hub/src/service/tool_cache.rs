//! [`ToolCache`]: stores on disk the tools that servers had in earlier runs.
//!
//! If a server starts only when it is called, the hub offers the cached tools until then. When the server lists its tools, the
//! hub compares the list with the cached definitions, to detect changed definitions.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io;
use std::ops::Not;
use std::path::PathBuf;

use mcpwire_config::disk::check_version;
use mcpwire_core::{CacheHints, ItemList, Tool, ToolList};
use mcpwire_files::{Fs as _, SystemFs, replace};
use serde::{Deserialize, Serialize};

use super::logs::if_found;
use crate::config::{McpConfig, McpPackageType};
use crate::layout::Layout;
use crate::{HubError, Uuid};

/// The version of the cache file that this program writes. It refuses files of later versions.
const VERSION: u64 = 1;

/// Maximum number of removed tools in the cache file of a server. The supervisor remembers as many removed tools in memory.
const MAX_REMOVED: usize = 1_000;

/// Maximum total size of the removed tools in the cache file of a server, in bytes of JSON. A typical tool takes 1 KiB.
const MAX_REMOVED_BYTES: usize = 1 << 20;

/// Stores the tools of each server in a file, so that the next hub knows the tools before it has started the server.
pub(super) struct ToolCache {
    /// The paths of the hub's files, or `None` if the hub keeps no files. Then nothing is cached.
    layout: Option<Layout>,
}

/// The content of the cache file of one server.
#[derive(Serialize, Deserialize)]
pub(super) struct CachedTools<'a> {
    #[serde(default)]
    version: u64,
    /// The hash of the server's program or address when it sent the tools. A server with another hash may have other tools.
    config_hash: String,
    /// Whether the server declares that its tool list may be shared between users (2026-07-28,
    /// server/utilities/caching, "Cache Scope Field").
    #[serde(default)]
    is_public: bool,
    /// Whether the list was requested with a token, so that it may be meant for one user only.
    #[serde(default, skip_serializing_if = "Not::not")]
    has_login: bool,
    /// The tools of the last list that the server has sent.
    tools: Cow<'a, [Tool]>,
    /// The definitions of tools that the server has removed from its list, most recently removed first. A removed tool may
    /// reappear with a changed definition.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<Tool>,
}

/// The version of the cache file, which is read before the rest. The first versions of this program wrote files without a
/// version.
#[derive(Deserialize)]
struct Header {
    version: Option<u64>,
}

/// Returns the tools that a hub has stored for a server, with the names that the server uses: those of the last list that the
/// server has sent. Returns no tools if none are stored, or if the file cannot be read.
///
/// This starts no server, so programs use it to complete names that a user types.
pub fn cached_tools(layout: &Layout, id: Uuid) -> Vec<Tool> {
    let bytes = SystemFs.read(&layout.catalog(id)).ok().flatten();
    let cached: Option<CachedTools<'_>> = bytes.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok());
    cached.map(|cached| cached.tools.into_owned()).unwrap_or_default()
}

impl ToolCache {
    pub(super) fn new(layout: Option<Layout>) -> Self {
        ToolCache { layout }
    }

    /// Returns whether a cache file of the server exists, which means that the server has run before.
    pub(super) fn contains(&self, config: &McpConfig) -> bool {
        self.path(config).is_some_and(|path| path.exists())
    }

    /// Checks that this program can read and replace the cache file of a server. Without the tools of earlier runs, the hub would
    /// not notice changed definitions.
    ///
    /// # Errors
    /// If a later version of this program has written the file, which it would otherwise destroy.
    pub(super) fn check(&self, config: &McpConfig) -> Result<(), HubError> {
        self.read_bytes(config).map(drop)
    }

    /// Returns the bytes of the cache file. Returns `None` if the file is missing or unreadable: the next write then replaces it.
    fn read_bytes(&self, config: &McpConfig) -> Result<Option<Vec<u8>>, HubError> {
        let Some(path) = self.path(config) else { return Ok(None) };
        let bytes = SystemFs.read(&path).ok().flatten();
        let header = bytes.as_ref().and_then(|bytes| serde_json::from_slice(bytes).ok());
        if let Some(Header { version: Some(version) }) = header {
            check_version(&path, version, VERSION)?;
        }
        Ok(bytes)
    }

    /// Reads the cached tools of a server. Returns `None` if no tools are cached, or if they are from another program or address
    /// than that of `config`.
    pub(super) fn read(&self, config: &McpConfig) -> Option<CachedTools<'static>> {
        let cached: CachedTools<'_> = serde_json::from_slice(&self.read_bytes(config).ok()??).ok()?;
        (cached.config_hash == config.hash()).then_some(cached)
    }

    /// Replaces the cached tools of a server with `list`. `has_login` says whether the list was requested with a login. Cached
    /// tools that are missing in `list` are kept as removed tools, up to a limit.
    pub(super) fn write(&self, config: &McpConfig, list: &ToolList, has_login: bool) -> io::Result<()> {
        let Some(path) = self.path(config) else { return Ok(()) };
        self.check(config).map_err(io::Error::other)?;
        if let Some(directory) = path.parent() {
            SystemFs.create_directory(directory)?;
        }
        let tools = &list.listed().items;
        let removed = self.read(config).map_or_else(Vec::new, |cached| cached.removed_by(tools));
        let (is_public, tools) = (list.hints().is_public, Cow::from(tools));
        let file = CachedTools { version: VERSION, config_hash: config.hash(), is_public, has_login, tools, removed };
        replace(&SystemFs, &path, &serde_json::to_vec(&file)?, None)
    }

    /// Deletes the cache file of a server, after the server was deleted from the configuration.
    pub(super) fn remove(&self, id: Uuid) -> io::Result<()> {
        let Some(layout) = &self.layout else { return Ok(()) };
        if_found(std::fs::remove_file(layout.catalog(id)))
    }

    fn path(&self, config: &McpConfig) -> Option<PathBuf> {
        Some(self.layout.as_ref()?.catalog(config.id))
    }
}

impl CachedTools<'_> {
    /// Returns the definitions of all cached tools, including removed tools. The hub compares them with the next list of the
    /// server.
    pub(super) fn known(&self) -> ToolList {
        list_of(self.tools.iter().chain(&self.removed).cloned().collect(), self.is_public)
    }

    /// Returns the cached tools that clients may see before the server has run. Returns `None` if clients must not see them.
    ///
    /// An HTTP server with configured headers or a login may list different tools for each user. The hub does not know for which
    /// user the list was cached. A private list "MUST NOT be shared across authorization contexts".
    pub(super) fn into_offered(self, config: &McpConfig) -> Option<ToolList> {
        let is_http = config.package.package_type == McpPackageType::Http;
        let knows_user = self.has_login || (is_http && !config.headers.is_empty());
        (self.is_public || !knows_user).then(|| list_of(self.tools.into_owned(), self.is_public))
    }

    /// Returns the cached tools that are missing in `latest`, the new tool list of the server. Returns at most `MAX_REMOVED`
    /// tools, whose JSON has at most `MAX_REMOVED_BYTES` in total.
    fn removed_by(self, latest: &[Tool]) -> Vec<Tool> {
        let listed: BTreeSet<&str> = latest.iter().map(|tool| tool.name.as_str()).collect();
        let known = self.tools.into_owned().into_iter().chain(self.removed);
        let removed = known.filter(|tool| !listed.contains(tool.name.as_str())).take(MAX_REMOVED);
        let mut bytes = 0;
        let fits = |tool: &Tool| {
            bytes += serde_json::to_vec(tool).map_or(0, |json| json.len());
            bytes <= MAX_REMOVED_BYTES
        };
        removed.take_while(fits).collect()
    }
}

fn list_of(items: Vec<Tool>, is_public: bool) -> ToolList {
    let mut list = ToolList::default();
    list.replace(ItemList { items, ..ItemList::default() });
    let mut hints = CacheHints::default();
    hints.is_public = is_public;
    list.set_hints(hints);
    list
}

#[cfg(test)]
mod tests {
    use mcpwire_core::Json;

    use super::*;
    use crate::config::EnvVarConfig;

    fn tools(names: impl IntoIterator<Item = String>, description: &str) -> ToolList {
        let tool = |name: String| {
            let text = serde_json::json!({"name": name, "description": description, "inputSchema": {}});
            Json::from_value(&text).unwrap().decode::<Tool>().unwrap()
        };
        list_of(names.into_iter().map(tool).collect(), true)
    }

    fn cache() -> (tempfile::TempDir, ToolCache, McpConfig) {
        let directory = tempfile::tempdir().unwrap();
        let cache = ToolCache::new(Some(Layout::below(directory.path())));
        (directory, cache, McpConfig::binary("a", "a"))
    }

    #[test]
    fn a_private_list_of_a_server_that_knows_its_user_is_not_offered() {
        let (_directory, cache, _) = cache();
        let open = McpConfig::http("open", "https://example.com/mcp");
        let guarded = open.clone().header(EnvVarConfig::value("Authorization", "Bearer x"));
        for (config, has_login, is_public, offered) in [
            (&open, false, false, true),
            (&open, false, true, true),
            (&open, true, false, false),
            (&open, true, true, true),
            (&guarded, false, false, false),
            (&guarded, false, true, true),
        ] {
            cache.write(config, &list_of(Vec::new(), is_public), has_login).unwrap();
            let cached = cache.read(config).expect("it is there");
            assert_eq!(cached.into_offered(config).is_some(), offered, "{} {is_public}", config.name);
        }
    }

    #[test]
    fn a_removed_tool_is_known_until_it_is_listed_again() {
        let (_directory, cache, config) = cache();
        let known = || {
            let known = cache.read(&config).unwrap().known();
            let shown = |tool: &Tool| format!("{} {}", tool.name, tool.description.as_deref().unwrap_or_default());
            known.listed().items.iter().map(shown).collect::<Vec<_>>()
        };
        let names = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        cache.write(&config, &tools(names(&["x", "y"]), "1"), false).unwrap();
        cache.write(&config, &tools(names(&["y"]), "2"), false).unwrap();
        cache.write(&config, &tools(names(&["z"]), "3"), false).unwrap();
        assert_eq!(known(), ["z 3", "y 2", "x 1"]);
        assert_eq!(cache.read(&config).unwrap().into_offered(&config).unwrap().listed().items.len(), 1);
        cache.write(&config, &tools(names(&["x", "y"]), "4"), false).unwrap();
        assert_eq!(known(), ["x 4", "y 4", "z 3"]);
        let mut other = config.clone();
        other.args.push("--other".into());
        assert!(cache.read(&other).is_none(), "another program has other tools");
    }

    #[test]
    fn removed_tools_are_bounded_in_number_and_size() {
        let (_directory, cache, config) = cache();
        let removed = |cache: &ToolCache| cache.read(&config).unwrap().removed.len();
        cache.write(&config, &tools((0..2 * MAX_REMOVED).map(|at| format!("tool_{at}")), ""), false).unwrap();
        cache.write(&config, &tools([], ""), false).unwrap();
        assert_eq!(removed(&cache), MAX_REMOVED);
        cache
            .write(&config, &tools((0..10).map(|at| format!("large_{at}")), &"x".repeat(MAX_REMOVED_BYTES / 4)), false)
            .unwrap();
        cache.write(&config, &tools([], ""), false).unwrap();
        assert_eq!(removed(&cache), 3);
    }
}
