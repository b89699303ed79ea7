//! `mcpwire prompts` and `mcpwire prompt`: what the server has to say to a language model.

use std::path::Path;

use mcpwire_blocking::McpClient;
use mcpwire_blocking::protocol::{GetPromptParams, GetPromptResult, Json, Prompt};
use serde::Serialize;

use super::tell_saved;
use super::tools::Reject;
use crate::failure::Failure;
use crate::output;
use crate::save::Save;
use crate::session::Session;
use crate::show::{self, Layout};

pub(super) fn list(session: &mut Session<'_>) -> Result<u8, Failure> {
    session.open()?;
    let prompts = session.request(McpClient::list_prompts)?;
    if session.options.json {
        output::json(&List { prompts: &prompts.items, rejected: prompts.rejected.iter().map(Reject::of).collect() })?;
    } else {
        let layout = Layout::of_stdout();
        output::page(|out| {
            show::prompts(out, &prompts.items, layout)?;
            show::rejected(out, &prompts.rejected)
        })?;
    }
    Ok(0)
}

pub(super) fn get(session: &mut Session<'_>, name: &str, arguments: &Json, save: Option<&Path>) -> Result<u8, Failure> {
    session.open()?;
    let keep = |result: &GetPromptResult| match save {
        Some(directory) => Save::to(directory).blocks(result.messages.items.iter().map(|message| &message.content)),
        None => Ok(Vec::new()),
    };
    let saved = if session.options.json {
        let params = Json::from_value(&GetPromptParams { name, arguments }).ok();
        let result = session.request(|client| client.request_raw("prompts/get", params.as_ref()))?;
        let saved = result.decode().map_or(Ok(Vec::new()), |prompt| keep(&prompt))?;
        output::raw(&result)?;
        saved
    } else {
        let result = session.request(|client| client.get_prompt(name, arguments))?;
        let saved = keep(&result)?;
        output::page(|out| show::messages(out, &result))?;
        saved
    };
    tell_saved(session, &saved)?;
    Ok(0)
}

#[derive(Serialize)]
struct List<'a> {
    prompts: &'a [Prompt],
    rejected: Vec<Reject<'a>>,
}
