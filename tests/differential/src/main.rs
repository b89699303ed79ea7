//! Prints what the engine does with an input of a fuzz target: what it sends and reports, when it wants to be woken, what it counts,
//! and how the connection ends. Two builds of the engine can be compared by what they print: see `run`.
//!
//! ```text
//! mcpwire-differential TARGET FILE...   prints a JSON object for each step, one a line
//! mcpwire-differential                  reads inputs from the standard input, and answers each with a hash of what it would print
//! ```
//!
//! On the standard input, an input is the number of its target (one byte), its length (four bytes, the lowest first) and its bytes.
//! The answer is a hash (eight bytes), the number of lines, the number of features (four bytes each), and these features (four bytes
//! each): see [`features`].
//!
//! An object has one member, whose name says what the line is:
//!
//! | name | content |
//! |---|---|
//! | `do` | what the caller or the server does next, as the input says |
//! | `sent` | a message that the engine sends, as it is written |
//! | `http` | an HTTP exchange that the engine starts or gives up |
//! | `header` | a header of that exchange |
//! | `event` | an event, a reply as it is decoded, or an error; the numbers of requests are those in which they first occurred |
//! | `state` | phase, requests in flight, deadline and statistics, if they have changed |
//! | `text` | the text of an error |
//! | `broken` | a promise of the engine that does not hold: the input ends here |
//!
//! Time is simulated, and nothing depends on addresses, threads or the order of hash maps.

// The tests and the fuzzer use more of these files.
#[allow(dead_code)]
mod fuzz;

use std::collections::BTreeSet;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs};

use serde::Serialize;
use serde_json::value::RawValue;

use self::fuzz::trace::Trace;

/// Plays an input, and adds what happens to the trace.
type Target = fn(&[u8], &Trace);

/// The targets. `run` knows them by their positions.
const TARGETS: [(&str, Target); 8] = [
    ("operations", fuzz::operations::run),
    ("exchange", fuzz::exchange::run),
    ("http", fuzz::http::run),
    ("chunks", fuzz::cuts::chunks),
    ("envelope", fuzz::messages::envelope),
    ("sse", fuzz::cuts::events),
    ("tools", fuzz::messages::tools),
    ("content", fuzz::content::run),
];

fn main() -> ExitCode {
    let player = Player::new();
    let mut arguments = env::args().skip(1);
    let done = match arguments.next() {
        None => answer_all(&player),
        Some(target) => print_all(&player, &target, arguments),
    };
    done.map_or_else(
        |error| {
            eprintln!("mcpwire-differential: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn print_all(player: &Player, target: &str, files: impl Iterator<Item = String>) -> io::Result<()> {
    let names = TARGETS.map(|(name, _)| name);
    let target = names.iter().position(|name| *name == target);
    let target = target.ok_or_else(|| io::Error::other(format!("the targets are {}", names.join(", "))))?;
    let mut output = BufWriter::new(io::stdout().lock());
    for file in files {
        let input = fs::read(&file).map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
        output.write_all(player.play(target, &input).as_bytes())?;
    }
    output.flush()
}

fn answer_all(player: &Player) -> io::Result<()> {
    let (mut input, mut output) = (BufReader::new(io::stdin().lock()), BufWriter::new(io::stdout().lock()));
    let mut target = [0];
    while input.read(&mut target)? > 0 {
        let mut length = [0; 4];
        input.read_exact(&mut length)?;
        let mut bytes = vec![0; usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?];
        input.read_exact(&mut bytes)?;
        let lines = player.play(usize::from(target[0]) % TARGETS.len(), &bytes);
        output.write_all(&hash(lines.as_bytes()).to_le_bytes())?;
        let features = features(&lines);
        for number in [lines.lines().count(), features.len()] {
            output.write_all(&u32::try_from(number).map_err(io::Error::other)?.to_le_bytes())?;
        }
        for feature in features {
            output.write_all(&feature.to_le_bytes())?;
        }
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()
}

/// FNV-1a. The same in each build, whatever the compiler.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns a number for each kind of line that follows another kind of line. An input with numbers that no other input had does
/// something new, and is worth changing further.
fn features(lines: &str) -> BTreeSet<u32> {
    let mut before = 0_u64;
    lines
        .lines()
        .map(|line| {
            // The letters at the beginning: numbers and data are not of interest.
            let has_data = line.starts_with("{\"do\"") || line.starts_with("{\"event\":\"noise");
            let beginning = line.bytes().take(if has_data { 16 } else { 60 }).take_while(|byte| *byte != b'\\');
            let letters = beginning.filter(u8::is_ascii_alphabetic);
            let kind = hash(&letters.collect::<Vec<u8>>());
            let pair = hash(&[kind.to_le_bytes(), before.to_le_bytes()].concat());
            before = kind;
            (pair >> 32) as u32
        })
        .collect()
}

/// Plays inputs, and keeps the message of the last panic.
struct Player(Arc<Mutex<String>>);

impl Player {
    fn new() -> Self {
        let message = Arc::new(Mutex::new(String::new()));
        let shared = Arc::clone(&message);
        // Not where it was: code moves.
        panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
            *shared.lock().unwrap_or_else(PoisonError::into_inner) = text.unwrap_or("a panic without a message").into();
        }));
        Player(message)
    }

    /// Returns the lines of an input.
    fn play(&self, target: usize, input: &[u8]) -> String {
        let trace = Trace::on();
        let is_kept = panic::catch_unwind(AssertUnwindSafe(|| TARGETS[target].1(input, &trace))).is_ok();
        let mut lines: String = trace.take().lines().map(json_line).collect();
        if !is_kept {
            lines.push_str(&object("broken", &*self.0.lock().unwrap_or_else(PoisonError::into_inner)));
        }
        lines
    }
}

/// Turns a line of a trace into an object.
fn json_line(line: &str) -> String {
    let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
    match word {
        ">" => object("do", rest),
        "sent" => sent(rest),
        "start" => match line.split_once(": ") {
            Some((exchange, "")) => object("http", exchange),
            Some((exchange, body)) => object("http", exchange) + &sent(body),
            None => object("http", line),
        },
        "abort" => object("http", line),
        "with" => object("header", rest),
        "=" => object("state", rest),
        "says" => object("text", rest),
        _ => object("event", line),
    }
}

/// A message is written as it is, if it is JSON.
fn sent(message: &str) -> String {
    match serde_json::from_str::<&RawValue>(message) {
        Ok(json) => object("sent", json),
        Err(_) => object("sent", message),
    }
}

/// Writes an object with one member, and ends the line.
fn object<T: Serialize + ?Sized>(name: &str, value: &T) -> String {
    let value = serde_json::to_string(value).unwrap_or_else(|error| format!("\"{error}\""));
    format!("{{\"{name}\":{value}}}\n")
}
