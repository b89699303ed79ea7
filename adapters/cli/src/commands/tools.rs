//! `mcpwire tools`, `mcpwire call` and `mcpwire task`: lists tools, calls a tool, and inspects or cancels the task of a call.

use std::path::Path;

use clap::ValueEnum as _;
use mcpwire_hub::Uuid;
use mcpwire_hub::service::AvailableTools;
use mcpwire_tokio::protocol::{CallToolResult, Json, JsonError, Task, TaskHandle, TaskProtocol, Tool};
use serde::Serialize;

use crate::args::{Options, Target, TaskAction, ToolsView};
use crate::arguments::{self, Arguments};
use crate::console::{Prompt, is_at_terminal, output};
use crate::failure::{Failure, TOOL_ERROR};
use crate::form::ask_for_arguments;
use crate::hub::{CallMode, Called};
use crate::save;
use crate::schema::{Node, Parameters};
use crate::session::{self, ListedTools, Server};
use crate::show::{self, Layout};
use crate::text;

/// Maximum number of tools that `mcpwire tools --search` shows.
const MOST_FOUND: usize = 20;

/// Lists tools, one line each, or shows one tool in full.
pub(super) fn list(
    server: &mut dyn Server,
    only: Option<&String>,
    view: &ToolsView,
    options: &Options,
) -> Result<(), Failure> {
    if let Some(name) = only
        && let Some(tool) = server.find_tool(name)?
    {
        return show_tools(&ListedTools { tools: vec![tool], rejected: Vec::new() }, true, view, options);
    }
    if only.is_none() && !options.json && view.search.is_none() && !view.cost {
        return server.list_tools_each(&mut |listed| show_tools(&listed, false, view, options));
    }
    let ListedTools { mut tools, mut rejected } = server.list_tools()?;
    if let Some(name) = only {
        let tool = named(&tools, name, server.name())?;
        (tools, rejected) = (vec![tool.clone()], Vec::new());
    }
    if let Some(words) = &view.search {
        let all = AvailableTools::from_servers([(Uuid::nil(), "", tools)]);
        tools = all.search(words, MOST_FOUND).into_iter().map(|found| found.tool).collect();
    }
    show_tools(&ListedTools { tools, rejected }, only.is_some(), view, options)
}

/// Prints tools, one line each, or in full.
fn show_tools(listed: &ListedTools, in_full: bool, view: &ToolsView, options: &Options) -> Result<(), Failure> {
    let ListedTools { tools, rejected } = listed;
    output::show(options, listed, |out| {
        let layout = Layout::of_stdout();
        match view {
            ToolsView { schema: true, .. } => show::tool_schemas(out, tools),
            ToolsView { cost: true, .. } => show::tool_costs(out, tools),
            _ => show::tools(out, tools, rejected, in_full || view.long, layout),
        }
    })
}

/// Returns the tool of this name. The name of a tool of a configured server may be given without the prefix of the server.
fn named<'t>(tools: &'t [Tool], name: &str, server: Option<&str>) -> Result<&'t Tool, Failure> {
    let short = |tool: &'t Tool| tool.name.split_once("__").map_or(&*tool.name, |(_, short)| short);
    let found = tools.iter().find(|tool| tool.name == name).or_else(|| tools.iter().find(|tool| short(tool) == name));
    let shown = |tool| if server.is_some() { short(tool) } else { &*tool.name };
    found.ok_or_else(|| Failure::no_tool(server, name).with_hint(session::suggestion(name, tools.iter().map(shown))))
}

/// A call of a tool, as the command line gives it.
pub(super) struct Call<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: Arguments,
    pub(super) mode: CallMode,
    /// Whether the arguments are checked against the schema of the tool before the call.
    pub(super) is_checked: bool,
    /// Whether to ask the user for the arguments.
    pub(super) asks: bool,
    /// Where to save binary content.
    pub(super) directory: Option<&'a Path>,
    pub(super) target: &'a Target,
}

impl Call<'_> {
    /// Returns the arguments as JSON: as the schema of the tool says, and checked against it. If the tool is not in the list of the
    /// server, the arguments are not checked, and the call tells what is wrong.
    fn object(&self, server: &mut dyn Server) -> Result<Json, Failure> {
        if self.asks && !is_at_terminal() {
            return Err(Failure::usage("ask", "--ask needs a terminal: give the arguments as words or as JSON"));
        }
        if !self.is_checked && !self.asks && self.arguments.is_object() {
            return self.arguments.to_object(None);
        }
        let tool = server.find_tool(self.tool)?;
        let root = tool.as_ref().and_then(|tool| Node::of_schema(tool.input_schema.get()));
        let (Some(tool), Some(root)) = (tool, root) else { return self.arguments.to_object(None) };
        let parameters = Parameters::new(&root);
        let usage =
            |given: Option<&Json>| arguments::usage(&tool, &parameters, given, &self.called(), &self.target.to_words());
        let object = self.arguments.to_object(Some(&parameters)).map_err(|failure| failure.with_hint(usage(None)))?;
        if self.asks {
            return ask_for_arguments(&mut Prompt, &tool, &parameters, &object);
        }
        if self.is_checked {
            let wrong = |problem: String| {
                let failure = Failure::usage("arguments", format!("{}: {problem}", text::name(self.tool)));
                failure.with_hint(format!("{}\n\nTo send the arguments all the same: --no-check", usage(Some(&object))))
            };
            arguments::check(&tool, &parameters, &object).map_err(wrong)?;
        }
        Ok(object)
    }

    /// Returns the words that name the tool on the command line.
    fn called(&self) -> String {
        let tool = text::word(self.tool);
        self.target.server.as_ref().map_or(tool.clone(), |server| format!("{} {tool}", text::word(server)))
    }
}

/// Calls a tool and prints the result.
pub(super) fn call(server: &mut dyn Server, call: &Call<'_>, options: &Options) -> Result<u8, Failure> {
    let arguments = call.object(server)?;
    let called = server.call(call.tool, &arguments, call.mode)?;
    show_call(call.tool, called, call.directory, server, options)
}

/// Returns the action that a word of `mcpwire task` names.
pub(super) fn task_action(word: &str) -> Result<TaskAction, Failure> {
    TaskAction::from_str(word, true)
        .map_err(|_| Failure::usage("action", format!("use get, result or cancel, not `{}`", text::short(word, 40))))
}

/// Prints the result of a tool call, and saves its binary content in `directory`, if it is given. Prints the handle of a task that
/// runs the call instead.
fn show_call(
    tool: &str,
    called: Called,
    directory: Option<&Path>,
    server: &dyn Server,
    options: &Options,
) -> Result<u8, Failure> {
    let raw = match called {
        Called::Task(handle) => return output::json(&handle).map(|()| 0),
        Called::Result(raw) => raw,
    };
    let result: CallToolResult = raw
        .decode()
        .map_err(|error| Failure::unreadable(&format!("the result of `{}`", text::line(tool)), &error.to_string()))?;
    // The tool has run, so its result is shown even if saving files fails.
    output::show(options, &raw, |out| show::result(out, &result))?;
    let saved = output::tell_saved(save::blocks(directory, &result.content), server.console(), options);
    // With `--json`, the result itself says so.
    if result.is_error && !options.json {
        Failure::tool_error(server.name(), tool).report(false);
    }
    saved?;
    Ok(if result.is_error { TOOL_ERROR } else { 0 })
}

/// Returns the handle of a task. `meant` is the id of the task, or the JSON that `mcpwire call --task --detach` printed, or
/// `@FILE` or `-` to read that JSON.
pub(super) fn task_handle(meant: &str) -> Result<TaskHandle, Failure> {
    if !meant.starts_with(['{', '@']) && meant != "-" {
        return Ok(TaskHandle::new(meant, TaskProtocol::Extension));
    }
    let stored = arguments::read_object("the task", meant)?;
    stored.decode().map_err(|error| Failure::usage("TASK", format!("TASK is not the handle of a task: {error}; give the id of the task, or the JSON that `mcpwire call --task --detach` printed")))
}

/// Shows the status of a task, waits for its result, or cancels the task.
pub(super) fn task(
    server: &mut dyn Server,
    action: TaskAction,
    handle: &TaskHandle,
    options: &Options,
) -> Result<u8, Failure> {
    let answer = server.task(action, handle)?;
    let unreadable = |error: JsonError| Failure::unreadable("the answer about the task", &error.to_string());
    match action {
        TaskAction::Get => {
            let task: Task = answer.decode().map_err(unreadable)?;
            output::show(options, &task, |out| show::task(out, &task, Layout::of_stdout()))?;
            Ok(0)
        }
        TaskAction::Result => {
            let result: CallToolResult = answer.decode().map_err(unreadable)?;
            output::show(options, &result, |out| show::result(out, &result))?;
            Ok(if result.is_error { TOOL_ERROR } else { 0 })
        }
        TaskAction::Cancel => {
            if options.json {
                output::json(&Cancelled { task_id: &handle.task_id })?;
            } else {
                let id = text::line(&handle.task_id);
                server.console().note(&format!("{id}: the server was asked to cancel the task"));
            }
            Ok(0)
        }
    }
}

/// The JSON document that `mcpwire task cancel --json` prints.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled<'a> {
    task_id: &'a str,
}
