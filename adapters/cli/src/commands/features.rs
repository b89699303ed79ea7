//! The commands for one server beside its tools: `mcpwire info`, `ping`, `resources`, `read`, `prompts`, `prompt` and `complete`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Instant;

use clap::ValueEnum as _;
use mcpwire_tokio::protocol::{
    CompleteParams, CompletionReference, GetPromptParams, GetPromptResult, InvalidItem, Json, Prompt,
    ReadResourceParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::args::{Completed, Options};
use crate::console::output;
use crate::failure::Failure;
use crate::save;
use crate::session::Server;
use crate::show::{self, Layout};
use crate::text;

pub(super) fn info(server: &mut dyn Server, options: &Options) -> Result<u8, Failure> {
    let info = server.info()?;
    output::show(options, &info, |out| show::server(out, &info, Layout::of_stdout()))?;
    Ok(0)
}

/// Measures how long a server takes to answer a ping, and prints the time.
pub(super) fn ping(server: &mut dyn Server, options: &Options) -> Result<u8, Failure> {
    let asked = Instant::now();
    server.ping()?;
    let milliseconds = asked.elapsed().as_secs_f64() * 1000.0;
    let pong = json!({ "milliseconds": milliseconds });
    output::show(options, &pong, |out| writeln!(out, "The server answered in {milliseconds:.1} ms."))?;
    Ok(0)
}

/// Lists the resources and the resource templates of a server.
pub(super) fn resources(server: &mut dyn Server, options: &Options) -> Result<u8, Failure> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct List<'a> {
        resources: &'a [Resource],
        resource_templates: &'a [ResourceTemplate],
        rejected: &'a [InvalidItem],
    }
    let (resources, templates) = (server.list_resources()?, server.list_resource_templates());
    let rejected: Vec<InvalidItem> = resources.rejected.into_iter().chain(templates.rejected).collect();
    let (resources, templates) = (resources.items, templates.items);
    let list = List { resources: &resources, resource_templates: &templates, rejected: &rejected };
    output::show(options, &list, |out| {
        show::resources(out, &resources, &templates, Layout::of_stdout())?;
        show::rejected(out, &rejected)
    })?;
    Ok(0)
}

/// Reads a resource and prints it. Writes a single binary content unchanged if standard output is not a terminal. Saves binary
/// contents in `directory`, if it is given.
pub(super) fn read(
    server: &mut dyn Server,
    uri: &str,
    directory: Option<&Path>,
    options: &Options,
) -> Result<u8, Failure> {
    let (raw, result): (_, ReadResourceResult) =
        request(server, "resources/read", &ReadResourceParams { uri }, "the resource")?;
    let contents = &result.contents.items;
    if options.json {
        output::json(&raw)?;
    } else if let Some(bytes) = binary(contents).filter(|_| directory.is_none() && !io::stdout().is_terminal()) {
        output::bytes(&bytes)?;
    } else {
        output::page(|out| show::contents(out, contents))?;
        if directory.is_none() && contents.iter().any(|contents| contents.blob.is_some()) {
            server.console().note("binary content is not shown: save it with --save DIR, or redirect stdout to a file");
        }
    }
    output::tell_saved(save::contents(directory, contents), server.console(), options)?;
    Ok(0)
}

/// Decodes a resource that consists of a single binary content. Returns `None` for other resources, and for invalid base64.
fn binary(contents: &[ResourceContents]) -> Option<Vec<u8>> {
    match contents {
        [contents] if contents.blob.is_some() => contents.bytes().ok(),
        _ => None,
    }
}

/// Lists the prompts of a server.
pub(super) fn prompts(server: &mut dyn Server, options: &Options) -> Result<u8, Failure> {
    #[derive(Serialize)]
    struct List<'a> {
        prompts: &'a [Prompt],
        rejected: &'a [InvalidItem],
    }
    let prompts = server.list_prompts()?;
    let list = List { prompts: &prompts.items, rejected: &prompts.rejected };
    output::show(options, &list, |out| {
        show::prompts(out, &prompts.items, Layout::of_stdout())?;
        show::rejected(out, &prompts.rejected)
    })?;
    Ok(0)
}

/// Gets a prompt with its arguments filled in, and prints its messages. Saves binary content in `directory`, if it is given.
pub(super) fn prompt(
    server: &mut dyn Server,
    name: &str,
    arguments: &Json,
    directory: Option<&Path>,
    options: &Options,
) -> Result<u8, Failure> {
    let params = GetPromptParams { name, arguments };
    let (raw, prompt): (_, GetPromptResult) = request(server, "prompts/get", &params, "the prompt")?;
    output::show(options, &raw, |out| show::messages(out, &prompt))?;
    let saves = save::blocks(directory, prompt.messages.items.iter().map(|message| &message.content));
    output::tell_saved(saves, server.console(), options)?;
    Ok(0)
}

/// Sends a request, and returns its result twice: as the JSON that the server sent, and decoded. `what` names the result in
/// errors.
fn request<T: DeserializeOwned>(
    server: &mut dyn Server,
    method: &str,
    params: &impl Serialize,
    what: &str,
) -> Result<(Json, T), Failure> {
    let params = Json::from_value(params).ok();
    let raw = server.request_raw(method, params.as_ref())?;
    let result = raw.decode().map_err(|error| Failure::unreadable(what, &error.to_string()))?;
    Ok((raw, result))
}

/// Sends any request, and prints its result as JSON.
pub(super) fn request_raw(server: &mut dyn Server, method: &str, params: Option<&Json>) -> Result<u8, Failure> {
    let result = server.request_raw(method, params)?;
    output::json(&result).map(|()| 0)
}

/// Returns the kind of item that a word of `mcpwire complete` names.
pub(super) fn completed(word: &str) -> Result<Completed, Failure> {
    Completed::from_str(word, true)
        .map_err(|_| Failure::usage("kind", format!("`{}` is neither prompt nor resource", text::short(word, 40))))
}

/// Prints completions for an argument of a prompt or resource template. `context` has the known values of other arguments.
pub(super) fn complete(
    server: &mut dyn Server,
    kind: Completed,
    name: &str,
    argument: &str,
    prefix: &str,
    context: &[(String, String)],
    options: &Options,
) -> Result<u8, Failure> {
    let reference = match kind {
        Completed::Prompt => CompletionReference::Prompt { name },
        Completed::Resource => CompletionReference::ResourceTemplate { uri: name },
    };
    let context: Vec<(&str, &str)> = context.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut params = CompleteParams::new(reference, argument, prefix);
    params.context = &context;
    let result = server.complete(&params)?;
    output::show(options, &result, |out| show::completion(out, &result.completion))?;
    Ok(0)
}
