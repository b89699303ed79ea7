//! `mcpwire resources` and `mcpwire read`: what the server has to read.

use std::path::Path;

use mcpwire_blocking::McpClient;
use mcpwire_blocking::protocol::{
    InvalidItem, Json, ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate,
};
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
    let resources = session.request(McpClient::list_resources)?;
    // Many servers have resources and no templates, and say that they do not know the method.
    let templates = session.request(McpClient::list_resource_templates).unwrap_or_default();
    let rejected: Vec<InvalidItem> = resources.rejected.into_iter().chain(templates.rejected).collect();
    if session.options.json {
        output::json(&List {
            resources: &resources.items,
            resource_templates: &templates.items,
            rejected: rejected.iter().map(Reject::of).collect(),
        })?;
    } else {
        let layout = Layout::of_stdout();
        output::page(|out| {
            show::resources(out, &resources.items, &templates.items, layout)?;
            show::rejected(out, &rejected)
        })?;
    }
    Ok(0)
}

pub(super) fn read(session: &mut Session<'_>, uri: &str, save: Option<&Path>) -> Result<u8, Failure> {
    session.open()?;
    let keep = |result: &ReadResourceResult| match save {
        Some(directory) => Save::to(directory).contents(&result.contents.items),
        None => Ok(Vec::new()),
    };
    let saved = if session.options.json {
        let params = Json::from_value(&ReadResourceParams { uri }).ok();
        let result = session.request(|client| client.request_raw("resources/read", params.as_ref()))?;
        let saved = result.decode().map_or(Ok(Vec::new()), |read| keep(&read))?;
        output::raw(&result)?;
        saved
    } else {
        let result = session.request(|client| client.read_resource(uri))?;
        let saved = keep(&result)?;
        output::page(|out| show::contents(out, &result.contents.items))?;
        saved
    };
    tell_saved(session, &saved)?;
    Ok(0)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    resources: &'a [Resource],
    resource_templates: &'a [ResourceTemplate],
    rejected: Vec<Reject<'a>>,
}
