//! The tools that servers had, on disk: those of a server that is started only when it is called are known from there, and
//! what a server says of its tools now is compared with them.

use std::io;
use std::sync::Arc;

use mcpwire_core::{CacheHints, ItemList, Tool, ToolList};
use mcpwire_supervisor::ServerId;
use serde::{Deserialize, Serialize};

use super::effects::Target;
use super::shared::Shared;
use super::snapshot::server_id;
use crate::HubError;
use crate::config::{McpConfig, McpPackageType};
use crate::disk::{Fs as _, SystemFs, replace};
use crate::layout::Layout;

#[derive(Serialize)]
struct Written<'a> {
    config_hash: String,
    /// The server says that anybody may see it (2026-07-28, server/utilities/caching, "Cache Scope Field").
    is_public: bool,
    tools: &'a [Tool],
}

#[derive(Deserialize)]
struct Read {
    config_hash: String,
    #[serde(default)]
    is_public: bool,
    tools: Vec<Tool>,
}

impl Shared {
    /// Takes in a server from the file, with the tools that it had.
    pub(super) async fn adopt(self: &Arc<Self>, config: McpConfig) -> Result<(), HubError> {
        config.validate()?;
        let id = server_id(config.id);
        let is_lazy = config.lazy || config.idle.is_some();
        let knows_who_asks = knows_who_asks(&config);
        let layout = self.settings.layout.clone();
        let wanted = config.clone();
        let spec = self.spec(&config)?;
        self.add(config, spec)?;
        if is_lazy {
            let tools = self.tasks.block(move || read(&layout, &wanted)).await;
            if let Ok(Some(tools)) = tools
                && may_be_shown(&tools, knows_who_asks)
            {
                self.remember(id, tools);
            }
        }
        Ok(())
    }

    fn remember(self: &Arc<Self>, id: ServerId, tools: ToolList) {
        self.act(|core, now| core.supervisor.remember(id, Arc::new(tools), now));
    }

    /// Keeps the tools of a server. If that fails, they are listed the next time.
    pub(super) async fn keep_tools(&self, target: &Target, tools: &Arc<ToolList>) {
        let (layout, config, tools) = (self.settings.layout.clone(), Arc::clone(&target.config), Arc::clone(tools));
        let _ = self.tasks.block(move || write(&layout, &config, &tools)).await;
    }
}

/// Whether the server is told who asks, and may show other tools to others.
fn knows_who_asks(config: &McpConfig) -> bool {
    config.package.package_type == McpPackageType::Http && !config.headers.is_empty()
}

/// Whether a list from disk may be shown: it is not known here as whom the server was asked the last time, and what is private
/// "MUST NOT be shared across authorization contexts".
fn may_be_shown(tools: &ToolList, knows_who_asks: bool) -> bool {
    tools.hints().is_public || !knows_who_asks
}

fn write(layout: &Layout, config: &McpConfig, tools: &ToolList) -> io::Result<()> {
    let path = layout.catalog(config.id);
    if let Some(directory) = path.parent() {
        SystemFs.create_directory(directory)?;
    }
    let kept = Written { config_hash: config.hash(), is_public: tools.hints().is_public, tools: &tools.listed().items };
    replace(&SystemFs, &path, &serde_json::to_vec(&kept)?, None)
}

/// The tools that the server had when it was last asked, if it is configured as it was then.
pub(super) fn read(layout: &Layout, config: &McpConfig) -> Option<ToolList> {
    let bytes = std::fs::read(layout.catalog(config.id)).ok()?;
    let kept: Read = serde_json::from_slice(&bytes).ok()?;
    if kept.config_hash != config.hash() {
        return None;
    }
    let mut tools = ToolList::default();
    tools.replace(ItemList { items: kept.tools, ..ItemList::default() });
    let mut hints = CacheHints::default();
    hints.is_public = kept.is_public;
    tools.set_hints(hints);
    Some(tools)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::EnvVarConfig;

    #[test]
    fn a_private_list_of_a_server_that_knows_who_asks_is_not_shown_from_disk() {
        let directory = tempfile::tempdir().unwrap();
        let layout = Layout::below(directory.path());
        let open = McpConfig::http("open", "https://example.com/mcp");
        let guarded = open.clone().header(EnvVarConfig::value("Authorization", "Bearer x"));
        for (config, is_public, shown) in
            [(&open, false, true), (&open, true, true), (&guarded, false, false), (&guarded, true, true)]
        {
            let mut list = ToolList::default();
            let mut hints = CacheHints::default();
            hints.is_public = is_public;
            list.set_hints(hints);
            write(&layout, config, &list).unwrap();
            let kept = read(&layout, config).expect("it is there");
            assert_eq!(may_be_shown(&kept, knows_who_asks(config)), shown, "{} {is_public}", config.name);
        }
    }
}
