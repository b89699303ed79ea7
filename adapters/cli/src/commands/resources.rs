//! `mcpwire resources` and `mcpwire read`: lists a server's resources, and reads one.

use std::io::{self, IsTerminal as _};
use std::path::Path;

use mcpwire_blocking::McpClient;
use mcpwire_blocking::protocol::{
    InvalidItem, Json, ReadResourceParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde::Serialize;

use super::report::{Rejected, tell_saved};
use crate::console::output;
use crate::failure::Failure;
use crate::save;
use crate::session::Direct;
use crate::show::{self, Layout};

pub(super) fn list(session: &mut Direct<'_>) -> Result<u8, Failure> {
    let resources = session.request(McpClient::list_resources)?;
    // Many servers have resources but no templates, and answer `resources/templates/list` with "method not found".
    let templates = session.request(McpClient::list_resource_templates).unwrap_or_default();
    let rejected: Vec<InvalidItem> = resources.rejected.into_iter().chain(templates.rejected).collect();
    if session.options.json {
        output::json(&List {
            resources: &resources.items,
            resource_templates: &templates.items,
            rejected: Rejected::all(&rejected),
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

pub(super) fn read(session: &mut Direct<'_>, uri: &str, directory: Option<&Path>) -> Result<u8, Failure> {
    let params = Json::from_value(&ReadResourceParams { uri }).ok();
    let raw = session.request(|client| client.request_raw("resources/read", params.as_ref()))?;
    let result: ReadResourceResult =
        raw.decode().map_err(|error| Failure::unreadable("the resource", &error.to_string()))?;
    let contents = &result.contents.items;
    if session.options.json {
        output::raw(&raw)?;
    } else if let Some(bytes) = binary(contents).filter(|_| directory.is_none() && !io::stdout().is_terminal()) {
        output::bytes(&bytes)?;
    } else {
        output::page(|out| show::contents(out, contents))?;
        if directory.is_none() && contents.iter().any(|contents| contents.blob.is_some()) {
            session.console.note("binary content is not shown: save it with --save DIR, or redirect stdout to a file");
        }
    }
    tell_saved(save::contents(directory, contents), &session.console, session.options)?;
    Ok(0)
}

/// Returns the bytes of a resource that has exactly one content, if this content is binary. Returns `None` otherwise.
fn binary(contents: &[ResourceContents]) -> Option<Vec<u8>> {
    match contents {
        [contents] if contents.blob.is_some() => contents.bytes().ok(),
        _ => None,
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct List<'a> {
    resources: &'a [Resource],
    resource_templates: &'a [ResourceTemplate],
    rejected: Vec<Rejected<'a>>,
}
