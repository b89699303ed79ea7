//! Says what a fuzz target does and sees, line by line.
//!
//! ```text
//! cargo run -p mcpwire-engine-tests --bin trace -- TARGET FILE...
//! ```
//!
//! Without files it reads inputs from its standard input, each behind its length as four bytes, the lowest first, and answers
//! each with its trace in the same form. So two builds of the engine can be compared input by input. An input that breaks a
//! promise ends with a line that says which; with files, the exit status is 1 then. In any other case of error it is 2.

use std::io::{self, BufReader, BufWriter, Read, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::{env, fs};

use mcpwire_engine_tests::fuzz::trace::Trace;
use mcpwire_engine_tests::fuzz::{TARGETS, Target, target};

fn main() -> ExitCode {
    let mut arguments = env::args().skip(1);
    let name = arguments.next().unwrap_or_default();
    let Some(target) = target(&name) else {
        let names = TARGETS.map(|(name, _)| name).join(", ");
        eprintln!("usage: trace TARGET [FILE...], where TARGET is one of: {names}");
        return ExitCode::from(2);
    };
    let broken = Arc::new(Mutex::new(String::new()));
    let shared = Arc::clone(&broken);
    panic::set_hook(Box::new(move |info| {
        let payload = info.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
        *shared.lock().unwrap_or_else(PoisonError::into_inner) = text.unwrap_or("a panic without words").into();
    }));
    let play = |input: &[u8]| play(target, input, &broken);
    let files: Vec<String> = arguments.collect();
    let done = if files.is_empty() { answer(play) } else { show(&files, play) };
    done.unwrap_or_else(|error| {
        eprintln!("trace: {error}");
        ExitCode::from(2)
    })
}

/// The trace of one input, and whether it breaks no promise.
fn play(target: Target, input: &[u8], broken: &Mutex<String>) -> (String, bool) {
    let trace = Trace::on();
    let kept = panic::catch_unwind(AssertUnwindSafe(|| target(input, &trace))).is_ok();
    if !kept {
        let what = broken.lock().unwrap_or_else(PoisonError::into_inner);
        trace.line(format_args!("broken promise: {what}"));
    }
    (trace.take(), kept)
}

fn show(files: &[String], play: impl Fn(&[u8]) -> (String, bool)) -> io::Result<ExitCode> {
    let mut all_kept = true;
    for file in files {
        let input = fs::read(file).map_err(|error| io::Error::new(error.kind(), format!("{file}: {error}")))?;
        let (trace, kept) = play(&input);
        print!("{trace}");
        all_kept &= kept;
    }
    Ok(if all_kept { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn answer(play: impl Fn(&[u8]) -> (String, bool)) -> io::Result<ExitCode> {
    let (mut input, mut output) = (BufReader::new(io::stdin().lock()), BufWriter::new(io::stdout().lock()));
    let mut length = [0; 4];
    while input.read(&mut length[..1])? > 0 {
        input.read_exact(&mut length[1..])?;
        let mut bytes = vec![0; usize::try_from(u32::from_le_bytes(length)).map_err(io::Error::other)?];
        input.read_exact(&mut bytes)?;
        let (trace, _) = play(&bytes);
        output.write_all(&u32::try_from(trace.len()).map_err(io::Error::other)?.to_le_bytes())?;
        output.write_all(trace.as_bytes())?;
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    output.flush()?;
    Ok(ExitCode::SUCCESS)
}
