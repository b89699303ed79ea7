//! What a client must report and send about the tasks that it polls: the decisions of `docs/wire.md`, like `expect`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::expect::{Asker, Client, Outcome, Question, Report, Request, Sent, error_code, member, outcome_of};

/// A request that has become a task, which the client polls.
pub(super) struct Task {
    pub(super) id: String,
    pub(super) request: Request,
    /// The id of the `tasks/get` that has no response yet.
    pub(super) get: Option<u64>,
    /// The id of the `tasks/update` that has no response yet.
    pub(super) update: Option<u64>,
    status: String,
    /// The names of all inputs that were reported.
    asked: BTreeSet<String>,
    /// The answers that no `tasks/update` has contained yet.
    unsent: BTreeMap<String, Value>,
    /// Whether the server has refused answers since its last status.
    is_refused: bool,
}

impl Task {
    pub(super) fn new(id: &str, request: Request) -> Self {
        Task {
            id: id.to_owned(),
            request,
            get: None,
            update: None,
            status: "working".into(),
            asked: BTreeSet::new(),
            unsent: BTreeMap::new(),
            is_refused: false,
        }
    }
}

impl Client {
    /// The interval between two polls passes.
    pub(super) fn pass_time(&mut self) {
        (0..self.tasks.len()).for_each(|at| self.poll(at));
    }

    /// Sends `tasks/get`, but never two at a time.
    fn poll(&mut self, at: usize) {
        let task = &mut self.tasks[at];
        if task.get.is_none() {
            // Its id is read from what the client sends, and that of the other requests too.
            task.get = Some(u64::MAX);
            self.sent.push(Sent::Get { task: task.id.clone() });
        }
    }

    /// Sends all answers that were not sent before, but never two `tasks/update` at a time.
    fn update(&mut self, at: usize) {
        let task = &mut self.tasks[at];
        if task.update.is_none() && !task.unsent.is_empty() {
            task.update = Some(u64::MAX);
            self.sent.push(Sent::Update { task: task.id.clone(), inputs: std::mem::take(&mut task.unsent) });
        }
    }

    pub(super) fn task_input_answered(&mut self, which: usize, name: String, to: Value) {
        let at = self.tasks.iter().position(|task| task.request.which == which).expect("its questions end with it");
        self.tasks[at].unsent.insert(name, to);
        self.update(at);
    }

    /// A response to a request about a task, or to no open request.
    pub(super) fn task_response(&mut self, id: u64, message: &Map<String, Value>) {
        if let Some(at) = self.tasks.iter().position(|task| task.get == Some(id)) {
            self.tasks[at].get = None;
            self.old_ids.push(id);
            self.status(at, &message["result"]);
        } else if let Some(at) = self.tasks.iter().position(|task| task.update == Some(id)) {
            self.tasks[at].update = None;
            self.old_ids.push(id);
            match error_code(message) {
                None => self.update(at),
                Some(-32601) => self.end(at, Outcome::Task("lost")),
                Some(_) => {
                    self.tasks[at].is_refused = true;
                    self.update(at);
                    self.poll(at);
                }
            }
        }
    }

    fn status(&mut self, at: usize, result: &Value) {
        let task = &mut self.tasks[at];
        let status = result["status"].as_str().expect("it is drawn so");
        if status != task.status {
            status.clone_into(&mut task.status);
            self.reports.push(Report::Task { which: task.request.which });
        }
        let was_refused = std::mem::take(&mut task.is_refused);
        match status {
            "input_required" if was_refused => {
                self.sent.push(Sent::Cancel { task: task.id.clone() });
                self.end(at, Outcome::Task("refused"));
            }
            "completed" => {
                let outcome = outcome_of(&task.request, &result["result"]);
                self.end(at, outcome);
            }
            "failed" => {
                let code = result.as_object().and_then(error_code);
                self.end(at, code.map_or(Outcome::Task("failed"), Outcome::Error));
            }
            "cancelled" => self.end(at, Outcome::Task("cancelled")),
            "input_required" => self.ask_inputs(at, result["inputRequests"].as_object().expect("it is drawn so")),
            // Also a status that the specification does not define: the task continues, and needs no input.
            _ => self.ask_inputs(at, &Map::new()),
        }
    }

    /// Asks for each input once. An input that is not needed any more is withdrawn.
    fn ask_inputs(&mut self, at: usize, needed: &Map<String, Value>) {
        let task = &mut self.tasks[at];
        let which = task.request.which;
        let new: Vec<_> = needed.iter().filter(|(name, _)| task.asked.insert((*name).clone())).collect();
        if new.iter().any(|(_, input)| input["method"] != "roots/list") {
            self.sent.push(Sent::Cancel { task: task.id.clone() });
            return self.end(at, Outcome::InputNotOffered);
        }
        self.withdraw(which, |name| !needed.contains_key(name));
        for (name, input) in new {
            let params = member(input, "params").cloned();
            self.ask(Question { during: Some(which), params }, Asker::TaskInput(name.clone()));
        }
    }

    fn withdraw(&mut self, which: usize, is_withdrawn: impl Fn(&str) -> bool) {
        let withdrawn = self.kept.extract_if(.., |(question, asker)| {
            let is_of_task = question.during == Some(which);
            is_of_task && matches!(asker, Asker::TaskInput(name) if is_withdrawn(name))
        });
        self.reports.extend(withdrawn.map(|(question, _)| Report::Withdrawn(question)));
    }

    fn end(&mut self, at: usize, outcome: Outcome) {
        let task = self.tasks.remove(at);
        self.old_ids.extend(task.get.into_iter().chain(task.update));
        self.withdraw(task.request.which, |_| true);
        self.reports.push(Report::Reply { which: task.request.which, outcome });
    }

    /// Returns the response with which the server accepts a `tasks/update`, if one is open.
    pub(super) fn accept_update(&self) -> Option<Value> {
        let id = self.tasks.iter().find_map(|task| task.update)?;
        self.is_modern.then(|| json!({ "jsonrpc": "2.0", "id": id, "result": {} }))
    }
}
