//! [`Configured`]: a session with the configured servers, in the running hub or in a hub in this process.

use std::sync::Arc;

use mcpwire_hub::service::StatusDetail;
use mcpwire_hub::{ErrorKind, McpService};
use mcpwire_tokio::ConnectOptions;
use mcpwire_tokio::protocol::{
    CompleteParams, CompleteResult, ItemList, Json, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, Prompt, Resource, ResourceTemplate, ServerCapabilities, ServerInfo,
    TaskHandle, Tool,
};
use serde::de::DeserializeOwned;
use serde_json::json;

use super::definition::{OF_CONFIGURED, reject_process_options};
use super::requests::Handlers;
use super::{ListedTools, Server};
use crate::args::{Options, Target, TaskAction};
use crate::console::Console;
use crate::failure::{Failure, hub_message};
use crate::hub::{
    AddHandlers, Answerer, Asked, CallMode, Called, HubHandle, OnNotice, Request, Row, changed_tool, decoded,
    exposed_tools, find_in, lacks_tools, not_started, refusal, still_starting, unknown_tool,
};
use crate::text;

/// Maximum number of pages of a list to request.
const MOST_PAGES: usize = 1_000;

/// A session with all configured servers, or only with the server of `--server`. The servers run in a hub.
pub(crate) struct Configured<'a> {
    pub(crate) handle: HubHandle,
    server: Option<String>,
    options: &'a Options,
    /// Whether the servers that the command needs were started.
    is_started: bool,
    /// Whether the user was told that the tools of a server are not listed.
    lacks_servers: bool,
}

impl<'a> Configured<'a> {
    pub(crate) fn open(target: &Target, options: &'a Options) -> Result<Self, Failure> {
        if target.http.account.is_some() {
            return Err(Failure::usage(
                "account",
                "--account is for one server: name it before the tool, or use --url",
            ));
        }
        let console = Console::new(options);
        reject_process_options(options, OF_CONFIGURED)?;
        if options.trace.is_some() {
            console.note("warning: --trace has no effect on a call through a hub");
        }
        let handlers = Arc::new(Handlers::new(options)?);
        let (in_process, shown) = (Arc::clone(&handlers), console.clone());
        let add_handlers = move |server: &str, connect: ConnectOptions| in_process.declare(connect, server, &shown);
        let shown = console.clone();
        let answerer = move |asked: &Asked| handlers.answer(asked, &shown);
        let (add_handlers, answerer) =
            (Some(Box::new(add_handlers) as AddHandlers), Some(Box::new(answerer) as Answerer));
        let handle = HubHandle::open_with(&target.place, options, console, add_handlers, answerer)?;
        Ok(Self { handle, server: target.server.clone(), options, is_started: false, lacks_servers: false })
    }

    /// Starts the server that the command line selects, and returns its name.
    fn started(&mut self) -> Result<String, Failure> {
        let name = self.server.clone().ok_or_else(Failure::no_server)?;
        self.start_servers(None)?;
        Ok(name)
    }

    /// Returns an error if the server does not declare the capability that a list belongs to, such as `resources`.
    fn check_offers(
        &mut self,
        capability: &str,
        is_offered: impl Fn(&ServerCapabilities) -> bool,
    ) -> Result<(), Failure> {
        let info = self.info()?;
        if info.capabilities.is_none_or(|offered| is_offered(&offered)) {
            Ok(())
        } else {
            let server = self.started()?;
            Err(Failure::not_offered(&server, capability, &format!("mcpwire info {}", text::word(&server))))
        }
    }

    /// Requests all pages of a list. Ends at a page whose cursor is that of the page before.
    fn pages<P: DeserializeOwned, T>(
        &mut self,
        method: &str,
        parts: impl Fn(P) -> (ItemList<T>, Option<String>),
    ) -> Result<ItemList<T>, Failure> {
        let mut list = ItemList { items: Vec::new(), rejected: Vec::new(), ..ItemList::default() };
        let mut cursor: Option<String> = None;
        for _ in 0..MOST_PAGES {
            let params = cursor.as_ref().and_then(|cursor| Json::from_value(&json!({ "cursor": cursor })).ok());
            let page = self.request_raw(method, params.as_ref())?;
            let page = page
                .decode()
                .map_err(|error| Failure::unreadable(&format!("the result of `{method}`"), &error.to_string()))?;
            let (page, next) = parts(page);
            list.items.extend(page.items);
            list.rejected.extend(page.rejected);
            if next.is_none() || next == cursor {
                break;
            }
            cursor = next;
        }
        Ok(list)
    }

    /// Starts the servers that the command needs, once: the server of `--server`, or else the server that has `tool`, or else all
    /// enabled servers.
    ///
    /// Does nothing if the command uses the running hub, because that hub has started its servers.
    fn start_servers(&mut self, tool: Option<&str>) -> Result<(), Failure> {
        let Some(hub) = self.handle.own_hub().filter(|_| !self.is_started) else { return Ok(()) };
        self.is_started = true;
        let console = &self.handle.console;
        if hub.list().is_empty() {
            let failure = Failure::no_server();
            return Err(failure.with_hint("Or add a server: mcpwire server add --help, mcpwire server import --help"));
        }
        let only = match (&self.server, tool) {
            (Some(server), _) => Some(find_in(hub.list(), server)?),
            (None, Some(tool)) => {
                let server = hub.find_tool_server(tool).and_then(|id| hub.get(id));
                if server.is_none() && tool.contains("__") {
                    return Err(Failure::from_hub_request(unknown_tool(hub, None, tool)));
                }
                server
            }
            (None, None) => None,
        };
        if let Some(config) = only {
            console.start(&format!("starting {}", config.name.trim()));
            let started = self.handle.wait(hub.start(config.id));
            console.finish();
            started.map_err(|error| not_started(config.name.trim(), &error))?;
        } else {
            let mut lacks_servers = false;
            self.handle.boot_with(&mut |detail| lacks_servers |= warn_of_failure(console, &detail))?;
            self.lacks_servers = lacks_servers;
        }
        warn_of_changes(console, &hub.details());
        Ok(())
    }

    /// Warns of each enabled server of the running hub that does not run, because its tools are not listed.
    fn warn_of_absent(&mut self, rows: Vec<Row>) {
        for detail in rows.into_iter().map(|row| row.detail).filter(|detail| lacks_tools(detail) && detail.enabled) {
            let why = refusal(&detail).or_else(|| still_starting(&detail)).map(|error| hub_message(&error));
            let why = why.unwrap_or_else(|| format!("server `{}` is {}", detail.name, detail.state));
            self.handle.console.warn(&format!("warning: not listed: {why}"));
            self.lacks_servers = true;
        }
    }
}

impl Server for Configured<'_> {
    fn console(&self) -> &Console {
        &self.handle.console
    }

    fn name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    fn lacks_servers(&self) -> bool {
        self.lacks_servers
    }

    fn list_tools_each(&mut self, show: &mut dyn FnMut(ListedTools) -> Result<(), Failure>) -> Result<(), Failure> {
        let starts_all = self.server.is_none() && !self.is_started;
        let Some(hub) = self.handle.own_hub().filter(|hub| starts_all && !hub.list().is_empty()) else {
            return show(self.list_tools()?);
        };
        self.is_started = true;
        let (mut shown, mut is_empty, mut lacks_servers) = (Ok(()), true, false);
        self.handle.boot_with(&mut |detail| {
            let tools: Vec<Tool> = exposed_tools(&hub.available_tools(), Some(detail.id));
            is_empty &= tools.is_empty();
            if shown.is_ok() && !tools.is_empty() {
                shown = show(ListedTools { tools, rejected: Vec::new() });
            }
            lacks_servers |= warn_of_failure(&self.handle.console, &detail);
        })?;
        self.lacks_servers = lacks_servers;
        shown?;
        warn_of_changes(&self.handle.console, &hub.details());
        if is_empty { show(ListedTools { tools: Vec::new(), rejected: Vec::new() }) } else { Ok(()) }
    }

    fn list_tools(&mut self) -> Result<ListedTools, Failure> {
        self.start_servers(None)?;
        let tools =
            self.handle.ask(Request::Tools { server: self.server.clone(), timeout_ms: self.options.timeout_ms() })?;
        if self.handle.is_remote() && self.server.is_none() {
            let rows = self.handle.rows(Request::Status)?;
            self.warn_of_absent(rows);
        }
        Ok(ListedTools { tools, rejected: Vec::new() })
    }

    fn call(&mut self, tool: &str, arguments: &Json, mode: CallMode) -> Result<Called, Failure> {
        let arguments = arguments
            .decode()
            .map_err(|error| Failure::usage("arguments", format!("the arguments are not JSON: {error}")))?;
        self.start_servers(Some(tool))?;
        let (server, timeout_ms) = (self.server.clone(), self.options.timeout_ms());
        let request = Request::Call { tool: tool.to_owned(), server, arguments, mode, timeout_ms };
        let called = self.handle.call(request, &format!("calling {tool}"));
        let called = called.and_then(|called| match mode {
            CallMode::Detach => decoded(&called),
            CallMode::Call | CallMode::Task => Ok(Called::Result(called)),
        });
        called.map_err(Failure::from_hub_request)
    }

    fn list_own_tools(&mut self) -> Result<ListedTools, Failure> {
        self.check_offers("tools", |offered| offered.tools.is_some())?;
        let list = self.pages("tools/list", |page: ListToolsResult| (page.tools, page.next_cursor))?;
        Ok(ListedTools { tools: list.items, rejected: list.rejected })
    }

    fn task(&mut self, action: TaskAction, handle: &TaskHandle) -> Result<Json, Failure> {
        let (server, timeout_ms) = (self.started()?, self.options.timeout_ms());
        let what = format!("waiting for {}", handle.task_id);
        let request = Request::Task { server, action, handle: handle.clone(), timeout_ms };
        self.handle.call(request, &what).map_err(Failure::from_hub_request)
    }

    fn listen(&mut self, resources: &[String], tell: OnNotice<'_>) -> Result<bool, Failure> {
        let (server, timeout_ms) = (self.started()?, self.options.timeout_ms());
        let request = Request::Listen { server, resources: resources.to_vec(), timeout_ms };
        self.handle.listen(request, tell).map_err(Failure::from_hub_request)
    }

    fn find_tool(&mut self, tool: &str) -> Result<Option<Tool>, Failure> {
        self.start_servers(Some(tool))?;
        let (server, timeout_ms) = (self.server.clone(), self.options.timeout_ms());
        let found = self.handle.ask(Request::Tool { tool: tool.to_owned(), server, timeout_ms });
        match found {
            Err(error) if error.kind() == ErrorKind::ToolNotFound => Ok(None),
            found => found.map_err(Failure::from_hub_request),
        }
    }

    fn info(&mut self) -> Result<ServerInfo, Failure> {
        let (server, timeout_ms) = (self.started()?, self.options.timeout_ms());
        self.handle.ask(Request::Info { server, timeout_ms }).map_err(Failure::from_hub_request)
    }

    fn ping(&mut self) -> Result<(), Failure> {
        let (server, timeout_ms) = (self.started()?, self.options.timeout_ms());
        self.handle.ask(Request::Ping { server, timeout_ms }).map_err(Failure::from_hub_request)
    }

    fn request_raw(&mut self, method: &str, params: Option<&Json>) -> Result<Json, Failure> {
        let (server, timeout_ms) = (self.started()?, self.options.timeout_ms());
        let params = params
            .map(Json::decode)
            .transpose()
            .map_err(|error| Failure::usage("params", format!("the parameters are not JSON: {error}")))?;
        let request = Request::Send { server, method: method.to_owned(), params, timeout_ms };
        self.handle.ask(request).map_err(Failure::from_hub_request)
    }

    fn list_resources(&mut self) -> Result<ItemList<Resource>, Failure> {
        self.check_offers("resources", |offered| offered.resources.is_some())?;
        self.pages("resources/list", |page: ListResourcesResult| (page.resources, page.next_cursor))
    }

    fn list_resource_templates(&mut self) -> ItemList<ResourceTemplate> {
        let pages = self.pages("resources/templates/list", |page: ListResourceTemplatesResult| {
            (page.resource_templates, page.next_cursor)
        });
        pages.unwrap_or_default()
    }

    fn list_prompts(&mut self) -> Result<ItemList<Prompt>, Failure> {
        self.check_offers("prompts", |offered| offered.prompts.is_some())?;
        self.pages("prompts/list", |page: ListPromptsResult| (page.prompts, page.next_cursor))
    }

    fn complete(&mut self, params: &CompleteParams<'_>) -> Result<CompleteResult, Failure> {
        let params = Json::from_value(params).ok();
        let result = self.request_raw("completion/complete", params.as_ref())?;
        result.decode().map_err(|error| Failure::unreadable("the completion", &error.to_string()))
    }
}

/// Warns of a server that could not be started, so that its tools are not listed. Returns whether there is such a warning.
fn warn_of_failure(console: &Console, detail: &StatusDetail) -> bool {
    let error = detail.last_error.as_ref().filter(|_| detail.enabled);
    if let Some(error) = error {
        console.warn(&format!("warning: not listed: {}", not_started(detail.name.trim(), error).in_one_line()));
    }
    error.is_some()
}

/// Warns of each tool whose definition has changed since the server last listed its tools.
pub(crate) fn warn_of_changes<'a>(console: &Console, details: impl IntoIterator<Item = &'a StatusDetail>) {
    for detail in details {
        detail.changed_tools.iter().for_each(|change| console.warn(&changed_tool(&detail.name, change)));
    }
}
