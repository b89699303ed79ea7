//! `mcpwire info`: shows a server's name, version and capabilities.

use mcpwire_blocking::protocol::{Implementation, ServerCapabilities, ServerInfo};
use serde::Serialize;

use crate::console::output;
use crate::failure::Failure;
use crate::session::Direct;
use crate::show::{self, Layout};

pub(super) fn run(session: &Direct<'_>, info: &ServerInfo) -> Result<u8, Failure> {
    if session.options.json {
        output::json(&Introduction::of(info))?;
    } else {
        output::page(|out| show::server(out, info, Layout::of_stdout()))?;
    }
    Ok(0)
}

/// The JSON document that `mcpwire info --json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Introduction<'a> {
    era: String,
    protocol_version: &'a str,
    server_info: Option<&'a Implementation>,
    capabilities: Option<&'a ServerCapabilities>,
    instructions: Option<&'a str>,
}

impl<'a> Introduction<'a> {
    pub(super) fn of(info: &'a ServerInfo) -> Self {
        Self {
            era: info.era.to_string(),
            protocol_version: info.protocol_version.as_str(),
            server_info: info.implementation.as_ref(),
            capabilities: info.capabilities.as_ref(),
            instructions: info.instructions.as_deref(),
        }
    }
}
