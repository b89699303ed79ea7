//! `mcpwire test`: tests a server with generated calls and misuse of the protocol.

use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, Write as _};
use std::time::Duration;

use mcpwire_hub::redact::Redactor;
use mcpwire_testkit::robustness::{End, Report, RobustnessError, RobustnessTest};
use mcpwire_tokio::protocol::Json;
use serde_json::Value;

use crate::args::{Options, Stderr, Target, TestPlan};
use crate::console::{Console, Interrupt, output};
use crate::failure::{FINDINGS, Failure, INTERRUPTED};
use crate::session::Definition;
use crate::show::{self, CommandLines, Layout};
use crate::text;

/// Maximum time to wait for an answer without `--timeout`.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Upper limit of the seeds that are chosen without `--seed`, so that they are easy to type.
const SEEDS: u64 = 1_000_000;

/// Tests a server, and prints the report.
pub(super) fn run(plan: &TestPlan, target: &Target, options: &Options) -> Result<u8, Failure> {
    reject_options(target, options)?;
    let Definition { server, redactor, .. } = Definition::new(target, options)?;
    let (console, interrupt) = (Console::new(options), Interrupt::install());
    console.hide(&redactor);
    console.start("connecting");
    let timeout = options.timeout.unwrap_or(TIMEOUT);
    let mut test = RobustnessTest::new(&server)
        .seed(plan.seed.unwrap_or_else(|| RandomState::new().hash_one(0) % SEEDS))
        .negotiate(options.protocol)
        .calls(plan.calls)
        .time(plan.time)
        .timeout(timeout)
        .tools(&plan.tools)
        .on_progress(|step| console.update(step))
        .stop_when(|| interrupt.was_pressed());
    if plan.all {
        test = test.all_tools();
    }
    let report = test.run();
    console.finish();
    let mut report = report.map_err(|error| failure(&error, options).redacted(&redactor))?;
    if options.stderr == Stderr::Hide {
        report.findings.iter_mut().for_each(|finding| finding.stderr.clear());
    }
    let commands = CommandLines { target, options, server: &server, timeout, opening: &report.opening };
    if options.json {
        output::json(&document(&report, &commands, &redactor)?)?;
    } else {
        let mut page = Vec::new();
        show::robustness(&mut page, &report, &commands, Layout::of_stdout())
            .map_err(|error| Failure::output(&error))?;
        let page = redactor.redact(&String::from_utf8_lossy(&page));
        output::page(|out| out.write_all(page.as_bytes()))?;
    }
    Ok(match report.end {
        End::Stopped => INTERRUPTED,
        _ if report.has_failures() => FINDINGS,
        _ => 0,
    })
}

/// Returns an error for options that have no effect here.
fn reject_options(target: &Target, options: &Options) -> Result<(), Failure> {
    if target.url.is_some() {
        let why = "a test starts the server, and again after a crash: use -- COMMAND or a configured command";
        return Err(Failure::usage("url", why));
    }
    let has_no_effect = [
        ("trace", options.trace.is_some()),
        ("answers", options.answers.is_some()),
        ("root", !options.roots.is_empty()),
        ("max-message", options.max_message.is_some()),
    ];
    match has_no_effect.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Failure::usage(name, format!("--{name} has no effect on mcpwire test"))),
        None => Ok(()),
    }
}

/// Returns the report as JSON, with the command that repeats each finding, and without secrets.
fn document(report: &Report, commands: &CommandLines<'_>, redactor: &Redactor) -> Result<Json, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::output(&io::Error::other(error.to_string()));
    let mut document = serde_json::to_value(report).map_err(|error| failed(&error))?;
    for (place, finding) in document["findings"].as_array_mut().into_iter().flatten().zip(&report.findings) {
        place["command"] = commands.repeat(finding).map_or(Value::Null, Value::from);
    }
    Json::parse(redactor.redact(&document.to_string())).map_err(|error| failed(&error))
}

fn failure(error: &RobustnessError, options: &Options) -> Failure {
    match error {
        RobustnessError::Spawn(error) => Failure::from_spawn(error),
        RobustnessError::NoTool(name) => Failure::no_tool(None, name),
        RobustnessError::Stopped => Failure::interrupted(),
        RobustnessError::NotOpened(_, stderr) if !stderr.is_empty() && options.stderr != Stderr::Hide => {
            let stderr: Vec<String> = stderr.iter().map(|line| text::line(line)).collect();
            Failure::not_connected("connection", &format!("{error}; its stderr ends with: {}", stderr.join("\n")))
        }
        _ => Failure::not_connected("connection", &error.to_string()),
    }
}
