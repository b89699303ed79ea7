//! The words of a command line beside its options: which of them is the server, and what the others mean.
//!
//! | command | words |
//! |---|---|
//! | `info`, `ping`, `resources`, `prompts`, `listen`, `test`, `generate rust` | `SERVER` |
//! | `tools` | `[SERVER [TOOL]]` |
//! | `call` | `SERVER TOOL [ARGUMENT]...`, or `TOOL [ARGUMENT]...` for a tool of any configured server |
//! | `read` | `SERVER URI` |
//! | `prompt` | `SERVER NAME [ARGUMENT]...` |
//! | `complete` | `SERVER prompt\|resource NAME ARGUMENT [PREFIX]` |
//! | `task` | `SERVER get\|result\|cancel ID` |
//! | `request` | `SERVER METHOD [JSON]` |
//!
//! Without `SERVER` where `--server`, `--url`, `--demo` or `-- COMMAND` selects the server.

use super::target::Target;
use crate::failure::Failure;
use crate::text;

/// The words that a command takes after the server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    command: &'static str,
    required: &'static [&'static str],
    /// The names of optional words. `ARGUMENT...` stands for any number of words.
    optional: &'static [&'static str],
    /// Whether the command can do without a server. It then uses all configured servers.
    all_servers: bool,
}

const ARGUMENTS: &str = "[ARGUMENT]...";

impl Words {
    pub(crate) const TOOLS: Self = Self { optional: &["[TOOL]"], all_servers: true, ..Self::of("tools", &[]) };
    pub(crate) const CALL: Self = Self { optional: &[ARGUMENTS], ..Self::of("call", &["TOOL"]) };
    pub(crate) const READ: Self = Self::of("read", &["URI"]);
    pub(crate) const PROMPT: Self = Self { optional: &[ARGUMENTS], ..Self::of("prompt", &["NAME"]) };
    pub(crate) const COMPLETE: Self =
        Self { optional: &["[PREFIX]"], ..Self::of("complete", &["prompt|resource", "NAME", "ARGUMENT"]) };
    pub(crate) const TASK: Self = Self::of("task", &["get|result|cancel", "ID"]);
    pub(crate) const REQUEST: Self = Self { optional: &["[JSON]"], ..Self::of("request", &["METHOD"]) };

    /// The words of a command that takes only a server, such as `info`.
    pub(crate) const fn only_server(command: &'static str) -> Self {
        Self::of(command, &[])
    }

    const fn of(command: &'static str, required: &'static [&'static str]) -> Self {
        Self { command, required, optional: &[], all_servers: false }
    }

    /// Splits the words of a command line: the first one is the server, unless an option selects the server. Returns the target
    /// with the server, and the other words.
    ///
    /// # Errors
    /// If a word is missing, or if there are too many words.
    pub(crate) fn split<'w>(&self, target: &Target, words: &'w [String]) -> Result<(Target, &'w [String]), Failure> {
        let mut target = target.clone();
        let mut rest = words;
        if !target.is_selected() {
            match words.split_first() {
                Some((first, others)) if self.is_tool(first, others) => {}
                Some((first, others)) => {
                    self.reject_other_targets(first, others)?;
                    target.server = Some(first.clone());
                    rest = others;
                }
                None if self.all_servers => {}
                None => {
                    let none = self.required.first().map(|first| format!("neither SERVER nor {first} is given"));
                    return Err(self.wrong(none.as_deref().unwrap_or("no server is named"), true));
                }
            }
        }
        if let Some(missing) = self.required.get(rest.len()) {
            return Err(self.wrong(&format!("{missing} is missing"), !words.is_empty() && target.server.is_some()));
        }
        let most = self.required.len() + self.optional.len();
        if let Some(word) = rest.get(most).filter(|_| self.optional != [ARGUMENTS]) {
            return Err(self.wrong(&format!("unexpected argument: {}", text::short(word, 80)), target.server.is_some()));
        }
        Ok((target, rest))
    }

    /// Returns whether the first word is a tool and not a server: `SERVER__TOOL`, or the tool of a call without a further word that
    /// could be a tool.
    fn is_tool(&self, first: &str, others: &[String]) -> bool {
        let is_argument = |word: &String| word.starts_with(['{', '@']) || word == "-" || word.contains('=');
        match self.command {
            "call" => first.contains("__") || others.first().is_none_or(is_argument),
            "tools" => first.contains("__"),
            _ => false,
        }
    }

    /// Returns an error if the first word cannot be the name of a server, because it is a URL, or because too few words follow.
    fn reject_other_targets(&self, first: &str, others: &[String]) -> Result<(), Failure> {
        let command = self.command;
        if first.contains("://") && command != "read" {
            let hint = format!(
                "To use the server at this URL: mcpwire {command} --url {}",
                text::word(&text::url_without_query(first))
            );
            return Err(self.wrong("a URL is no name of a server", true).with_hint(hint));
        }
        if others.len() < self.required.len() {
            return Err(self.wrong("no server is named", true));
        }
        Ok(())
    }

    /// Creates the failure for wrong words, with the words that the command takes. `with_server` is false if an option selects the
    /// server.
    fn wrong(&self, message: &str, with_server: bool) -> Failure {
        let field = message.strip_suffix(" is missing").unwrap_or("command");
        let server = if with_server { ["SERVER"].as_slice() } else { &[] };
        let words: Vec<&str> = [server, self.required, self.optional].concat();
        let failure = Failure::usage(field, format!("{message}: mcpwire {} {}", self.command, words.join(" ")));
        if with_server {
            failure.with_hint(format!(
                "SERVER is the name of a configured server, see mcpwire server list. In its place: --demo, --url URL, or -- COMMAND at the end.\n\
                 Examples: mcpwire {} --help",
                self.command
            ))
        } else {
            failure
        }
    }
}
