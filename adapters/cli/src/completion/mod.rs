//! Completes a command line for a shell: commands, options, servers, tools, arguments and their values.
//!
//! The script of each shell (`mcpwire completions`) calls this program with the words that the user has typed. The servers come from
//! `servers.json`, and their tools from the lists that the hub has stored, so no server is started.

mod scripts;

use clap::{Arg, Command};
use mcpwire_tokio::protocol::Tool;

pub(crate) use self::scripts::script;
use crate::schema::{Node, Parameters};
use crate::show::first_sentence;
use crate::text;

/// Maximum length of the description of a candidate, in characters.
const LONGEST_HELP: usize = 80;

/// Commands whose first word is a server, unless an option selects the server.
const WITH_SERVER: [&str; 12] = [
    "info",
    "tools",
    "call",
    "resources",
    "read",
    "prompts",
    "prompt",
    "complete",
    "ping",
    "listen",
    "test",
    "generate",
];

/// A word that may stand at the end of the command line, with its description.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub(crate) word: String,
    pub(crate) help: String,
}

/// The configured servers and their tools, as they were stored.
pub(crate) trait Known {
    /// Returns the name of each configured server, with a description.
    fn servers(&mut self) -> Vec<(String, String)>;

    /// Returns the tools that a server had when it ran last.
    fn tools(&mut self, server: &str) -> Vec<Tool>;
}

/// Returns the candidates for the last of the words. `words` are the words after the program's name, and the last one may be empty
/// or only begun.
pub(crate) fn candidates(definition: &Command, words: &[String], known: &mut dyn Known) -> Vec<Candidate> {
    let (last, before) = words.split_last().map_or(("", words), |(last, before)| (last.as_str(), before));
    let line = Line::read(definition, before);
    let mut candidates = match &line.awaited {
        Awaited::Nothing => Vec::new(),
        Awaited::Value(option) => values(option, known),
        Awaited::Word if last.starts_with('-') => options(&line),
        Awaited::Word => line.words(last, known),
    };
    candidates.retain(|candidate| candidate.word.starts_with(last));
    candidates.sort();
    candidates.dedup();
    candidates
}

/// What a begun command line says so far.
struct Line<'d> {
    root: &'d Command,
    /// The command and its subcommand, such as `server` and `enable`.
    commands: Vec<&'d Command>,
    /// The words that are no options.
    words: Vec<String>,
    /// The configured server of `--server`.
    server: Option<String>,
    /// Whether an option selects a server that is not configured.
    has_other_target: bool,
    awaited: Awaited<'d>,
}

/// What the next word of a command line is.
enum Awaited<'d> {
    /// The value of this option.
    Value(&'d Arg),
    Word,
    /// An argument of the server's own command, after `--`.
    Nothing,
}

impl<'d> Line<'d> {
    fn read(root: &'d Command, words: &[String]) -> Self {
        let mut line = Line {
            root,
            commands: Vec::new(),
            words: Vec::new(),
            server: None,
            has_other_target: false,
            awaited: Awaited::Word,
        };
        for word in words {
            match line.awaited {
                Awaited::Nothing => break,
                Awaited::Value(option) => {
                    line.set(option, word);
                    line.awaited = Awaited::Word;
                }
                Awaited::Word if word == "--" => line.awaited = Awaited::Nothing,
                Awaited::Word if word.starts_with('-') && word.len() > 1 => line.read_option(word),
                Awaited::Word => match line.command().find_subcommand(word).filter(|_| line.words.is_empty()) {
                    Some(command) => line.commands.push(command),
                    None => line.words.push(word.clone()),
                },
            }
        }
        line
    }

    fn command(&self) -> &'d Command {
        self.commands.last().copied().unwrap_or(self.root)
    }

    /// Returns the options of the command, and those of all commands.
    fn all_options(&self) -> impl Iterator<Item = &'d Arg> + use<'d> {
        let global = self.root.get_arguments().filter(|option| option.is_global_set());
        let parents: Vec<&'d Command> = self.commands.iter().rev().skip(1).copied().collect();
        let inherited =
            parents.into_iter().flat_map(|command| command.get_arguments().filter(|option| option.is_global_set()));
        self.command().get_arguments().chain(inherited).chain(global).filter(|option| !option.is_positional())
    }

    fn read_option(&mut self, word: &str) {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let is_it = |option: &&Arg| match name.strip_prefix("--") {
            Some(long) => option.get_long() == Some(long),
            None => option.get_short().is_some_and(|short| name.chars().nth(1) == Some(short)),
        };
        let Some(option) = self.all_options().find(is_it) else { return };
        match value {
            _ if !option.get_action().takes_values() => self.set(option, ""),
            Some(value) => self.set(option, value),
            None => self.awaited = Awaited::Value(option),
        }
    }

    /// Notes what an option says about the server.
    fn set(&mut self, option: &Arg, value: &str) {
        match option.get_id().as_str() {
            "configured" => self.server = Some(value.to_owned()),
            "demo" | "url" => self.has_other_target = true,
            _ => {}
        }
    }

    /// Returns the candidates for a word that is no option.
    fn words(&self, last: &str, known: &mut dyn Known) -> Vec<Candidate> {
        let command = self.command();
        if self.words.is_empty() && command.has_subcommands() {
            let shown = command.get_subcommands().filter(|command| !command.is_hide_set());
            return shown.map(|command| candidate(command.get_name(), &help(command.get_about()))).collect();
        }
        let Some(first) = self.commands.first().map(|command| command.get_name()) else { return Vec::new() };
        if WITH_SERVER.contains(&first) || matches!(first, "task" | "request") {
            return self.words_with_server(first, last, known);
        }
        let takes_servers = match (first, self.commands.get(1).map(|command| command.get_name())) {
            ("server", Some("add" | "import" | "list" | "doctor")) => false,
            ("server" | "secret", Some(_)) => {
                self.words.is_empty() || matches!(command.get_name(), "enable" | "disable" | "remove")
            }
            ("login" | "logout" | "whoami", _) => self.words.is_empty() && !self.has_other_target,
            _ => false,
        };
        if takes_servers { servers(known) } else { positional(command, self.words.len()) }
    }

    /// Returns the candidates for a word of a command that takes a server, such as `call`.
    fn words_with_server(&self, command: &str, last: &str, known: &mut dyn Known) -> Vec<Candidate> {
        let (server, rest) = match (&self.server, self.has_other_target, self.words.split_first()) {
            (_, true, _) => return Vec::new(),
            (Some(server), ..) => (server.clone(), self.words.as_slice()),
            (None, _, None) => {
                return match last.split_once("__").filter(|_| matches!(command, "call" | "tools")) {
                    Some((server, _)) => tools(server, &format!("{server}__"), known),
                    None => servers(known),
                };
            }
            (None, _, Some((name, rest))) => match name.split_once("__") {
                Some((server, tool)) => return self.arguments(server, tool, rest, last, known),
                None => (name.clone(), rest),
            },
        };
        match (command, rest) {
            ("tools" | "call", []) => tools(&server, "", known),
            ("call", [tool, given @ ..]) => self.arguments(&server, tool, given, last, known),
            ("complete", []) => ["prompt", "resource"].map(|kind| candidate(kind, "")).into(),
            ("task", []) => ["get", "result", "cancel"].map(|action| candidate(action, "")).into(),
            _ => Vec::new(),
        }
    }

    /// Returns the candidates for an argument of a tool: its name with `=`, or after that the values that the schema lists.
    fn arguments(
        &self,
        server: &str,
        tool: &str,
        given: &[String],
        last: &str,
        known: &mut dyn Known,
    ) -> Vec<Candidate> {
        if self.commands.first().is_none_or(|command| command.get_name() != "call") {
            return Vec::new();
        }
        let Some(tool) = known.tools(server).into_iter().find(|known| known.name == tool) else { return Vec::new() };
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
}

/// Returns the candidates for the value of an option.
fn values(option: &Arg, known: &mut dyn Known) -> Vec<Candidate> {
    if option.get_id() == "configured" {
        return servers(known);
    }
    let values = option.get_possible_values();
    values.iter().map(|value| candidate(value.get_name(), &help(value.get_help()))).collect()
}

/// Returns the values that are listed for a positional argument, such as the names of shells.
fn positional(command: &Command, index: usize) -> Vec<Candidate> {
    let argument = command.get_positionals().nth(index);
    let values = argument.map(Arg::get_possible_values).unwrap_or_default();
    values.iter().map(|value| candidate(value.get_name(), &help(value.get_help()))).collect()
}

fn options(line: &Line<'_>) -> Vec<Candidate> {
    let shown = line.all_options().filter(|option| !option.is_hide_set());
    shown.filter_map(|option| Some(candidate(&format!("--{}", option.get_long()?), &help(option.get_help())))).collect()
}

fn servers(known: &mut dyn Known) -> Vec<Candidate> {
    known.servers().iter().map(|(name, help)| candidate(name, help)).collect()
}

/// Returns the tools of a server, with a prefix before their names.
fn tools(server: &str, prefix: &str, known: &mut dyn Known) -> Vec<Candidate> {
    let help = |tool: &Tool| tool.description.as_deref().map(first_sentence).unwrap_or_default();
    known.tools(server).iter().map(|tool| candidate(&format!("{prefix}{}", tool.name), &help(tool))).collect()
}

fn candidate(word: &str, help: &str) -> Candidate {
    Candidate { word: text::line(word), help: text::short(help, LONGEST_HELP) }
}

fn help(help: Option<&clap::builder::StyledStr>) -> String {
    help.map(|help| first_sentence(&help.to_string())).unwrap_or_default()
}

#[cfg(test)]
mod tests;
