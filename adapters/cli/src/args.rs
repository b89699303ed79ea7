//! The command line: what can be asked, and in which words.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use mcpwire_blocking::core::{Negotiate, ProtocolVersion};

use crate::failure::Failure;
use crate::hub::args::{Configured, HubCommand, Place, SecretCommand, ServerCommand};
use crate::remote::Header;

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

/// Where to what is no text.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Saving {
    /// Save images, audio and other binary content as files in DIR; files that are there are left alone
    #[arg(long = "save", value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
}

/// Whose arguments can be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Completed {
    Prompt,
    Resource,
}

/// What to do about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TaskAction {
    /// Show how it stands
    Get,
    /// Wait for its result
    Result,
    /// Ask the server to end it
    Cancel,
}

/// An argument with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) value: String,
}

/// What stands for servers that have no address.
const NOT_AT_AN_ADDRESS: [&str; 2] = ["demo", "command"];

/// Which server to talk to.
#[derive(Clone, Debug, Default, clap::Args)]
#[group(skip)]
#[command(group = clap::ArgGroup::new("server").args(["demo", "url", "command"]).required(true))]
pub(crate) struct Connection {
    /// Talk to the built-in demo server
    #[arg(long)]
    pub(crate) demo: bool,
    /// Talk to the server at this address, by HTTP
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// The command that starts the server, with its arguments
    #[arg(last = true, num_args = 1.., value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Send a header with each request to --url; can be repeated
    #[arg(long = "header", value_name = "NAME:VALUE", requires = "url", conflicts_with_all = NOT_AT_AN_ADDRESS)]
    pub(crate) headers: Vec<Header>,
    /// Send the token that this variable has with each request to --url, as `Authorization: Bearer`
    #[arg(long, value_name = "NAME", requires = "url", conflicts_with_all = NOT_AT_AN_ADDRESS)]
    pub(crate) bearer_env: Option<String>,
    /// Reach the server of --url through this Unix socket; the address says the rest
    #[arg(long, value_name = "PATH", requires = "url", conflicts_with_all = NOT_AT_AN_ADDRESS)]
    pub(crate) unix_socket: Option<PathBuf>,
}

impl Connection {
    /// Whether no server is named.
    pub(crate) fn is_none(&self) -> bool {
        !self.demo && self.url.is_none() && self.command.is_empty()
    }

    /// The connection of `--demo`.
    pub(crate) fn to_demo() -> Self {
        Self { demo: true, ..Self::default() }
    }
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Options {
    /// Give up on connecting, and on each request, after so long: 30s, 500ms, 2m, or plain seconds
    #[arg(long, global = true, value_name = "DURATION", value_parser = parse_duration)]
    pub(crate) timeout: Option<Duration>,
    /// The protocol to speak: auto, modern, legacy, or a revision such as 2025-11-25
    #[arg(long, global = true, value_name = "PROTOCOL", default_value = "auto", value_parser = parse_protocol)]
    pub(crate) protocol: Negotiate,
    /// Set a variable of the server's environment, or pass on one of ours; can be repeated
    #[arg(long = "env", global = true, value_name = "NAME[=VALUE]", value_parser = parse_variable)]
    pub(crate) variables: Vec<Variable>,
    /// Start the server in this directory
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) cwd: Option<PathBuf>,
    /// Refuse longer messages from the server: 1000000, 16MiB
    #[arg(long, global = true, value_name = "BYTES", value_parser = parse_bytes)]
    pub(crate) max_message: Option<usize>,
    /// What becomes of the server's standard error: shown, hidden, or its tail added to error messages
    #[arg(long, global = true, value_name = "WHEN", default_value = "tail")]
    pub(crate) stderr: Stderr,
    /// Write every message to FILE as JSON Lines, with its time and direction
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) trace: Option<PathBuf>,
    /// Answer what the server asks from FILE, not at the terminal (a JSON object of elicitation, sampling and roots)
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) answers: Option<PathBuf>,
    /// Tell the server that this folder matters; can be repeated
    #[arg(long = "root", global = true, value_name = "DIR")]
    pub(crate) roots: Vec<String>,
    /// Print one JSON document on stdout; an error is one JSON object on stderr
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Do not colour anything
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// No progress and no log messages of the server on stderr
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stderr {
    Show,
    Hide,
    Tail,
}

/// A variable of the server's environment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Set(String, String),
    Inherit(String),
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

fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is not a duration; try 30s, 500ms or 2m");
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds_in_unit = match unit.trim_start() {
        "ms" => 0.001,
        "s" | "" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    match Duration::try_from_secs_f64(number * seconds_in_unit) {
        Ok(Duration::ZERO) => Err("no time at all is too short".to_owned()),
        Ok(duration) => Ok(duration),
        Err(_) => Err(wrong()),
    }
}

fn parse_protocol(text: &str) -> Result<Negotiate, String> {
    match text {
        "auto" => Ok(Negotiate::Auto),
        "modern" => Ok(Negotiate::Modern),
        "legacy" => Ok(Negotiate::Legacy),
        revision => revision.parse::<ProtocolVersion>().map(Negotiate::Version).map_err(|error| error.to_string()),
    }
}

fn parse_variable(text: &str) -> Result<Variable, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    match value {
        _ if name.is_empty() => Err("a variable must have a name".to_owned()),
        Some(value) => Ok(Variable::Set(name.to_owned(), value.to_owned())),
        None if std::env::var_os(name).is_none() => Err(format!("{name} is not set here, so it cannot be passed on")),
        None => Ok(Variable::Inherit(name.to_owned())),
    }
}

fn parse_pair(text: &str) -> Result<Pair, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Pair { name: name.to_owned(), value: value.to_owned() }),
        _ => Err(format!("{text:?} is not NAME=VALUE")),
    }
}

fn parse_bytes(text: &str) -> Result<usize, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let unit = match unit.trim_start() {
        "" | "B" => Some(1),
        "K" | "KiB" => Some(1 << 10),
        "M" | "MiB" => Some(1 << 20),
        "G" | "GiB" => Some(1 << 30),
        _ => None,
    };
    let number: Option<usize> = number.parse().ok().filter(|number| *number > 0);
    let bytes = number.zip(unit).and_then(|(number, unit)| number.checked_mul(unit));
    bytes.ok_or_else(|| format!("{text:?} is not a size; try 1000000 or 16MiB"))
}

#[cfg(test)]
mod tests {
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
    fn durations() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("2m", 120_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
            ("7", 7_000),
            ("1.5", 1_500),
            ("0.5 s", 500),
        ] {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "s", "-1", "0", "0ms", "1d", "1e9", "1s2", "..", "inf", "NaN", "99999999999999999999999"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_bytes("1000"), Ok(1_000));
        assert_eq!(parse_bytes("16MiB"), Ok(16 << 20));
        for text in ["", "0", "-1", "MiB", "1.5MiB", "1TB", "99999999999GiB"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn variables() {
        assert_eq!(parse_variable("A=b=c"), Ok(Variable::Set("A".into(), "b=c".into())));
        assert_eq!(parse_variable("A="), Ok(Variable::Set("A".into(), String::new())));
        assert_eq!(parse_variable("PATH"), Ok(Variable::Inherit("PATH".into())));
        assert!(parse_variable("=x").is_err());
        assert!(parse_variable("MCPWIRE_SURELY_NOT_SET").is_err());
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
