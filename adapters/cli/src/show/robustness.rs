//! Formats the report of a robustness test.

use std::io::{self, Write};

use mcpwire_testkit::robustness::{End, Finding, Repeat, Report, Severity};
use owo_colors::OwoColorize;

use super::{CommandLines, Layout, full_name};
use crate::text::{self, counted};

/// Maximum length of an input in the report, in characters. The command that repeats the finding has all of it.
const LONGEST_INPUT: usize = 200;
/// Maximum number of lines of the server's standard error for each finding.
const MOST_STDERR: usize = 5;
/// Maximum number of names of tools that were left out.
const MOST_NAMES: usize = 8;

/// Writes what a test has tried and found. `command` is the command line without options, to suggest others.
pub(crate) fn robustness(
    out: &mut impl Write,
    report: &Report,
    commands: &CommandLines<'_>,
    layout: Layout,
) -> io::Result<()> {
    let server = full_name(report.server.implementation.as_ref());
    writeln!(
        out,
        "{} ({}): {}, {} of {}, seed {}",
        server.bold(),
        report.server.protocol_version,
        counted(report.checks.len(), "protocol check"),
        counted(report.calls(), "call"),
        counted(report.tools.len(), "tool"),
        report.seed
    )?;
    for finding in &report.findings {
        writeln!(out)?;
        write_finding(out, finding, commands, layout)?;
    }
    writeln!(out)?;
    for tool in report.tools.iter().filter(|tool| tool.is_cut_short) {
        let name = text::name(&tool.name);
        writeln!(
            out,
            "`{name}` was not called any more after {}: it ended or hung the server too often.",
            counted(tool.calls, "call")
        )?;
    }
    let left_out: Vec<String> = report.left_out.iter().map(|name| text::name(name)).collect();
    if !left_out.is_empty() {
        let more = if left_out.len() > MOST_NAMES { ", ..." } else { "" };
        let names = left_out[..left_out.len().min(MOST_NAMES)].join(", ");
        let count = counted(left_out.len(), "tool");
        writeln!(
            out,
            "Left out, without `readOnlyHint: true`: {count} ({names}{more}). To call all tools: --all; one tool: --tool NAME."
        )?;
    }
    match report.end {
        End::OutOfTime => writeln!(out, "The time was over before all calls were made; --time allows more.")?,
        End::ServerGone => writeln!(out, "The server could not be started again, so the test ended early.")?,
        End::Stopped => writeln!(out, "The test was interrupted.")?,
        _ => {}
    }
    let failures = report.findings.iter().filter(|finding| finding.severity == Severity::Failure).count();
    let remarks = report.findings.len() - failures;
    match (failures, remarks) {
        (0, 0) => writeln!(out, "{}", "Nothing found.".green()),
        (0, _) => writeln!(out, "{}, {}.", "No failures".green(), counted(remarks, "remark")),
        _ => writeln!(out, "{}, {}.", counted(failures, "failure").red().bold(), counted(remarks, "remark")),
    }
}

fn write_finding(
    out: &mut impl Write,
    finding: &Finding,
    commands: &CommandLines<'_>,
    layout: Layout,
) -> io::Result<()> {
    let kind = finding.kind;
    match finding.severity {
        Severity::Failure => write!(out, "{} ", format!("FAILURE {kind}:").red().bold())?,
        Severity::Remark => write!(out, "{} ", format!("remark {kind}:").yellow())?,
    }
    let more =
        if finding.more > 0 { format!(" (and {})", counted(finding.more, "similar input")) } else { String::new() };
    writeln!(out, "{}{more}", text::line(&finding.what))?;
    if let Repeat::Call { arguments, .. } = &finding.repeat {
        writeln!(out, "  input:  {}", text::short(&text::json_for_terminals(arguments.get()), LONGEST_INPUT))?;
    }
    writeln!(out, "  why:    {}", text::wrap(finding.why, layout.width, 10, 10))?;
    let first = finding.stderr.len().saturating_sub(MOST_STDERR);
    for line in &finding.stderr[first..] {
        writeln!(out, "  stderr: {}", text::short(line, LONGEST_INPUT).dimmed())?;
    }
    if !finding.is_repeatable {
        writeln!(out, "  It did not happen again with the same input: it depends on earlier messages, or on chance.")?;
    }
    match commands.repeat(finding) {
        Some(command) => writeln!(out, "  repeat: {}", command.cyan()),
        None => writeln!(
            out,
            "  repeat: mcpwire test with --seed and the same options; the input is too long for a command"
        ),
    }
}
