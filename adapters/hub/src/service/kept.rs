//! The tools that servers had, on disk: those of a server that is started only when it is called are known from there, and
//! what a server says of its tools now is compared with them.

use std::io;
use std::sync::Arc;

use mcpwire_core::supervisor::ServerId;
use mcpwire_core::{Listed, Tool, ToolList};
use serde::{Deserialize, Serialize};

use super::effects::Target;
use super::shared::Shared;
use super::snapshot::server_id;
use crate::ErrorContract;
use crate::config::McpConfig;
use crate::disk::{Fs as _, SystemFs, replace};
use crate::layout::Layout;

#[derive(Serialize)]
struct Written<'a> {
    config_hash: String,
    tools: &'a [Tool],
}

#[derive(Deserialize)]
struct Read {
    config_hash: String,
    tools: Vec<Tool>,
}

impl Shared {
    /// Takes in a server from the file, with the tools that it had.
    pub(super) async fn adopt(self: &Arc<Self>, config: McpConfig) -> Result<(), ErrorContract> {
        config.validate()?;
        let id = server_id(config.id);
        let is_lazy = config.lazy || config.idle.is_some();
        let layout = self.settings.layout.clone();
        let wanted = config.clone();
        self.add(config)?;
        if is_lazy {
            let tools = self.tasks.block(move || read(&layout, &wanted)).await;
            if let Ok(Some(tools)) = tools {
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

fn write(layout: &Layout, config: &McpConfig, tools: &ToolList) -> io::Result<()> {
    let path = layout.catalog(config.id);
    if let Some(directory) = path.parent() {
        SystemFs.create_directory(directory)?;
    }
    let kept = Written { config_hash: config.hash(), tools: &tools.listed().items };
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
    tools.replace(Listed { items: kept.tools, ..Listed::default() });
    Some(tools)
}
