//! [`Report`]: what a test has tried, and what it has found.

use std::fmt;

use mcpwire_driver::protocol::{Json, ServerInfo};
use serde::{Serialize, Serializer};

/// What a [`RobustnessTest`](super::RobustnessTest) has tried and found. Serializes as a JSON object.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// Name, version, protocol revision and capabilities of the server.
    pub server: ServerInfo,
    /// The seed of all generated arguments. A test with the same seed sends the same messages.
    pub seed: u64,
    /// The tools that were called, in the order of the server's list.
    pub tools: Vec<TestedTool>,
    /// Names of the tools that were not called, because they do not declare `readOnlyHint: true`.
    pub left_out: Vec<String>,
    /// Names of the protocol checks that were made.
    pub checks: Vec<&'static str>,
    /// The findings: first the failures, then the remarks.
    pub findings: Vec<Finding>,
    /// The messages that open a connection to this server, without line ends. [`Repeat::Lines`] follow them.
    #[serde(skip)]
    pub opening: Vec<Vec<u8>>,
    /// Why the test ended.
    pub end: End,
}

/// A tool, and how often it was called.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct TestedTool {
    /// The name of the tool.
    pub name: String,
    /// Number of calls, without those that make a finding smaller.
    pub calls: usize,
    /// Whether calls of this tool were ended early, because too many of them ended the server or got no answer.
    pub is_cut_short: bool,
}

/// Why a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum End {
    /// All planned messages were sent.
    Complete,
    /// The time of the test was over.
    OutOfTime,
    /// The program has stopped the test.
    Stopped,
    /// The server could not be started again.
    ServerGone,
}

/// Whether a finding breaks a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// The server has ended, does not answer, or breaks a MUST of its protocol revision.
    Failure,
    /// The server deviates from a SHOULD, or does something that its author probably does not want.
    Remark,
}

/// What kind of finding it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum FindingKind {
    /// The server has ended.
    Crash,
    /// A request got no answer in time.
    Hang,
    /// An answer breaks the rules of JSON-RPC or of the method.
    InvalidAnswer,
    /// A result does not match the tool's `outputSchema`.
    OutputSchema,
    /// Standard output contained something other than messages.
    Noise,
    /// The server answered a message that needs no answer, or a request twice.
    UnwantedAnswer,
    /// A tool accepted arguments that its `inputSchema` forbids.
    AcceptedInvalid,
    /// An error was reported as the wrong kind: a JSON-RPC error instead of a tool's error, or the reverse.
    ErrorKind,
    /// The server wrote a trace of an exception or a panic to standard error.
    Trace,
}

/// Something that the test has found, with the smallest input that shows it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Finding {
    /// Whether the finding breaks a rule.
    pub severity: Severity,
    /// The kind of the finding.
    pub kind: FindingKind,
    /// The tool that was called. `None` for a finding of a protocol check.
    pub tool: Option<String>,
    /// The protocol check. `None` for a finding of a tool call.
    pub check: Option<&'static str>,
    /// What happened, in one sentence.
    pub what: String,
    /// Why it matters, with the section of the specification.
    pub why: &'static str,
    /// How to make it happen again.
    pub repeat: Repeat,
    /// Whether it happened again with the same input. If not, it depends on what was sent before, or on chance.
    pub is_repeatable: bool,
    /// Number of other inputs of the test with the same kind of finding for the same tool.
    pub more: usize,
    /// The last lines that the server wrote to standard error, for kinds of findings that they may explain.
    pub stderr: Vec<String>,
}

/// The messages that show a finding.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Repeat {
    /// A call of a tool.
    Call {
        /// The name of the tool.
        tool: String,
        /// The arguments.
        arguments: Json,
    },
    /// A request.
    Request {
        /// The method.
        method: String,
        /// The parameters, without the `_meta` of the protocol.
        params: Option<Json>,
    },
    /// Lines on the standard input of the server, after [`Report::opening`]. They need not be UTF-8.
    #[serde(serialize_with = "lossy")]
    Lines(Vec<Vec<u8>>),
}

fn lossy<S: Serializer>(lines: &[Vec<u8>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(lines.iter().map(|line| String::from_utf8_lossy(line)))
}

impl Report {
    /// Returns whether the test has found a failure. Remarks do not count.
    pub fn has_failures(&self) -> bool {
        self.findings.iter().any(|finding| finding.severity == Severity::Failure)
    }

    /// Returns the number of calls of tools.
    pub fn calls(&self) -> usize {
        self.tools.iter().map(|tool| tool.calls).sum()
    }
}

impl FindingKind {
    /// Returns the name of the kind, as it is in the JSON of a report.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Crash => "crash",
            Self::Hang => "hang",
            Self::InvalidAnswer => "invalid-answer",
            Self::OutputSchema => "output-schema",
            Self::Noise => "noise",
            Self::UnwantedAnswer => "unwanted-answer",
            Self::AcceptedInvalid => "accepted-invalid",
            Self::ErrorKind => "error-kind",
            Self::Trace => "trace",
        }
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
