//! Makes a test: sends, observes, makes findings smaller, and starts the server again.

use std::time::{Duration, Instant};

use mcpwire_driver::protocol::{Json, ListToolsResult, Negotiate, Tool};
use mcpwire_jsonschema::JsonSchema;
use serde_json::{Value, json};

use super::inputs::Inputs;
use super::judge::{CallJudge, Observation, Outcome, Problem, judge_check};
use super::messages::Body;
use super::misuse::{Check, Checks, LONG_LINE, LONG_LINE_CHECK, long_line};
use super::options::{RobustnessError, RobustnessTest};
use super::peer::{OpenError, Opening, Peer, Waited};
use super::report::{End, Finding, FindingKind, Repeat, Report, TestedTool};
use super::shrink::Shrinker;

/// Maximum number of attempts to make an input smaller.
const MOST_ATTEMPTS: usize = 300;
/// Maximum time to wait for an answer while an input that gets no answer is made smaller.
const SHRINK_TIMEOUT: Duration = Duration::from_secs(2);
/// After so many calls that end or hang the server, a tool is not called any more.
const MOST_DEATHS: usize = 4;
/// Maximum number of pages of a list of tools.
const MOST_PAGES: usize = 100;
/// How long a client does not read in the check that needs this. All answers are written meanwhile, or the pipe is full.
const UNREAD_TIME: Duration = Duration::from_millis(300);

/// A test that is being made.
struct Run<'a, 't> {
    opening: Opening<'a>,
    /// `None` after the server has ended or hung.
    peer: Option<Peer>,
    on_progress: &'a mut (dyn FnMut(&str) + 't),
    /// When the test began, and its maximum time.
    start: Instant,
    time: Duration,
    findings: Vec<Finding>,
    /// Whether the server could not be started again.
    is_gone: bool,
}

impl RobustnessTest<'_> {
    /// Starts the server and tests it. Blocks the thread until the end of the test.
    ///
    /// # Errors
    /// If the server cannot be started, if no connection can be opened, or if it has no tool of a given name.
    pub fn run(self) -> Result<Report, RobustnessError> {
        run(self)
    }
}

fn run(test: RobustnessTest<'_>) -> Result<Report, RobustnessError> {
    let RobustnessTest { def, negotiate, seed, calls, time, timeout, all_tools, only, mut on_progress, is_stopped } =
        test;
    let opening = Opening { def, negotiate, timeout, is_stopped: &*is_stopped };
    on_progress("connecting");
    let mut run = Run {
        opening,
        peer: None,
        on_progress: &mut *on_progress,
        start: Instant::now(),
        time,
        findings: Vec::new(),
        is_gone: false,
    };
    let peer = Peer::open(&run.opening)?;
    // So that the next connections need no second start.
    run.opening.negotiate = Negotiate::Version(peer.server.protocol_version);
    let (server, opening) = (peer.server.clone(), peer.opening.clone());
    run.peer = Some(peer);
    let tools = run.list_tools()?;
    if let Some(missing) = only.iter().find(|name| !tools.iter().any(|tool| tool.name == **name)) {
        return Err(RobustnessError::NoTool(missing.clone()));
    }
    let is_read_only =
        |tool: &Tool| tool.annotations.as_ref().is_some_and(|annotations| annotations.read_only_hint == Some(true));
    let is_tested = |tool: &Tool| {
        if only.is_empty() { all_tools || is_read_only(tool) } else { only.contains(&tool.name) }
    };
    let (tested, others): (Vec<Tool>, Vec<Tool>) = tools.into_iter().partition(is_tested);
    let left_out = others.into_iter().filter(|tool| only.is_empty() && !is_read_only(tool)).map(|tool| tool.name);
    let mut inputs: Vec<Inputs> = tested.iter().map(|tool| Inputs::new(tool, seed)).collect();
    let call = tested
        .first()
        .zip(inputs.first_mut())
        .map(|(tool, inputs)| json!({"name": tool.name, "arguments": inputs.valid()}));
    let checks = run.make_checks(call.as_ref());
    let judge =
        CallJudge { validator: JsonSchema::new(), version: server.protocol_version, seconds: timeout.as_secs_f64() };
    let tools = run.call_tools(&judge, &tested, &mut inputs, calls);
    run.findings.sort_by_key(|finding| finding.severity);
    let end = run.end();
    Ok(Report { server, seed, tools, left_out: left_out.collect(), checks, findings: run.findings, opening, end })
}

impl From<OpenError> for RobustnessError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Spawn(error) => RobustnessError::Spawn(error),
            OpenError::Refused(reason, stderr) => RobustnessError::NotOpened(reason, stderr),
            OpenError::Stopped => RobustnessError::Stopped,
        }
    }
}

impl Run<'_, '_> {
    fn end(&self) -> End {
        if (self.opening.is_stopped)() {
            End::Stopped
        } else if self.is_gone {
            End::ServerGone
        } else if self.start.elapsed() >= self.time {
            End::OutOfTime
        } else {
            End::Complete
        }
    }

    fn list_tools(&mut self) -> Result<Vec<Tool>, RobustnessError> {
        let Some(peer) = self.peer.as_mut() else { return Ok(Vec::new()) };
        if peer.server.capabilities.as_ref().is_some_and(|capabilities| capabilities.tools.is_none()) {
            return Ok(Vec::new());
        }
        let failed = |peer: &Peer, reason: &str| {
            RobustnessError::NotOpened(format!("tools/list: {reason}"), peer.process.stderr())
        };
        let (mut tools, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let id = peer.request("tools/list", cursor.map(|cursor| json!({"cursor": cursor})));
            match peer.wait(std::slice::from_ref(&id), Instant::now() + self.opening.timeout, self.opening.is_stopped) {
                Waited::Answered => {}
                Waited::Silent => return Err(failed(peer, "no answer in time")),
                Waited::Ended(how) => return Err(failed(peer, &format!("the server {how}"))),
                Waited::Stopped => return Err(RobustnessError::Stopped),
            }
            let body =
                peer.take_responses().into_iter().find(|response| response.id == id).map(|response| response.body);
            let page: ListToolsResult = match body {
                Some(Body::Result(page)) => {
                    Json::from(Value::Object(page)).decode().map_err(|error| failed(peer, &error.to_string()))?
                }
                Some(Body::Error { code, message }) => {
                    return Err(failed(peer, &format!("the error {code}: {message}")));
                }
                Some(Body::Invalid(reason)) => return Err(failed(peer, &reason)),
                None => return Err(failed(peer, "no answer")),
            };
            tools.extend(page.tools.iter().cloned());
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        Ok(tools)
    }

    /// Returns the connection. Opens one if the last one has ended.
    fn peer(&mut self) -> Option<&mut Peer> {
        if self.peer.is_none() {
            self.peer = Peer::open(&self.opening).ok();
            self.is_gone = self.peer.is_none() && !(self.opening.is_stopped)();
        }
        self.peer.as_mut()
    }

    /// Sends lines, waits for the answers to `ids`, and then checks that the server still answers.
    fn observe(&mut self, lines: &[Vec<u8>], ids: &[Value], reads_late: bool, timeout: Duration) -> Observation {
        let is_stopped = self.opening.is_stopped;
        let nothing = Observation { outcome: Outcome::Nothing, responses: Vec::new(), noise: Vec::new(), trace: None };
        let Some(peer) = self.peer() else { return nothing };
        let bytes: Vec<u8> = lines.iter().flat_map(|line| line.iter().copied().chain([b'\n'])).collect();
        if reads_late {
            let closed = peer.process.stop_reading();
            peer.process.send(bytes);
            std::thread::sleep(UNREAD_TIME);
            drop(closed);
        } else {
            peer.process.send(bytes);
        }
        let mut sign_of_life = Value::Null;
        let mut waited = peer.wait(ids, Instant::now() + timeout, is_stopped);
        let is_answered = waited == Waited::Answered;
        if matches!(waited, Waited::Answered | Waited::Silent) {
            sign_of_life = peer.request(peer.sign_of_life(), None);
            waited = peer.wait(std::slice::from_ref(&sign_of_life), Instant::now() + timeout, is_stopped);
        }
        let outcome = match waited {
            Waited::Answered if is_answered => Outcome::Alive,
            Waited::Answered => Outcome::NoAnswer,
            Waited::Silent => Outcome::Dead,
            Waited::Ended(how) => Outcome::Ended(how),
            Waited::Stopped => Outcome::Nothing,
        };
        let mut responses = peer.take_responses();
        responses.retain(|response| response.id != sign_of_life || sign_of_life.is_null());
        Observation { outcome, responses, noise: peer.take_noise(), trace: peer.process.take_trace() }
    }

    /// Ends the server if it may not be as before. Returns the last lines of its standard error.
    fn put_away(&mut self, outcome: &Outcome, needs_restart: bool) -> Vec<String> {
        let stderr = self.peer.as_ref().map(|peer| peer.process.stderr()).unwrap_or_default();
        if *outcome != Outcome::Alive || needs_restart {
            self.peer = None;
        }
        stderr
    }

    fn make_checks(&mut self, call: Option<&Value>) -> Vec<&'static str> {
        let Some(peer) = self.peer() else { return Vec::new() };
        let checks = Checks::of(peer, call);
        let mut made = Vec::new();
        for check in checks {
            if self.end() != End::Complete {
                break;
            }
            (self.on_progress)(check.name);
            self.make_check(&check);
            made.push(check.name);
        }
        made
    }

    fn make_check(&mut self, check: &Check) {
        let (timeout, seconds) = (self.opening.timeout, self.opening.timeout.as_secs_f64());
        let observation = self.observe(&check.lines, &check.must_answer, check.reads_late, timeout);
        let mut stderr = self.put_away(&observation.outcome, check.needs_restart);
        for mut problem in judge_check(check, &observation, seconds) {
            let mut lines = check.lines.clone();
            let is_long = check.name == LONG_LINE_CHECK;
            let mut shows = |run: &mut Self, length: usize| {
                let id = check.must_answer.first().cloned().unwrap_or_default();
                let lines = match run.peer() {
                    Some(peer) if is_long => vec![long_line(peer, &id, length)],
                    _ => check.lines.clone(),
                };
                let timeout = timeout.min(SHRINK_TIMEOUT);
                let observation = run.observe(&lines, &check.must_answer, check.reads_late, timeout);
                let last = run.put_away(&observation.outcome, check.needs_restart);
                let again =
                    judge_check(check, &observation, seconds).into_iter().find(|other| other.kind == problem.kind);
                let is_again = again.is_some();
                if let Some(again) = again {
                    (problem, stderr) = (again, last);
                }
                is_again
            };
            // With a new server, because the command that repeats the finding starts one, too.
            self.peer = None;
            let is_repeatable = shows(self, LONG_LINE);
            if is_repeatable && is_long {
                let until = Instant::now() + self.time / 4;
                let mut attempt = |length: &Value| {
                    let length = usize::try_from(length.as_u64()?).ok()?;
                    (Instant::now() < until).then(|| shows(self, length))
                };
                let mut shrinker = Shrinker { shows: &mut attempt, attempts: MOST_ATTEMPTS };
                let length = shrinker.smallest(0, LONG_LINE, &mut Value::from);
                let id = check.must_answer.first().cloned().unwrap_or_default();
                lines = self.peer().map_or(lines, |peer| vec![long_line(peer, &id, length)]);
            }
            let request = check
                .request
                .clone()
                .map(|(method, params)| Repeat::Request { method, params: params.map(Json::from) });
            let repeat = request.unwrap_or(Repeat::Lines(lines));
            self.found(None, Some(check.name), problem, repeat, is_repeatable, stderr.clone());
        }
    }

    /// Calls the tools in turn, so that each of them is tested if the time is short.
    fn call_tools(
        &mut self,
        judge: &CallJudge,
        tools: &[Tool],
        inputs: &mut [Inputs],
        calls: usize,
    ) -> Vec<TestedTool> {
        let mut deaths = vec![0; tools.len()];
        let mut tested: Vec<TestedTool> =
            tools.iter().map(|tool| TestedTool { name: tool.name.clone(), calls: 0, is_cut_short: false }).collect();
        for round in 0..calls {
            for (index, tool) in tools.iter().enumerate() {
                if self.end() != End::Complete {
                    return tested;
                }
                if deaths[index] >= MOST_DEATHS {
                    tested[index].is_cut_short = true;
                    continue;
                }
                let Some(arguments) = inputs[index].next() else { continue };
                (self.on_progress)(&format!("calling {} ({} of {calls})", tool.name, round + 1));
                tested[index].calls += 1;
                deaths[index] += usize::from(self.call(judge, tool, &arguments));
            }
        }
        tested
    }

    /// Calls a tool, and records the findings. Returns whether the server has ended or hung.
    fn call(&mut self, judge: &CallJudge, tool: &Tool, arguments: &Value) -> bool {
        let (problems, outcome, stderr) = self.call_once(judge, tool, arguments, self.opening.timeout);
        for mut problem in problems {
            if let Some(known) = self.known(Some(&tool.name), &problem) {
                known.more += 1;
                continue;
            }
            (self.on_progress)(&format!("{} of {}: searching for the smallest input", problem.kind, tool.name));
            let (mut stderr, kind) = (stderr.clone(), problem.kind);
            let until = Instant::now() + self.time / 4;
            let timeout = self.opening.timeout.min(SHRINK_TIMEOUT);
            // With a new server, because the command that repeats the finding starts one, too.
            self.peer = None;
            let mut shows = |input: &Value| {
                if Instant::now() >= until || (self.opening.is_stopped)() {
                    return None;
                }
                let (problems, _, last) = self.call_once(judge, tool, input, timeout);
                let again = problems.into_iter().find(|other| other.kind == kind && other.severity == problem.severity);
                let is_again = again.is_some();
                if let Some(again) = again {
                    (problem, stderr) = (again, last);
                }
                Some(is_again)
            };
            let is_repeatable = shows(arguments) == Some(true);
            let mut smallest = arguments.clone();
            if is_repeatable {
                smallest = Shrinker { shows: &mut shows, attempts: MOST_ATTEMPTS }.shrink(smallest);
            }
            // The time in which the smallest input was found may have been shorter than that of the test.
            if kind == FindingKind::Hang && timeout < self.opening.timeout {
                let (problems, ..) = self.call_once(judge, tool, &smallest, self.opening.timeout);
                if !problems.iter().any(|other| other.kind == kind) {
                    smallest = arguments.clone();
                }
            }
            let repeat = Repeat::Call { tool: tool.name.clone(), arguments: smallest.into() };
            self.found(Some(tool.name.clone()), None, problem, repeat, is_repeatable, stderr);
        }
        !matches!(outcome, Outcome::Alive | Outcome::Nothing)
    }

    /// Calls a tool once. Returns the findings, what has happened, and the last lines of standard error.
    fn call_once(
        &mut self,
        judge: &CallJudge,
        tool: &Tool,
        arguments: &Value,
        timeout: Duration,
    ) -> (Vec<Problem>, Outcome, Vec<String>) {
        let Some(peer) = self.peer() else { return (Vec::new(), Outcome::Nothing, Vec::new()) };
        let id = peer.new_id();
        let params = json!({"name": tool.name, "arguments": arguments});
        let line = peer.request_line(&id, "tools/call", Some(params));
        let observation = self.observe(&[line], std::slice::from_ref(&id), false, timeout);
        let stderr = self.put_away(&observation.outcome, false);
        (judge.judge(tool, arguments, &id, &observation), observation.outcome, stderr)
    }

    /// Returns the finding of the same kind for the same tool, if there is one.
    fn known(&mut self, tool: Option<&str>, problem: &Problem) -> Option<&mut Finding> {
        self.findings.iter_mut().find(|finding| {
            finding.tool.as_deref() == tool && finding.kind == problem.kind && finding.severity == problem.severity
        })
    }

    fn found(
        &mut self,
        tool: Option<String>,
        check: Option<&'static str>,
        problem: Problem,
        repeat: Repeat,
        is_repeatable: bool,
        stderr: Vec<String>,
    ) {
        let Problem { severity, kind, what, why } = problem;
        let explains = matches!(kind, FindingKind::Crash | FindingKind::Hang | FindingKind::Trace);
        let stderr = if explains { stderr } else { Vec::new() };
        self.findings.push(Finding { severity, kind, tool, check, what, why, repeat, is_repeatable, more: 0, stderr });
    }
}
