//! `mcpwire prompts` and `mcpwire prompt`: what the server has to say to a language model.

use mcpwire_blocking::McpClient;
use mcpwire_blocking::core::{GetPromptParams, Json, Prompt};
use serde::Serialize;

use super::tools::Reject;
use crate::failure::Failure;
use crate::output;
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

pub(super) fn get(session: &mut Session<'_>, name: &str, arguments: &Json) -> Result<u8, Failure> {
    session.open()?;
    if session.options.json {
        let params = Json::from_value(&GetPromptParams { name, arguments }).ok();
        let result = session.request(|client| client.send_raw("prompts/get", params.as_ref()))?;
        output::raw(&result)?;
    } else {
        let result = session.request(|client| client.get_prompt(name, arguments))?;
        output::page(|out| show::messages(out, &result))?;
    }
    Ok(0)
}

#[derive(Serialize)]
struct List<'a> {
    prompts: &'a [Prompt],
    rejected: Vec<Reject<'a>>,
}
