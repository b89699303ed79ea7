//! Completes a command line for a shell: commands, options, servers, tools, arguments and their values.
//!
//! The script of each shell (`mcpwire completions`) calls this program with the words that the user has typed. The servers come from
//! `servers.json`, and their tools from the lists that the hub has stored, so no server is started.

mod scripts;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use mcpwire_tokio::protocol::Tool;

pub(crate) use self::scripts::script;
use crate::schema::{Node, Parameters};
use crate::show::first_sentence;
use crate::text;

/// Maximum length of the description of a candidate, in characters.
const LONGEST_HELP: usize = 80;

/// A word that may stand at the end of the command line, with its description.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub(crate) word: String,
    pub(crate) help: String,
}

/// The configured servers and their tools, as they were stored.
pub(crate) trait Known {
    /// Returns the name of each configured server, with a description.
    fn servers(&self) -> Vec<(String, String)>;

    /// Returns the tools that a server had when it ran last.
    fn tools(&self, server: &str) -> Vec<Tool>;
}

/// Returns the candidates for the last of the words. `words` are the words after the program's name, and the last one may be empty
/// or only begun.
pub(crate) fn candidates(definition: Command, words: &[String], known: &dyn Known) -> Vec<Candidate> {
    let (last, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    // The arguments of the server's own command, after `--`, are not known.
    if before.iter().any(|word| word == "--") {
        return Vec::new();
    }
    let lenient = |command: Command| {
        let has_subcommands = command.has_subcommands();
        command.allow_external_subcommands(has_subcommands)
    };
    let mut definition = lenient(definition).mut_subcommands(lenient).no_binary_name(true).ignore_errors(true);
    let matches = definition.try_get_matches_from_mut(before).unwrap_or_default();
    let line = Line::new(&definition, &matches, known);
    let mut candidates = match before.last().and_then(|word| line.option_with_value(word)) {
        Some(option) if option.get_id() == "configured" => line.servers(),
        Some(option) => listed_values(option),
        None if last.starts_with('-') => line.options(),
        None => line.words(last),
    };
    candidates.retain(|candidate| candidate.word.starts_with(last));
    candidates.sort();
    candidates.dedup();
    candidates
}

/// What a begun command line says so far.
struct Line<'d> {
    /// The program, the command and its subcommand, such as `server` and `enable`.
    commands: Vec<&'d Command>,
    /// The words that are no options.
    words: Vec<String>,
    /// The configured server of `--server`.
    server: Option<String>,
    /// Whether an option selects a server that is not configured.
    has_other_target: bool,
    known: &'d dyn Known,
}

impl<'d> Line<'d> {
    fn new(root: &'d Command, mut matches: &ArgMatches, known: &'d dyn Known) -> Self {
        let mut line = Line { commands: vec![root], words: Vec::new(), server: None, has_other_target: false, known };
        while let Some((name, inner)) = matches.subcommand() {
            let Some(command) = line.command().find_subcommand(name) else {
                line.words.push(name.to_owned());
                break;
            };
            line.commands.push(command);
            matches = inner;
        }
        let is_given =
            |argument: &&Arg| matches.value_source(argument.get_id().as_str()) == Some(ValueSource::CommandLine);
        for argument in line.command().get_arguments().filter(is_given) {
            let values = matches.get_raw(argument.get_id().as_str()).into_iter().flatten();
            let mut values = values.map(|value| value.to_string_lossy().into_owned());
            match argument.get_id().as_str() {
                _ if argument.is_positional() => line.words.extend(values),
                "configured" => line.server = values.next(),
                "demo" | "url" => line.has_other_target = true,
                _ => {}
            }
        }
        line
    }

    fn command(&self) -> &'d Command {
        // The first command is the program.
        self.commands[self.commands.len() - 1]
    }

    /// Returns the option that `word` names, if the next word is its value.
    fn option_with_value(&self, word: &str) -> Option<&'d Arg> {
        let is_it = |option: &&Arg| match word.strip_prefix("--") {
            Some(long) => option.get_long() == Some(long),
            None => option.get_short().is_some_and(|short| word.strip_prefix('-') == Some(&*short.to_string())),
        };
        self.command().get_opts().find(is_it)
    }

    /// Returns the candidates for a word that is no option.
    fn words(&self, last: &str) -> Vec<Candidate> {
        let command = self.command();
        if self.words.is_empty() && command.has_subcommands() {
            let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
            return shown.map(|command| candidate(command.get_name(), &help(command.get_about()))).collect();
        }
        let Some(first) = self.commands.get(1).map(|command| command.get_name()) else { return Vec::new() };
        if command.get_opts().any(|option| option.get_id() == "configured") {
            return self.words_with_server(first, last);
        }
        let takes_servers = match (first, command.get_name()) {
            ("server", "add" | "import" | "list" | "doctor") => false,
            ("server" | "secret", name) => self.words.is_empty() || matches!(name, "enable" | "disable" | "remove"),
            ("login" | "logout" | "whoami", _) => self.words.is_empty() && !self.has_other_target,
            _ => false,
        };
        if takes_servers {
            return self.servers();
        }
        // The values that are listed for an argument, such as the names of shells.
        command.get_positionals().nth(self.words.len()).map(listed_values).unwrap_or_default()
    }

    /// Returns the candidates for a word of a command that takes a server, such as `call`.
    fn words_with_server(&self, command: &str, last: &str) -> Vec<Candidate> {
        let (server, rest) = match (&self.server, self.has_other_target, self.words.split_first()) {
            (_, true, _) => return Vec::new(),
            (Some(server), ..) => (server.as_str(), self.words.as_slice()),
            (None, _, None) => {
                return match last.split_once("__").filter(|_| matches!(command, "call" | "tools")) {
                    Some((server, _)) => self.tools(server, &format!("{server}__")),
                    None => self.servers(),
                };
            }
            (None, _, Some((name, rest))) => match name.split_once("__") {
                Some((server, tool)) if command == "call" => return self.arguments(server, tool, rest, last),
                Some(_) => return Vec::new(),
                None => (name.as_str(), rest),
            },
        };
        match (command, rest) {
            ("tools" | "call", []) => self.tools(server, ""),
            ("call", [tool, given @ ..]) => self.arguments(server, tool, given, last),
            ("complete", []) => ["prompt", "resource"].map(|kind| candidate(kind, "")).into(),
            ("task", []) => ["get", "result", "cancel"].map(|action| candidate(action, "")).into(),
            _ => Vec::new(),
        }
    }

    /// Returns the candidates for an argument of a tool: its name with `=`, or after that the values that the schema lists.
    fn arguments(&self, server: &str, tool: &str, given: &[String], last: &str) -> Vec<Candidate> {
        let Some(tool) = self.known.tools(server).into_iter().find(|known| known.name == tool) else {
            return Vec::new();
        };
        let Some(root) = Node::of_schema(tool.input_schema.get()) else { return Vec::new() };
        let parameters = Parameters::new(&root);
        if let Some((name, _)) = last.split_once('=') {
            let Some(schema) = parameters.get(name) else { return Vec::new() };
            return parameters
                .listed_values(schema)
                .into_iter()
                .map(|value| candidate(&format!("{name}={value}"), ""))
                .collect();
        }
        let is_given = |name: &str| {
            given.iter().any(|word| word.split_once('=').is_some_and(|(given, _)| given.trim_end_matches(':') == name))
        };
        let free = parameters.properties().iter().filter(|(name, _)| !is_given(name));
        let described = free.map(|(name, schema)| {
            let description = schema.get("description").and_then(Node::as_str);
            let description = description.map(first_sentence).unwrap_or_default();
            let is_required = parameters.required().contains(name);
            let help = match (is_required, description.as_str()) {
                (true, _) => description,
                (false, "") => "optional".to_owned(),
                (false, description) => format!("optional: {description}"),
            };
            candidate(&format!("{name}="), &help)
        });
        described.collect()
    }

    fn options(&self) -> Vec<Candidate> {
        let shown = self.command().get_arguments().filter(|argument| !argument.is_hide_set());
        let named = shown.filter_map(|option| Some((option.get_long()?, option.get_help())));
        named.map(|(name, about)| candidate(&format!("--{name}"), &help(about))).collect()
    }

    fn servers(&self) -> Vec<Candidate> {
        self.known.servers().iter().map(|(name, help)| candidate(name, help)).collect()
    }

    /// Returns the tools of a server, with a prefix before their names.
    fn tools(&self, server: &str, prefix: &str) -> Vec<Candidate> {
        let help = |tool: &Tool| tool.description.as_deref().map(first_sentence).unwrap_or_default();
        self.known.tools(server).iter().map(|tool| candidate(&format!("{prefix}{}", tool.name), &help(tool))).collect()
    }
}

/// Returns the values that are listed for an option or another argument.
fn listed_values(argument: &Arg) -> Vec<Candidate> {
    let values = argument.get_possible_values();
    values.iter().map(|value| candidate(value.get_name(), &help(value.get_help()))).collect()
}

fn candidate(word: &str, help: &str) -> Candidate {
    Candidate { word: text::line(word), help: text::short(help, LONGEST_HELP) }
}

fn help(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| first_sentence(&help.to_string())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
