//! `mcpwire prompts` and `mcpwire prompt`: lists a server's prompts, and gets one.

use std::path::Path;

use mcpwire_blocking::McpClient;
use mcpwire_blocking::protocol::{GetPromptParams, GetPromptResult, Json, Prompt};
use serde::Serialize;

use super::report::{Rejected, tell_saved};
use crate::console::output;
use crate::failure::Failure;
use crate::save;
use crate::session::Direct;
use crate::show::{self, Layout};

pub(super) fn list(session: &mut Direct<'_>) -> Result<u8, Failure> {
    let prompts = session.request(McpClient::list_prompts)?;
    if session.options.json {
        output::json(&List { prompts: &prompts.items, rejected: Rejected::all(&prompts.rejected) })?;
    } else {
        let layout = Layout::of_stdout();
        output::page(|out| {
            show::prompts(out, &prompts.items, layout)?;
            show::rejected(out, &prompts.rejected)
        })?;
    }
    Ok(0)
}

pub(super) fn get(
    session: &mut Direct<'_>,
    name: &str,
    arguments: &Json,
    directory: Option<&Path>,
) -> Result<u8, Failure> {
    let params = Json::from_value(&GetPromptParams { name, arguments }).ok();
    let raw = session.request(|client| client.request_raw("prompts/get", params.as_ref()))?;
    let prompt: GetPromptResult =
        raw.decode().map_err(|error| Failure::unreadable("the prompt", &error.to_string()))?;
    if session.options.json {
        output::raw(&raw)?;
    } else {
        output::page(|out| show::messages(out, &prompt))?;
    }
    let saves = save::blocks(directory, prompt.messages.items.iter().map(|message| &message.content));
    tell_saved(saves, &session.console, session.options)?;
    Ok(0)
}

#[derive(Serialize)]
struct List<'a> {
    prompts: &'a [Prompt],
    rejected: Vec<Rejected<'a>>,
}
