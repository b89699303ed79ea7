//! `mcpwire shell`: reads commands from the terminal, with history and completion, and runs them with a hub that stays.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, IsTerminal as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use mcpwire_hub::layout::Layout;
use rustyline::completion::{Completer, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::background;
use super::completions::Stored;
use crate::args::{Args, Options, Place};
use crate::completion::candidates;
use crate::console::{Console, Interrupt};
use crate::failure::Failure;
use crate::hub::{find_configured, is_hub_running, layout};
use crate::text;

/// Maximum number of lines in the history.
const MOST_LINES: usize = 1_000;

/// Commands whose words begin with a server. In a shell of one server, they need no server.
const OF_A_SERVER: [&str; 13] = [
    "info",
    "tools",
    "call",
    "task",
    "resources",
    "read",
    "prompts",
    "prompt",
    "complete",
    "ping",
    "request",
    "listen",
    "test",
];

/// What the shell itself understands, beside the commands of this program.
const HELP: &str = "\
Each line is a command of mcpwire, without `mcpwire`: tools notes, call notes search query=tea, status.
use SERVER    name the server once: then tools, call search query=tea
              its notifications appear before the next prompt, unless the shell was started with --quiet
use           forget that server
help          this text; COMMAND --help explains a command
exit          leave, as Ctrl-D does";

/// Runs the shell until its end of input, or `exit`.
///
/// Each command is a process of its own, so that Ctrl-C ends the command and not the shell. The servers run in the hub, which the
/// shell starts if none is running.
pub(super) fn run(server: Option<&str>, place: &Place, options: &Options) -> Result<u8, Failure> {
    let layout = layout(place)?;
    let mut current = server.map(|name| configured_name(&layout, name)).transpose()?;
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let starts_hub = !is_hub_running(&layout);
    if starts_hub {
        background::start(place, &Options { quiet: true, ..options.clone() })?;
    }
    // Ctrl-C belongs to the command that runs. While a line is typed, the editor gets it as a key.
    Interrupt::install().leave_to_children();
    let mut editor = editor(&layout).map_err(|error| failed(&error))?;
    let history = layout.state().join("history.txt");
    let _ = editor.load_history(&history);
    let console = Console::new(options);
    let shows_notifications = io::stdin().is_terminal() && !options.quiet;
    if io::stdin().is_terminal() {
        console.note("`help` explains the shell, Tab completes, Ctrl-D leaves.");
    }
    let mut listener: Option<Listener> = None;
    loop {
        if let Some(listener) = &listener {
            listener.told.try_iter().for_each(|line| console.note(&line));
        }
        if listener.as_mut().is_none_or(|listener| !listener.is_at(current.as_deref())) {
            let wanted = current.as_deref().filter(|_| shows_notifications);
            listener = wanted.and_then(|server| Listener::start(&program, server, place));
        }
        let prompt = format!("{}> ", current.as_deref().map_or("mcpwire".to_owned(), text::name));
        if let Some(helper) = editor.helper_mut() {
            helper.server.clone_from(&current);
        }
        let line = match editor.readline(&prompt) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => continue,
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(failed(&error)),
        };
        let words = match shell_words::split(&line) {
            Ok(words) => words,
            Err(error) => {
                let _ = Failure::usage("line", format!("the line cannot be read: {error}")).report(false);
                continue;
            }
        };
        let Some(first) = words.first() else { continue };
        let _ = editor.add_history_entry(&line);
        match (first.as_str(), words.len()) {
            ("exit" | "quit", 1) => break,
            ("help", 1) => println!("{HELP}"),
            ("use", 1) => current = None,
            ("use", 2) => match configured_name(&layout, &words[1]) {
                Ok(name) => current = Some(name),
                Err(failure) => drop(failure.report(false)),
            },
            _ => {
                let mut command = command(&program, place, with_server(&words, current.as_deref()));
                // The command has reported its failure itself.
                command.status().map_err(|error| failed(&error))?;
            }
        }
    }
    let _ = editor.save_history(&history);
    drop(listener);
    if starts_hub {
        background::stop(place, &Options { quiet: true, ..options.clone() })?;
    }
    Ok(0)
}

/// Returns the command of this program with these words, and with the configuration of the shell.
fn command(program: &Path, place: &Place, words: impl IntoIterator<Item = String>) -> Command {
    let mut command = Command::new(program);
    command.args(words);
    if let Some(directory) = &place.config_dir {
        command.arg("--config-dir").arg(directory);
    }
    command
}

/// `mcpwire listen` for the server of the shell. Ctrl-C ends it with the command that runs; the shell starts it again.
struct Listener {
    server: String,
    process: Child,
    /// The lines that it has printed, to be shown before the next prompt, where they do not destroy a line that is typed.
    told: mpsc::Receiver<String>,
}

impl Listener {
    /// Returns `None` if the process cannot be started.
    fn start(program: &Path, server: &str, place: &Place) -> Option<Self> {
        let mut command = command(program, place, ["listen", "--quiet", "--server", server].map(str::to_owned));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().ok()?;
        let mut lines = BufReader::new(process.stdout.take()?).lines().map_while(Result::ok);
        let (sender, told) = mpsc::channel();
        let name = text::name(server);
        thread::spawn(move || lines.try_for_each(|line| sender.send(format!("[{name}] {line}"))));
        Some(Self { server: server.to_owned(), process, told })
    }

    /// Returns whether it listens to this server, and has not ended.
    fn is_at(&mut self, server: Option<&str>) -> bool {
        server == Some(&self.server) && matches!(self.process.try_wait(), Ok(None))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn configured_name(layout: &Layout, name: &str) -> Result<String, Failure> {
    Ok(find_configured(layout, name)?.name.trim().to_owned())
}

fn failed(error: &impl ToString) -> Failure {
    Failure::not_connected("shell", &format!("the shell cannot go on: {}", text::line(&error.to_string())))
}

/// Adds the server of the shell to the words of a command that takes a server, unless the words select one themselves.
fn with_server(words: &[String], server: Option<&str>) -> Vec<String> {
    let mut words = words.to_vec();
    let selects = |word: &String| {
        ["--server", "--url", "--demo", "--"].contains(&word.as_str())
            || word.starts_with("--server=")
            || word.starts_with("--url=")
    };
    if let Some(server) = server
        && OF_A_SERVER.contains(&words[0].as_str())
        && !words.iter().any(selects)
    {
        words.insert(1, format!("--server={server}"));
    }
    words
}

fn editor(layout: &Layout) -> rustyline::Result<Editor<ShellHelper, DefaultHistory>> {
    let config = Config::builder()
        .completion_type(CompletionType::List)
        .max_history_size(MOST_LINES)?
        .auto_add_history(false)
        .build();
    let mut editor = Editor::with_config(config)?;
    editor.set_helper(Some(ShellHelper { layout: layout.clone(), server: None }));
    Ok(editor)
}

/// Completes the lines of the shell as the scripts of other shells do.
struct ShellHelper {
    layout: Layout,
    server: Option<String>,
}

impl Completer for ShellHelper {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let begun = &line[..at];
        let start = begun.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let Ok(mut words) = shell_words::split(&begun[..start]) else { return Ok((start, Vec::new())) };
        words.push(begun[start..].to_owned());
        if words.len() > 1 {
            words = with_server(&words, self.server.as_deref());
        }
        let found = candidates(Args::definition(), &words, &Stored { layout: Some(self.layout.clone()) });
        let pairs = found.into_iter().map(|candidate| {
            let end = if candidate.word.ends_with('=') { "" } else { " " };
            Pair { display: candidate.word.clone(), replacement: format!("{}{end}", text::word(&candidate.word)) }
        });
        Ok((start, pairs.collect()))
    }
}

impl Hinter for ShellHelper {
    type Hint = String;
}

impl Highlighter for ShellHelper {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }
}

impl Validator for ShellHelper {}

impl Helper for ShellHelper {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_of_a_server_get_the_server_of_the_shell() {
        let line = |line: &str, server| with_server(&shell_words::split(line).unwrap(), server).join(" ");
        assert_eq!(line("call add a=1", Some("calc")), "call --server=calc add a=1");
        assert_eq!(line("tools", Some("calc")), "tools --server=calc");
        assert_eq!(line("tools --server notes", Some("calc")), "tools --server notes");
        assert_eq!(line("info --demo", Some("calc")), "info --demo");
        assert_eq!(line("status", Some("calc")), "status");
        assert_eq!(line("call calc add", None), "call calc add");
    }
}
