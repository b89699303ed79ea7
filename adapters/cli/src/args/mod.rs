//! [`Args`]: the definition of the command line, with all commands and their options.

mod configured;
mod options;
mod target;

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgGroup, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use clap_complete::Shell;

pub(crate) use self::configured::{
    AddServer, ClientArgs, HubCommand, LoginArgs, LoginPlace, SecretCommand, ServerCommand, ServerName,
};
use self::options::parse_pair;
pub(crate) use self::options::{Completed, Options, Saving, Stderr, TaskAction, Variable};
pub(crate) use self::target::{Place, Target, TlsArgs};
use crate::failure::Failure;

/// Talk to MCP servers: inspect them, list and call their tools, and keep many of them running
#[derive(Parser)]
#[command(
    name = "mcpwire",
    version,
    disable_help_subcommand = true,
    after_help = "Examples:\n  \
        mcpwire demo\n  \
        mcpwire tools --demo\n  \
        mcpwire call add '{\"a\":2,\"b\":40}' --demo\n  \
        mcpwire tools --url https://example.com/mcp --bearer-env TOKEN\n  \
        mcpwire call echo '{\"message\":\"hi\"}' -- npx -y @modelcontextprotocol/server-everything\n  \
        mcpwire server add things --npm @modelcontextprotocol/server-everything\n  \
        mcpwire call things__echo '{\"message\":\"hi\"}'\n\n\
        Exit status: 0 ok, 1 the tool reported an error, 2 usage, 3 could not start or connect,\n\
        4 the connection or the protocol failed afterwards, 5 timed out, 6 log in first, 130 interrupted."
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
    /// Show a server's name, version and capabilities
    #[command(
        override_usage = "mcpwire info [OPTIONS] (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Examples:\n  mcpwire info --demo\n  mcpwire info -- npx -y @modelcontextprotocol/server-everything"
    )]
    Info(Target),
    /// List the tools of a server, or of all configured servers, with their arguments
    #[command(
        override_usage = "mcpwire tools [OPTIONS] [--demo | --server NAME | --url URL | -- COMMAND [ARG]...]",
        after_help = "Examples:\n  \
            mcpwire tools\n  \
            mcpwire tools --server things\n  \
            mcpwire tools --url https://example.com/mcp --bearer-env TOKEN"
    )]
    Tools(Target),
    /// Call a tool and print its result
    ///
    /// A tool of a configured server is called by the name that `mcpwire tools` lists.
    #[command(
        override_usage = "mcpwire call [OPTIONS] TOOL [JSON|@FILE|-] [--demo | --server NAME | --url URL | -- COMMAND [ARG]...]",
        after_help = "Examples:\n  \
            mcpwire call add '{\"a\":2,\"b\":40}' --demo\n  \
            mcpwire call things__echo '{\"message\":\"hi\"}'\n  \
            mcpwire call chart @arguments.json --save images --demo"
    )]
    Call {
        /// Name of the tool
        tool: String,
        /// Arguments of the tool: a JSON object, @FILE to read it from a file, or - for stdin [default: {}]
        #[arg(value_name = "JSON|@FILE|-")]
        arguments: Option<String>,
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
        override_usage = "mcpwire task [OPTIONS] (get|result|cancel) ID|JSON|@FILE|- (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Examples:\n  \
            mcpwire call slow --task --detach --url URL > task.json\n  \
            mcpwire task result @task.json --url URL"
    )]
    Task {
        /// Show the status, wait for the result, or cancel the task
        action: TaskAction,
        /// Id of the task, or the handle that `mcpwire call --task --detach` printed: as JSON, @FILE to read it from a file, or -
        /// for stdin
        #[arg(value_name = "ID|JSON|@FILE|-")]
        task: String,
        #[command(flatten)]
        target: Target,
    },
    /// List a server's resources and resource templates
    #[command(
        override_usage = "mcpwire resources [OPTIONS] (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Example:\n  mcpwire resources --server things"
    )]
    Resources(Target),
    /// Read a resource and print it
    ///
    /// Binary content is written unchanged to a pipe or file. On a terminal, its size is shown.
    #[command(
        override_usage = "mcpwire read [OPTIONS] URI (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Examples:\n  \
            mcpwire read file:///notes.txt --server notes\n  \
            mcpwire read file:///logo.png --server notes > logo.png"
    )]
    Read {
        /// URI of the resource
        uri: String,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        target: Target,
    },
    /// List a server's prompts with their arguments
    #[command(
        override_usage = "mcpwire prompts [OPTIONS] (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Example:\n  mcpwire prompts --server things"
    )]
    Prompts(Target),
    /// Get a prompt with its arguments filled in
    #[command(
        override_usage = "mcpwire prompt [OPTIONS] NAME [JSON|@FILE|-] (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Example:\n  mcpwire prompt code_review '{\"language\":\"rust\"}' --server things"
    )]
    Prompt {
        /// Name of the prompt
        name: String,
        /// Arguments of the prompt: a JSON object of strings, @FILE to read it from a file, or - for stdin [default: {}]
        #[arg(value_name = "JSON|@FILE|-")]
        arguments: Option<String>,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        target: Target,
    },
    /// Get completions for a prompt or resource-template argument
    #[command(
        override_usage = "mcpwire complete [OPTIONS] <prompt|resource> NAME ARGUMENT [PREFIX] (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Examples:\n  \
            mcpwire complete prompt code_review language ru --server things\n  \
            mcpwire complete resource 'file:///{path}' path src/ --server notes"
    )]
    Complete {
        /// Whether NAME is a prompt or a resource template
        kind: Completed,
        /// Name of the prompt, or the URI template
        name: String,
        /// Name of the argument, or of the variable in the template
        argument: String,
        /// Beginning of the value to complete
        #[arg(default_value = "")]
        prefix: String,
        /// Pass the value of another argument that is already known; can be repeated
        #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
        context: Vec<(String, String)>,
        #[command(flatten)]
        target: Target,
    },
    /// Check that a server responds
    #[command(
        override_usage = "mcpwire ping [OPTIONS] (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Example:\n  mcpwire ping --url https://example.com/mcp"
    )]
    Ping(Target),
    /// Print notifications and log messages of a server as they arrive
    #[command(
        override_usage = "mcpwire listen [OPTIONS] [--resource URI]... (--demo | --server NAME | --url URL | -- COMMAND [ARG]...)",
        after_help = "Each is a line on stdout; with --json, a JSON document a line.\n\
            Ctrl-C ends it, with exit status 0; so does a server that ends the subscription gracefully.\n\n\
            Example:\n  mcpwire listen --resource file:///notes.txt --server notes"
    )]
    Listen {
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
    /// Print a completion script for a shell
    #[command(after_help = "Examples:\n  \
        mcpwire completions bash > ~/.local/share/bash-completion/completions/mcpwire\n  \
        mcpwire completions zsh > \"${fpath[1]}/_mcpwire\"\n  \
        mcpwire completions fish > ~/.config/fish/completions/mcpwire.fish")]
    Completions {
        /// The shell
        shell: Shell,
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

impl Args {
    /// Returns the definition of this tool's command line for clap.
    pub(crate) fn definition() -> clap::Command {
        // The commands `tools` and `call` use all configured servers if no server is selected.
        ["tools", "call"].into_iter().fold(Self::command(), |command, name| {
            command.mut_subcommand(name, |command| command.mut_group("target", |group| group.required(false)))
        })
    }

    /// Parses the command line of this process.
    ///
    /// For `--help`, `--version` and errors without `--json`, prints the text and ends the process.
    ///
    /// # Errors
    /// If the command line is invalid and contains `--json`.
    pub(crate) fn from_env() -> Result<Self, Failure> {
        let line: Vec<OsString> = std::env::args_os().collect();
        let matches = Self::definition().try_get_matches_from(&line);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|mut error| {
            let for_people = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            suggest_server(&mut error, &line);
            if for_people || !asks_for_json(&line) {
                error.exit();
            }
            usage(&error)
        })
    }
}

/// Adds a suggestion to the error for an unexpected argument, as in `info calc`. The argument may be the name of a server,
/// which `--server` selects.
fn suggest_server(error: &mut clap::Error, line: &[OsString]) {
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidArg) else { return };
    let takes_target = line.get(1).is_some_and(|command| {
        ["info", "tools", "resources", "prompts", "ping", "listen"].iter().any(|name| *command == **name)
    });
    if error.kind() == ErrorKind::UnknownArgument && !word.starts_with('-') && takes_target {
        let tip = format!("to use a configured server: --server {word}");
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
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
mod tests {
    use std::time::Duration;

    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        let words = std::iter::once("mcpwire").chain(line.split(' ').filter(|word| !word.is_empty()));
        let matches = Args::definition().try_get_matches_from(words);
        matches.and_then(|matches| Args::from_arg_matches(&matches))
    }

    #[test]
    fn the_definition_is_consistent() {
        Args::definition().debug_assert();
    }

    #[test]
    fn options_stand_anywhere_before_the_servers_command() {
        for line in [
            "--json --timeout 2s call echo - -- server --json --timeout x",
            "call --json echo --timeout 2s - -- server --json --timeout x",
            "call echo - --timeout 2 --json -- server --json --timeout x",
        ] {
            let Args { command, options } = parse(line).expect(line);
            assert_eq!((options.json, options.timeout), (true, Some(Duration::from_secs(2))), "{line}");
            let Command::Call { tool, arguments, target, .. } = command else { panic!("{line}") };
            // `-`, the standard input, is no option.
            assert_eq!((tool.as_str(), arguments.as_deref()), ("echo", Some("-")), "{line}");
            assert_eq!(target.command, ["server", "--json", "--timeout", "x"], "{line}");
        }
    }

    #[test]
    fn usage_errors_name_their_field() {
        for (line, field) in [
            ("", "command"),
            ("nonesuch --demo", "command"),
            ("demo --demo", "demo"),
            ("call --demo", "TOOL"),
            ("info --", "demo|--url"),
            ("info --url", "url"),
            ("info --demo -- server", "demo"),
            ("info --demo --server a", "demo"),
            ("info --demo --url http://localhost/mcp", "demo"),
            ("info --url http://localhost/mcp -- server", "url"),
            ("info --server a --header A:b", "server"),
            ("info --header A:b", "demo|--url"),
            ("info --demo --header A:b", "demo"),
            ("info --bearer-env A -- server", "bearer-env"),
            ("info --unix-socket a", "demo|--url"),
            ("info --url http://localhost/mcp --client-key key.pem", "client-cert"),
            ("call echo --detach --demo", "task"),
            ("task get --demo", "ID|JSON|@FILE|-"),
            ("task look a --demo", "ACTION"),
            ("tools --demo --nonesuch", "nonesuch"),
            ("tools --demo --env =x", "env"),
            ("tools --demo --env MCPWIRE_SURELY_NOT_SET", "env"),
            ("tools --demo --max-message 0", "max-message"),
            ("tools --demo --protocol 1999-01-01", "protocol"),
            ("tools --demo --stderr loudly", "stderr"),
            ("tools --demo --timeout soon", "timeout"),
        ] {
            let error = parse(line).err().expect(line);
            assert_eq!((error.exit_code(), usage(&error).field()), (2, field), "{line}");
        }
    }
}
