//! [`Args`]: the definition of the command line, with all commands and their options.

mod configured;
mod options;
mod short_help;
mod target;
mod words;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgGroup, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use self::configured::{
    AddServer, ClientArgs, HubCommand, ImportServers, LoginArgs, LoginPlace, Manager, SecretCommand, ServerCommand,
    ServerName,
};
use self::options::parse_pair;
pub(crate) use self::options::{
    Completed, Options, Saving, Stderr, TaskAction, TestPlan, ToolsView, Variable, protocol_name,
};
use self::short_help::SHORT_HELP;
pub(crate) use self::target::{Named, Place, Target, TlsArgs};
pub(crate) use self::words::Words;
use crate::failure::Failure;

/// An example of a file for `--answers`, which `mcpwire --answers-template` prints.
pub(crate) const ANSWERS_TEMPLATE: &str = r#"{
  "elicitation": [
    {"message": "a part of the question", "action": "accept", "content": {"name": "Ada", "count": 3}},
    {"action": "decline", "repeat": true}
  ],
  "sampling": [
    {"message": "a part of the last message", "model": "name-of-a-model", "text": "the answer of the model"},
    {"reject": true, "repeat": true}
  ],
  "roots": ["."]
}
"#;

/// Talk to MCP servers: inspect them, list and call their tools, and keep many of them running
#[derive(Parser)]
#[command(
    name = "mcpwire",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        mcpwire demo\n  \
        mcpwire tools --demo\n  \
        mcpwire call add a=2 b=40 --demo\n  \
        mcpwire tools --url https://example.com/mcp --bearer-env TOKEN\n  \
        mcpwire call echo message=hi -- npx -y @modelcontextprotocol/server-everything\n  \
        mcpwire server add things --npm @modelcontextprotocol/server-everything\n  \
        mcpwire call things echo message=hi\n\n\
        Exit status: 0 ok, 1 the tool reported an error, 2 usage, 3 could not start or connect,\n\
        4 the connection or the protocol failed afterwards, 5 timed out, 6 log in first, 130 interrupted.\n\
        A list of the tools of all servers is printed even if some do not start, with exit status 3."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Start a small server, call its tools, and show each step
    Demo,
    /// Show who a server is, what it offers, and what to do next
    #[command(
        override_usage = "mcpwire info [OPTIONS] SERVER",
        after_help = "Examples:\n  mcpwire info things\n  mcpwire info --demo\n  mcpwire info -- npx -y @modelcontextprotocol/server-everything"
    )]
    Info(Named),
    /// List the tools of a server, or of all configured servers, or show one tool with its arguments
    #[command(
        override_usage = "mcpwire tools [OPTIONS] [SERVER [TOOL]]",
        after_help = "Examples:\n  \
            mcpwire tools\n  \
            mcpwire tools things\n  \
            mcpwire tools things echo\n  \
            mcpwire tools --url https://example.com/mcp --bearer-env TOKEN"
    )]
    Tools {
        /// The server, and a tool to show in full
        #[arg(value_name = "SERVER")]
        words: Vec<String>,
        #[command(flatten)]
        view: ToolsView,
        #[command(flatten)]
        target: Target,
    },
    /// Call a tool and print its result
    ///
    /// The arguments are words: NAME=TEXT, which the tool's schema turns into a number, a list or another type; NAME:=JSON;
    /// NAME=@FILE. Or they are one JSON object, @FILE with a JSON object, or - to read it from stdin.
    #[command(
        override_usage = "mcpwire call [OPTIONS] SERVER TOOL [NAME=VALUE | NAME:=JSON]...",
        after_help = "Examples:\n  \
            mcpwire call things echo message=hi\n  \
            mcpwire call things__echo '{\"message\":\"hi\"}'\n  \
            mcpwire call things echo --ask\n  \
            mcpwire call add a=2 b=40 --demo\n  \
            mcpwire call chart @arguments.json --save images --demo"
    )]
    Call {
        /// The server, the tool, and the arguments of the tool; or `SERVER__TOOL`, as `mcpwire tools` lists it
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        /// Send the arguments without checking them against the tool's schema
        #[arg(long)]
        no_check: bool,
        /// Ask for the arguments in a form, with the given ones as defaults
        #[arg(long, conflicts_with = "json")]
        ask: bool,
        /// Let the server run the call as a task, and show the status of the task on stderr
        #[arg(long)]
        task: bool,
        /// Print the handle of the task, for `mcpwire task`, instead of waiting for the result
        #[arg(long, requires = "task")]
        detach: bool,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        target: Target,
    },
    /// Inspect or cancel a task started by a call
    #[command(
        override_usage = "mcpwire task [OPTIONS] SERVER (get|result|cancel) ID|JSON|@FILE|-",
        after_help = "Examples:\n  \
            mcpwire call things slow --task --detach > task.json\n  \
            mcpwire task things result @task.json\n\n\
            A task of a server of the running hub is known as long as that server runs: mcpwire hub start"
    )]
    Task {
        /// The server, the action, and the id of the task or the handle that `mcpwire call --task --detach` printed: as JSON, @FILE
        /// to read it from a file, or - for stdin
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        target: Target,
    },
    /// List a server's resources and resource templates
    #[command(
        override_usage = "mcpwire resources [OPTIONS] SERVER",
        after_help = "Example:\n  mcpwire resources things"
    )]
    Resources(Named),
    /// Read a resource and print it
    ///
    /// Binary content is written unchanged to a pipe or file. On a terminal, its size is shown.
    #[command(
        override_usage = "mcpwire read [OPTIONS] SERVER URI",
        after_help = "Examples:\n  \
            mcpwire read notes file:///notes.txt\n  \
            mcpwire read notes file:///logo.png > logo.png"
    )]
    Read {
        /// The server, and the URI of the resource
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        target: Target,
    },
    /// List a server's prompts with their arguments
    #[command(override_usage = "mcpwire prompts [OPTIONS] SERVER", after_help = "Example:\n  mcpwire prompts things")]
    Prompts(Named),
    /// Get a prompt with its arguments filled in
    #[command(
        override_usage = "mcpwire prompt [OPTIONS] SERVER NAME [NAME=TEXT]...",
        after_help = "Example:\n  mcpwire prompt things code_review language=rust"
    )]
    Prompt {
        /// The server, the name of the prompt, and its arguments: NAME=TEXT, or one JSON object of strings, @FILE or -
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        target: Target,
    },
    /// Get completions for a prompt or resource-template argument
    #[command(
        override_usage = "mcpwire complete [OPTIONS] SERVER (prompt|resource) NAME ARGUMENT [PREFIX]",
        after_help = "Examples:\n  \
            mcpwire complete things prompt code_review language ru\n  \
            mcpwire complete notes resource 'file:///{path}' path src/"
    )]
    Complete {
        /// The server, the kind of item, its name or URI template, the argument, and the beginning of the value
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        /// Pass the value of another argument that is already known; can be repeated
        #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
        context: Vec<(String, String)>,
        #[command(flatten)]
        target: Target,
    },
    /// Check that a server responds
    #[command(
        override_usage = "mcpwire ping [OPTIONS] SERVER",
        after_help = "Examples:\n  mcpwire ping things\n  mcpwire ping --url https://example.com/mcp"
    )]
    Ping(Named),
    /// Send any request to a server, and print its result as JSON
    #[command(
        override_usage = "mcpwire request [OPTIONS] SERVER METHOD [JSON]",
        after_help = "Example:\n  mcpwire request things resources/read '{\"uri\":\"file:///notes.txt\"}'"
    )]
    Request {
        /// The server, the method, and the parameters: a JSON object, @FILE to read it from a file, or - for stdin
        #[arg(value_name = "WORD")]
        words: Vec<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Generate source code for the tools of a server
    Generate {
        #[command(subcommand)]
        language: Language,
    },
    /// Test a server with generated calls and misuse of the protocol, and report what breaks
    ///
    /// The server is started for the test, and again whenever it has ended. Its tools are called with valid, nearly valid, large
    /// and odd arguments, and each finding is shown with the smallest input and a command that repeats it.
    #[command(
        override_usage = "mcpwire test [OPTIONS] SERVER",
        after_help = "Exit status: 0 without failures, 1 with failures; remarks do not count. --timeout limits each call\n\
            [default: 10 s].\n\n\
            Examples:\n  \
            mcpwire test -- python3 server.py\n  \
            mcpwire test notes --tool search --calls 200 --seed 7"
    )]
    Test {
        /// The server
        #[arg(value_name = "SERVER")]
        words: Vec<String>,
        #[command(flatten)]
        plan: TestPlan,
        #[command(flatten)]
        target: Target,
    },
    /// Print notifications and log messages of a server as they arrive
    #[command(
        override_usage = "mcpwire listen [OPTIONS] [--resource URI]... SERVER",
        after_help = "Each is a line on stdout; with --json, a JSON document a line.\n\
            Ctrl-C ends it, with exit status 0; so does a server that ends the subscription gracefully.\n\
            With a running hub, it hears what all commands cause in the session with the server.\n\n\
            Example:\n  mcpwire listen notes --resource file:///notes.txt"
    )]
    Listen {
        /// The server
        #[arg(value_name = "SERVER")]
        words: Vec<String>,
        /// Subscribe to changes of this resource; can be repeated
        #[arg(long = "resource", value_name = "URI")]
        resources: Vec<String>,
        #[command(flatten)]
        target: Target,
    },
    /// Log in to a server that wants OAuth, so that later commands can use it
    ///
    /// Opens the login page in a browser, and waits until the browser comes back. The page is also printed, for a browser that
    /// is already open. A login that is interrupted goes on with the next `mcpwire login` of the same server.
    #[command(
        override_usage = "mcpwire login [OPTIONS] (NAME | --url URL)",
        group = ArgGroup::new("server").args(["configured", "url"]).required(true),
        after_help = "--timeout limits the time to log in; without it, 5 minutes, or as long as the code of --device lasts.\n\
            With --json, the address or code to open is one JSON object on a line of stderr.\n\n\
            Examples:\n  \
            mcpwire login notes\n  \
            mcpwire login --url https://example.com/mcp --scope files:read\n  \
            mcpwire login notes --no-browser\n  \
            mcpwire login notes --device"
    )]
    Login(Box<LoginArgs>),
    /// Delete the login of a server from this machine
    #[command(
        override_usage = "mcpwire logout [OPTIONS] (NAME | --url URL)",
        group = ArgGroup::new("server").args(["configured", "url"]).required(true),
        after_help = "Examples:\n  mcpwire logout notes\n  mcpwire logout --url https://example.com/mcp --revoke"
    )]
    Logout {
        /// Also ask the authorization server to revoke the tokens
        #[arg(long)]
        revoke: bool,
        #[command(flatten)]
        login: Box<LoginPlace>,
    },
    /// Show the logins on this machine, without their tokens: issuer, client, scopes, expiry, and where the logins are stored
    #[command(
        override_usage = "mcpwire whoami [OPTIONS] [NAME | --url URL]",
        group = ArgGroup::new("server").args(["configured", "url"]),
        after_help = "Examples:\n  mcpwire whoami\n  mcpwire whoami notes --json"
    )]
    Whoami(Box<LoginPlace>),
    /// Configure servers, to use them by name
    Server {
        #[command(subcommand)]
        command: ServerCommand,
        #[command(flatten)]
        place: Place,
    },
    /// Set, list and remove the secrets of configured servers
    Secret {
        #[command(subcommand)]
        command: SecretCommand,
        #[command(flatten)]
        place: Place,
    },
    /// Show the state of the configured servers
    ///
    /// If no hub is running, the servers are started, and ended afterwards.
    #[command(after_help = "Examples:\n  mcpwire status\n  mcpwire status --watch")]
    Status {
        /// Update the display until Ctrl-C
        #[arg(short, long)]
        watch: bool,
        #[command(flatten)]
        place: Place,
    },
    /// Run the configured servers for other commands
    Hub {
        #[command(subcommand)]
        command: HubCommand,
        #[command(flatten)]
        place: Place,
    },
    /// Read commands from the terminal, with history and completion, while the servers stay running
    #[command(
        override_usage = "mcpwire shell [OPTIONS] [SERVER]",
        after_help = "Examples:\n  mcpwire shell\n  mcpwire shell notes"
    )]
    Shell {
        /// Name or id of a configured server that the commands use
        server: Option<String>,
        #[command(flatten)]
        place: Place,
    },
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        mcpwire completions bash > ~/.local/share/bash-completion/completions/mcpwire\n  \
        mcpwire completions zsh > \"${fpath[1]}/_mcpwire\"\n  \
        mcpwire completions fish > ~/.config/fish/completions/mcpwire.fish")]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands to a directory
    #[command(after_help = "Example:\n  mcpwire man ~/.local/share/man/man1")]
    Man {
        /// The directory for one page a command
        directory: Option<PathBuf>,
    },
    /// Print the words that can complete a command line, for the script of a shell
    #[command(hide = true)]
    CompleteWords {
        /// The shell
        shell: Shell,
        /// The words of the command line, without the program
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// Open a page in the user's browser, which inherits the environment of this process
    #[command(hide = true)]
    OpenPage {
        /// The URL of the page
        url: String,
    },
    /// Serve the demo's tools on stdin and stdout, or over HTTP
    #[command(hide = true)]
    DemoServer {
        /// Serve Streamable HTTP at this loopback address; the first line printed is the URL
        #[arg(long, value_name = "ADDRESS:PORT")]
        http: Option<SocketAddr>,
    },
}

/// The languages for which `mcpwire generate` generates source code.
#[derive(Subcommand)]
pub(crate) enum Language {
    /// Generate a Rust module: a function for each tool, with types for its arguments and its result
    ///
    /// The functions take any client that implements `ToolClient`. The module needs the crates `mcpwire` (with the feature
    /// `tool-client`), `serde` and `serde_json`. To generate it while a program is built, without the server: see the crate
    /// `mcpwire-generate`.
    #[command(
        override_usage = "mcpwire generate rust [OPTIONS] SERVER",
        after_help = "Exit status of --check: 1 if the tools of the server have changed.\n\n\
            Examples:\n  \
            mcpwire generate rust things --out src/things.rs\n  \
            mcpwire generate rust things --check src/things.rs\n  \
            mcpwire generate rust --demo"
    )]
    Rust {
        /// The server
        #[arg(value_name = "SERVER")]
        words: Vec<String>,
        /// Write the module to FILE instead of stdout. A file that has this content already is left alone
        #[arg(long, value_name = "FILE", conflicts_with = "check")]
        out: Option<PathBuf>,
        /// Write nothing, but fail if the server has other tools than the module in FILE, and name them
        #[arg(long, value_name = "FILE")]
        check: Option<PathBuf>,
        #[command(flatten)]
        target: Target,
    },
}

impl Args {
    /// Returns the definition of this tool's command line for clap.
    pub(crate) fn definition() -> clap::Command {
        Self::command()
    }

    /// Parses the command line of this process.
    ///
    /// For `--help`, `--version` and errors without `--json`, prints the text and ends the process.
    ///
    /// # Errors
    /// If the command line is invalid and contains `--json`.
    pub(crate) fn from_env() -> Result<Self, Failure> {
        let line: Vec<OsString> = std::env::args_os().collect();
        match line.get(1).and_then(|word| word.to_str()) {
            Some("-h") if line.len() == 2 => {
                // Errors are ignored: the reader may have closed the pipe.
                let _ = io::stdout().write_all(SHORT_HELP.as_bytes());
                std::process::exit(0);
            }
            Some("--answers-template") if line.len() == 2 => {
                let _ = io::stdout().write_all(ANSWERS_TEMPLATE.as_bytes());
                std::process::exit(0);
            }
            None if line.len() < 2 => {
                let _ = io::stderr().write_all(SHORT_HELP.as_bytes());
                std::process::exit(2);
            }
            _ => {}
        }
        let matches = Self::definition().try_get_matches_from(&line);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            let for_people = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            if for_people || !asks_for_json(&line) {
                error.exit();
            }
            usage(&error)
        })
    }
}

/// Returns whether the arguments in `line` contain `--json` before any `--`. This also works for command lines that clap cannot
/// parse.
fn asks_for_json(line: &[OsString]) -> bool {
    line.iter().take_while(|word| *word != "--").any(|word| word == "--json")
}

fn usage(error: &clap::Error) -> Failure {
    let rendered = error.render().to_string();
    let text = rendered.split("\n\nUsage:").next().unwrap_or_default();
    let message = text.trim().trim_start_matches("error: ").to_owned();
    let culprit = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => Some(name),
        Some(ContextValue::Strings(names)) => names.first(),
        _ => None,
    };
    let field = culprit.map_or("command", |name| bare_name(name));
    Failure::usage(field, message)
}

/// Returns the name of an option or argument in an error of clap, such as `timeout` for `--timeout <DURATION>`.
fn bare_name(shown: &str) -> &str {
    let shown = shown.trim_start_matches(['-', '<', '[']);
    shown.split([' ', '=', '>', ']']).next().unwrap_or(shown)
}

#[cfg(test)]
mod tests;
