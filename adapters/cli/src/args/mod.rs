//! The command line: what can be asked, and in which words.

mod options;
mod values;

use std::ffi::OsString;
use std::net::SocketAddr;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

pub(crate) use self::options::{Completed, Connection, Options, Saving, Stderr, TaskAction};
use self::values::parse_pair;
pub(crate) use self::values::{Pair, Variable};
use crate::failure::Failure;
use crate::hub::args::{Configured, HubCommand, Place, SecretCommand, ServerCommand};

/// Talk to MCP servers: see what they are, list their tools, call them.
#[derive(Debug, Parser)]
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
        4 the connection or the protocol failed afterwards, 5 timed out, 130 interrupted."
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start a small server, talk to it, and show how that went
    Demo,
    /// Show what a server says of itself
    #[command(override_usage = "mcpwire info [OPTIONS] (--demo | --url URL | -- COMMAND [ARG]...)")]
    Info {
        #[command(flatten)]
        connection: Connection,
    },
    /// List the tools of a server, or of all that are configured, with their arguments
    #[command(override_usage = "mcpwire tools [OPTIONS] [--server NAME | --demo | --url URL | -- COMMAND [ARG]...]")]
    Tools {
        #[command(flatten)]
        configured: Configured,
        #[command(flatten)]
        connection: Connection,
    },
    /// Call a tool of a server and print its result; one of a configured server by the name that `tools` lists
    #[command(
        override_usage = "mcpwire call [OPTIONS] TOOL [JSON|@FILE|-] [--server NAME | --demo | --url URL | -- COMMAND [ARG]...]"
    )]
    Call {
        #[command(flatten)]
        configured: Configured,
        /// The name of the tool
        tool: String,
        /// The arguments: a JSON object, @FILE to read one, or - for standard input [default: {}]
        #[arg(value_name = "JSON|@FILE|-")]
        arguments: Option<String>,
        /// Let the server make a task of the call: its id and how it stands go to stderr, its result is waited for
        #[arg(long)]
        task: bool,
        /// Do not wait for the task's result: print what `mcpwire task` needs to find it again
        #[arg(long, requires = "task")]
        detach: bool,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        connection: Connection,
    },
    /// Look after a task that a call has become
    #[command(
        override_usage = "mcpwire task [OPTIONS] (get|result|cancel) ID|JSON|@FILE|- (--demo | --url URL | -- COMMAND [ARG]...)"
    )]
    Task {
        /// What to do: show how it stands, wait for its result, or ask the server to end it
        action: TaskAction,
        /// The task: its id, or what `mcpwire call --task --detach` has printed, @FILE to read that, or - for standard input
        #[arg(value_name = "ID|JSON|@FILE|-")]
        task: String,
        #[command(flatten)]
        connection: Connection,
    },
    /// List what a server has to read: addresses, and patterns of addresses
    #[command(override_usage = "mcpwire resources [OPTIONS] (--demo | --url URL | -- COMMAND [ARG]...)")]
    Resources {
        #[command(flatten)]
        connection: Connection,
    },
    /// Read a resource of a server and print it
    #[command(override_usage = "mcpwire read [OPTIONS] URI (--demo | --url URL | -- COMMAND [ARG]...)")]
    Read {
        /// The address of the resource
        uri: String,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        connection: Connection,
    },
    /// List the prompts of a server, with their arguments
    #[command(override_usage = "mcpwire prompts [OPTIONS] (--demo | --url URL | -- COMMAND [ARG]...)")]
    Prompts {
        #[command(flatten)]
        connection: Connection,
    },
    /// Print a prompt of a server, filled in
    #[command(
        override_usage = "mcpwire prompt [OPTIONS] NAME [JSON|@FILE|-] (--demo | --url URL | -- COMMAND [ARG]...)"
    )]
    Prompt {
        /// The name of the prompt
        name: String,
        /// The arguments: a JSON object of strings, @FILE to read one, or - for standard input [default: {}]
        #[arg(value_name = "JSON|@FILE|-")]
        arguments: Option<String>,
        #[command(flatten)]
        save: Saving,
        #[command(flatten)]
        connection: Connection,
    },
    /// Ask a server how an argument of a prompt, or a part of an address, may go on
    #[command(
        override_usage = "mcpwire complete [OPTIONS] <prompt|resource> NAME ARGUMENT [PREFIX] (--demo | --url URL | -- COMMAND [ARG]...)"
    )]
    Complete {
        /// Whether NAME is a prompt, or the pattern of a resource's address
        kind: Completed,
        /// The name of the prompt, or the pattern
        name: String,
        /// The argument, or the part of the pattern
        argument: String,
        /// Its beginning
        #[arg(default_value = "")]
        prefix: String,
        /// Another argument that is known already; can be repeated
        #[arg(long, value_name = "NAME=VALUE", value_parser = parse_pair)]
        context: Vec<Pair>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Ask a server whether it is there
    #[command(override_usage = "mcpwire ping [OPTIONS] (--demo | --url URL | -- COMMAND [ARG]...)")]
    Ping {
        #[command(flatten)]
        connection: Connection,
    },
    /// Print what a server tells, as it tells it: changes of its lists and of resources, and log messages
    #[command(
        override_usage = "mcpwire listen [OPTIONS] [--resource URI]... (--demo | --url URL | -- COMMAND [ARG]...)",
        after_help = "Each is a line on stdout; with --json, a JSON document a line.\n\
            Ctrl-C ends it, with exit status 0; so does a server that ends the subscription gracefully."
    )]
    Listen {
        /// Also tell when this resource changes; can be repeated
        #[arg(long = "resource", value_name = "URI")]
        resources: Vec<String>,
        #[command(flatten)]
        connection: Connection,
    },
    /// Configure servers, to use them by name
    Server {
        #[command(subcommand)]
        command: ServerCommand,
        #[command(flatten)]
        place: Place,
    },
    /// Keep the secrets of configured servers
    Secret {
        #[command(subcommand)]
        command: SecretCommand,
        #[command(flatten)]
        place: Place,
    },
    /// Show how the configured servers are: those of the running hub, or started for this
    Status {
        /// Go on showing it until Ctrl-C
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
    /// Serve the demo's tools on standard input and output, or over HTTP
    #[command(hide = true)]
    DemoServer {
        /// Serve Streamable HTTP at this loopback address; the first line printed is the URL
        #[arg(long, value_name = "ADDRESS:PORT")]
        http: Option<SocketAddr>,
    },
}

impl Args {
    /// Reads the command line of this process. Help, the version, and errors for people are printed here, and end it;
    /// an error is returned where JSON is wanted.
    pub(crate) fn from_env() -> Result<Self, Failure> {
        let line: Vec<OsString> = std::env::args_os().collect();
        // Without a server, these two are about the configured ones.
        let command = ["tools", "call"].into_iter().fold(Self::command(), |command, name| {
            command.mut_subcommand(name, |command| command.mut_group("server", |group| group.required(false)))
        });
        let matches = command.try_get_matches_from(&line);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).map_err(|error| {
            let for_people = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            if for_people || !asks_for_json(&line) {
                error.exit();
            }
            usage(&error)
        })
    }
}

/// Whether `--json` stands on a command line that could not be parsed as a whole.
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

/// `--timeout <DURATION>` and `<TOOL>` without what is around the name.
fn bare_name(shown: &str) -> &str {
    let shown = shown.trim_start_matches(['-', '<', '[']);
    shown.split([' ', '=', '>', ']']).next().unwrap_or(shown)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::CommandFactory;

    use super::*;

    fn parse(line: &str) -> Result<Args, clap::Error> {
        Args::try_parse_from(line.split(' '))
    }

    #[test]
    fn the_definition_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn options_stand_anywhere_before_the_servers_command() {
        for line in [
            "mcpwire --json --timeout 2s call echo {} -- server --json --timeout x",
            "mcpwire call --json echo --timeout 2s {} -- server --json --timeout x",
            "mcpwire call echo {} --timeout 2 --json -- server --json --timeout x",
        ] {
            let args = parse(line).expect(line);
            assert!(args.options.json);
            assert_eq!(args.options.timeout, Some(Duration::from_secs(2)));
            let Command::Call { tool, arguments, connection, .. } = args.command else { panic!("{line}") };
            assert_eq!((tool.as_str(), arguments.as_deref()), ("echo", Some("{}")));
            assert_eq!(connection.command, ["server", "--json", "--timeout", "x"]);
        }
    }

    #[test]
    fn a_connection_is_needed_and_only_one() {
        for line in [
            "mcpwire",
            "mcpwire tools",
            "mcpwire call echo",
            "mcpwire call echo {}",
            "mcpwire info --demo -- server",
            "mcpwire info --demo --url http://localhost/mcp",
            "mcpwire info --url http://localhost/mcp -- server",
            "mcpwire info --url",
            "mcpwire info --header A:b",
            "mcpwire info --demo --header A:b",
            "mcpwire info --bearer-env A -- server",
            "mcpwire info --demo --unix-socket a",
            "mcpwire info --unix-socket a",
            "mcpwire info --",
            "mcpwire call --demo",
            "mcpwire demo --demo",
            "mcpwire nonesuch --demo",
            "mcpwire call echo --detach --demo",
            "mcpwire task get --demo",
            "mcpwire task look a --demo",
            "mcpwire tools --demo --stderr loudly",
            "mcpwire tools --demo --protocol 1999-01-01x",
        ] {
            let error = parse(line).expect_err(line);
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }

    #[test]
    fn headers_are_not_shown() {
        let line = "mcpwire info --url http://localhost/mcp --header X-Key:hunter2 --header hunter2";
        let shown = format!("{:?}", parse(line).expect("it parses"));
        assert!(shown.contains("X-Key") && !shown.contains("hunter2"), "{shown}");
    }

    #[test]
    fn standard_input_is_an_argument() {
        let Command::Call { arguments, .. } = parse("mcpwire call echo - --demo").expect("parses").command else {
            panic!("not a call");
        };
        assert_eq!(arguments.as_deref(), Some("-"));
    }

    #[test]
    fn usage_errors_name_their_field() {
        for (line, field) in [
            ("mcpwire tools --demo --timeout soon", "timeout"),
            ("mcpwire tools --demo --env =x", "env"),
            ("mcpwire call --demo", "TOOL"),
            ("mcpwire tools --demo --nonesuch", "nonesuch"),
        ] {
            let failure = usage(&parse(line).expect_err(line));
            assert_eq!(failure.field(), field, "{line}");
        }
    }
}
