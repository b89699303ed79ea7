//! `bad-habits HABIT [ARGUMENT] [--modern] [--mark=TEXT]`: an MCP server on standard input and output that has one bad
//! habit, for tests of what a client does about it.
//!
//! It shares no code with the client: its JSON is written and read by hand, so that a mistake in the client's idea of
//! the protocol cannot hide behind the same mistake here. The servers speak 2025-11-25, or with `--modern` 2026-07-28.
//! What a habit does not touch is [`Manners`]' well-behaved default. `--mark` means nothing to the server: a test finds
//! the process, and those that it starts, by it.
//!
//! [`HABITS`] says which habits there are; `bad-habits --list` prints their words.

mod answers;
mod calls;
mod json;
mod noise;
mod processes;
mod server;
mod silence;
mod tools;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;
mod wire;

use std::env;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use crate::server::{Manners, WellBehaved};
use crate::wire::Wire;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

/// One row of the table of habits.
struct Habit {
    word: &'static str,
    argument: &'static str,
    what: &'static str,
    begin: fn(&Arguments) -> Box<dyn Manners>,
}

const fn habit(
    word: &'static str,
    argument: &'static str,
    what: &'static str,
    begin: fn(&Arguments) -> Box<dyn Manners>,
) -> Habit {
    Habit { word, argument, what, begin }
}

#[rustfmt::skip]
const HABITS: &[Habit] = &[
    habit("well-behaved", "", "none at all", |_| Box::new(WellBehaved)),

    // Silence.
    habit("silent", "", "reads everything, never answers", |_| Box::new(silence::Silent)),
    habit("silent-on-probe", "", "ignores server/discover, answers initialize", |_| Box::new(silence::SilentOnProbe)),
    habit("slow", "MS", "answers a call after MS milliseconds; `steps` repeats the wait with progress before each",
        |a| Box::new(silence::Slow(a.number(100)))),
    habit("slow-start", "MS", "starts to read after MS milliseconds", |a| Box::new(silence::SlowStart(a.number(100)))),
    habit("never-reads", "", "never looks at its standard input", |_| Box::new(silence::NeverReads)),
    habit("stops-reading", "", "reads nothing more once the client has its tools", |_| Box::new(silence::StopsReading)),
    habit("chatters", "", "answers a call with log messages for ever, never with a result",
        |_| Box::new(silence::Chatters)),

    // Noise.
    habit("garbage", "", "lines of random bytes before and between messages", |_| Box::new(noise::Garbage::default())),
    habit("noise", "", "a banner, blank lines, JSON that is no message, before and between messages",
        |_| Box::new(noise::Noise)),
    habit("crlf", "", "a byte order mark at the start, lines that end in CR LF", |_| Box::new(noise::CarriageReturns)),
    habit("floods-stderr", "BYTES", "writes BYTES to standard error before each answer to a call",
        |a| Box::new(noise::FloodsStderr(a.number(1 << 20)))),
    habit("last-words", "N", "writes N lines to standard error at the end of its standard input, then exits",
        |a| Box::new(noise::LastWords(a.number(10)))),
    habit("floods-notifications", "N", "sends N log messages and N progress notifications before each answer to a call",
        |a| Box::new(noise::FloodsNotifications(a.number(1000)))),
    habit("terminal-escapes", "", "escape sequences in names, results, errors and on standard error",
        |_| Box::new(noise::TerminalEscapes)),

    // Size.
    habit("huge", "BYTES", "a result of BYTES bytes in one line; the argument `bytes` chooses another size",
        |a| Box::new(noise::Huge(a.number(1 << 20)))),
    habit("endless-line", "BYTES", "a line of BYTES bytes; the tool says whether it ends and where its id is",
        |a| Box::new(noise::EndlessLine(a.number(1 << 20)))),
    habit("deep-nesting", "N", "a result with arrays nested N deep, in the place that the tool names",
        |a| Box::new(noise::DeepNesting(a.number(1000)))),
    habit("both-pipes-full", "BYTES", "once the client has its tools, writes BYTES of notifications before it reads on",
        |a| Box::new(noise::BothPipesFull(a.number(1 << 20)))),

    // Death.
    habit("exits", "CODE", "exits with CODE at once, after a word on standard error",
        |a| Box::new(processes::Exits(a.code()))),
    habit("dies-in-call", "CODE|KILL", "dies in the middle of a call, after some lines on standard error",
        |a| Box::new(processes::DiesInCall(a.end()))),
    habit("dies-mid-line", "", "exits in the middle of the line that would answer a call",
        |_| Box::new(processes::DiesMidLine)),
    habit("dies-after-call", "CODE|KILL", "answers a call, then dies", |a| Box::new(processes::DiesAfterCall(a.end()))),
    habit("dies-on-probe", "", "exits when it sees server/discover, serves initialize properly",
        |_| Box::new(processes::DiesOnProbe)),
    habit("error-then-dies-on-probe", "", "the same, after an error in answer to server/discover",
        |_| Box::new(processes::ErrorThenDiesOnProbe)),
    habit("closes-stdin", "", "closes its standard input, answers a call, and lives on",
        |_| Box::new(processes::ClosesStdin)),
    habit("closes-stdout", "", "closes its standard output in a call, and lives on", |_| Box::new(processes::ClosesStdout)),

    // Processes.
    habit("ignores-eof", "", "stays after the end of its standard input", |_| Box::new(processes::IgnoresEof)),
    habit("ignores-term", "", "stays after the end of its standard input and after SIGTERM",
        |a| Box::new(processes::IgnoresTerm(a.clone()))),
    habit("own-session", "", "moves to a session of its own, and never looks at its standard input",
        |_| Box::new(processes::OwnSession)),
    habit("grandchild", "HABIT", "starts a process of that habit that holds its standard output and error, and outlives it",
        |a| Box::new(processes::Grandchild::new(a))),

    // Answers.
    habit("foreign-ids", "", "answers requests that nobody made, and sends ids back as floats or as strings",
        |_| Box::new(answers::ForeignIds)),
    habit("batch", "", "answers in JSON arrays, together with notifications", |_| Box::new(answers::Batch)),
    habit("late-replies", "", "answers a call only after it was cancelled",
        |_| Box::new(answers::LateReplies::default())),
    habit("echo-unknown", "", "answers `{}` to every method that it does not know, server/discover among them",
        |_| Box::new(answers::EchoUnknown)),
    habit("nameless-errors", "", "errors that do not say which request they answer",
        |_| Box::new(answers::NamelessErrors)),
    habit("gathers", "", "keeps calls until it is told to answer them, and answers them in disorder",
        |_| Box::new(calls::Gathers::default())),
    habit("asks", "", "asks the client for things in a call, with ids that collide with the client's own",
        |_| Box::new(calls::Asks::default())),
    habit("rounds", "", "wants input before it answers; the tool says how often and for what",
        |_| Box::new(calls::Rounds)),
    habit("tasks", "", "makes tasks of calls, and finds them again in another process",
        |_| Box::new(calls::Tasks::default())),
    habit("malformed-responses", "", "a malformed response, of the kind that the tool names",
        |_| Box::new(answers::MalformedResponses)),
    habit("not-utf8", "", "text that is not Unicode, of the kind that the tool names",
        |_| Box::new(answers::NotUtf8)),
    habit("unknown-blocks", "", "content types and annotation values that no revision knows",
        |_| Box::new(answers::UnknownBlocks)),

    // Tools and versions.
    habit("bad-tools", "", "malformed tools among good ones", |_| Box::new(tools::BadTools)),
    habit("changing-tools", "", "a list of one tool, which is another after each call",
        |_| Box::new(tools::ChangingTools::default())),
    habit("changes", "HOW", "tells of changes to those who subscribe; `ends` ends subscriptions at once, `silent` ignores them",
        |a| Box::new(tools::Changes::new(a.text("")))),
    habit("pages", "N", "N tools, each on a page of its own", |a| Box::new(tools::Pages(a.number(3)))),
    habit("circular-pages", "N", "the same, and after the last comes the first again",
        |a| Box::new(tools::CircularPages(a.number(3)))),
    habit("endless-pages", "", "a list of tools whose pages never end", |_| Box::new(tools::EndlessPages)),
    habit("versions", "REVISION,..|none", "speaks these revisions only, whatever the client offers",
        |a| Box::new(tools::Versions(a.text("none")))),
    habit("refuses-handshake", "", "answers initialize with an error", |_| Box::new(tools::Refuses)),
];

fn main() -> ExitCode {
    let arguments = Arguments::of_process();
    if arguments.habit == "--list" {
        for habit in HABITS {
            println!("{}\t{}\t{}", habit.word, habit.argument, habit.what);
        }
        return ExitCode::SUCCESS;
    }
    let Some(habit) = HABITS.iter().find(|habit| habit.word == arguments.habit) else {
        eprintln!("bad-habits: no habit is called {:?}; --list shows them", arguments.habit);
        return ExitCode::from(2);
    };
    let mut manners = (habit.begin)(&arguments);
    server::serve(manners.as_mut(), &mut Wire::of_process(arguments.modern));
    ExitCode::SUCCESS
}

/// The command line.
#[derive(Clone)]
struct Arguments {
    habit: String,
    argument: Option<String>,
    modern: bool,
    mark: Option<String>,
}

impl Arguments {
    fn of_process() -> Self {
        let mut words = Vec::new();
        let (mut modern, mut mark) = (false, None);
        for word in env::args().skip(1) {
            if word == "--modern" {
                modern = true;
            } else if word.starts_with("--mark=") {
                mark = Some(word);
            } else {
                words.push(word);
            }
        }
        let mut words = words.into_iter();
        Self { habit: words.next().unwrap_or_default(), argument: words.next(), modern, mark }
    }

    fn number(&self, default: usize) -> usize {
        self.argument.as_deref().and_then(|word| word.parse().ok()).unwrap_or(default)
    }

    fn code(&self) -> i32 {
        self.argument.as_deref().and_then(|word| word.parse().ok()).unwrap_or(1)
    }

    fn text(&self, default: &str) -> String {
        self.argument.clone().unwrap_or_else(|| default.to_owned())
    }

    fn end(&self) -> processes::End {
        if self.argument.as_deref() == Some("KILL") { processes::End::Kill } else { processes::End::Exit(self.code()) }
    }
}

/// For ever, as far as a test can tell: longer than its watchdog. Not so long that a failed test leaves a process behind
/// for good.
const FOR_EVER: Duration = Duration::from_secs(600);

fn sleep_for_ever() {
    thread::sleep(FOR_EVER);
}
