//! The commands for one server beside its tools: `mcpwire info`, `ping`, `resources`, `read`, `prompts`, `prompt` and `complete`.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::time::Instant;

use clap::ValueEnum as _;
use mcpwire_tokio::protocol::{
    CompleteParams, CompletionReference, GetPromptParams, GetPromptResult, InvalidItem, Json, Prompt,
    ReadResourceParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, ServerCapabilities, Tool,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::args::{Completed, Options, Target};
use crate::arguments;
use crate::console::output;
use crate::failure::Failure;
use crate::save;
use crate::schema::{Node, Parameters};
use crate::session::Server;
use crate::show::{self, Layout};
use crate::text;

/// Shows who a server is, what it offers in a line each, and commands to go on with. `target` selects the server.
pub(super) fn info(server: &mut dyn Server, target: &Target, options: &Options) -> Result<(), Failure> {
    let info = server.info()?;
    if options.json {
        return output::json(&info);
    }
    // A server without capabilities may offer everything.
    let offers = |is_offered: fn(&ServerCapabilities) -> bool| info.capabilities.as_ref().is_none_or(is_offered);
    let tools = if offers(|offered| offered.tools.is_some()) {
        server.list_tools().map(|listed| listed.tools).unwrap_or_default()
    } else {
        Vec::new()
    };
    let resources = if offers(|offered| offered.resources.is_some()) {
        server.list_resources().map(|list| list.items).unwrap_or_default()
    } else {
        Vec::new()
    };
    let prompts = if offers(|offered| offered.prompts.is_some()) {
        server.list_prompts().map(|list| list.items).unwrap_or_default()
    } else {
        Vec::new()
    };
    output::page(|out| {
        let layout = Layout::of_stdout();
        show::server(out, &info, layout)?;
        if !tools.is_empty() {
            writeln!(out, "\n{}:", text::counted(tools.len(), "tool"))?;
            show::tools(out, &tools[..tools.len().min(MOST_LINES)], &[], false, layout)?;
        }
        if tools.len() > MOST_LINES {
            writeln!(out, "... and {} more", tools.len() - MOST_LINES)?;
        }
        if !resources.is_empty() {
            writeln!(out, "\n{}", text::counted(resources.len(), "resource"))?;
        }
        if !prompts.is_empty() {
            let names: Vec<String> = prompts.iter().take(MOST_LINES).map(|prompt| text::name(&prompt.name)).collect();
            writeln!(out, "\n{}: {}", text::counted(prompts.len(), "prompt"), names.join(", "))?;
        }
        let mut next = Vec::new();
        if let Some(tool) = tools.first() {
            let name = text::word(tool.name.split_once("__").map_or(tool.name.as_str(), |(_, name)| name));
            next.push(target.command("tools", &name));
            next.push(example_call(tool, &name, target));
        }
        if !resources.is_empty() {
            next.push(target.command("resources", ""));
        }
        if !prompts.is_empty() {
            next.push(target.command("prompts", ""));
        }
        if next.is_empty() { Ok(()) } else { writeln!(out, "\nNext:\n  {}", next.join("\n  ")) }
    })
}

/// Returns a command line that calls a tool. `name` is its name as a word.
fn example_call(tool: &Tool, name: &str, target: &Target) -> String {
    let Some(root) = Node::of_schema(tool.input_schema.get()) else { return target.command("call", name) };
    let called = target.server.as_ref().map_or(name.to_owned(), |server| format!("{} {name}", text::word(server)));
    let usage = arguments::usage(tool, &Parameters::new(&root), None, &called, &target.to_words());
    usage.lines().last().unwrap_or_default().trim_start().to_owned()
}

/// Maximum number of tools and prompts that `mcpwire info` lists.
const MOST_LINES: usize = 40;

/// Measures how long a server takes to answer a ping, and prints the time.
pub(super) fn ping(server: &mut dyn Server, options: &Options) -> Result<(), Failure> {
    let asked = Instant::now();
    server.ping()?;
    let milliseconds = asked.elapsed().as_secs_f64() * 1000.0;
    let pong = json!({ "milliseconds": milliseconds });
    output::show(options, &pong, |out| writeln!(out, "The server answered in {milliseconds:.1} ms."))
}

/// Lists the resources and the resource templates of a server.
pub(super) fn resources(server: &mut dyn Server, options: &Options) -> Result<(), Failure> {
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
    })
}

/// Reads a resource and prints it. Writes a single binary content unchanged if standard output is not a terminal. Saves binary
/// contents in `directory`, if it is given.
pub(super) fn read(
    server: &mut dyn Server,
    uri: &str,
    directory: Option<&Path>,
    options: &Options,
) -> Result<(), Failure> {
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
    output::tell_saved(save::contents(directory, contents), server.console(), options)
}

/// Decodes a resource that consists of a single binary content. Returns `None` for other resources, and for invalid base64.
fn binary(contents: &[ResourceContents]) -> Option<Vec<u8>> {
    match contents {
        [contents] if contents.blob.is_some() => contents.bytes().ok(),
        _ => None,
    }
}

/// Lists the prompts of a server.
pub(super) fn prompts(server: &mut dyn Server, options: &Options) -> Result<(), Failure> {
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
    })
}

/// Gets a prompt with its arguments filled in, and prints its messages. Saves binary content in `directory`, if it is given.
pub(super) fn prompt(
    server: &mut dyn Server,
    name: &str,
    arguments: &Json,
    directory: Option<&Path>,
    options: &Options,
) -> Result<(), Failure> {
    let params = GetPromptParams { name, arguments };
    let (raw, prompt): (_, GetPromptResult) = request(server, "prompts/get", &params, "the prompt")?;
    output::show(options, &raw, |out| show::messages(out, &prompt))?;
    let saves = save::blocks(directory, prompt.messages.items.iter().map(|message| &message.content));
    output::tell_saved(saves, server.console(), options)
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
pub(super) fn request_raw(server: &mut dyn Server, method: &str, params: Option<&Json>) -> Result<(), Failure> {
    let result = server.request_raw(method, params)?;
    output::json(&result)
}

/// Returns the kind of item that a word of `mcpwire complete` names.
pub(super) fn completed(word: &str) -> Result<Completed, Failure> {
    Completed::from_str(word, true).map_err(|_| {
        Failure::usage("kind", format!("the kind must be `prompt` or `resource`, not `{}`", text::short(word, 40)))
    })
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
) -> Result<(), Failure> {
    let reference = match kind {
        Completed::Prompt => CompletionReference::Prompt { name },
        Completed::Resource => CompletionReference::ResourceTemplate { uri: name },
    };
    let context: Vec<(&str, &str)> = context.iter().map(|(name, value)| (&**name, &**value)).collect();
    let mut params = CompleteParams::new(reference, argument, prefix);
    params.context = &context;
    let result = server.complete(&params)?;
    output::show(options, &result, |out| show::completion(out, &result.completion))
}
