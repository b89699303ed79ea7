//! Decides how to answer each request of a client.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use crate::pending::{Answer, Route, SlowCall, Wait};
use crate::revision::{self, Revision};
use crate::rpc::{Failure, INVALID_REQUEST, METHOD_NOT_FOUND, Params, object, required_text};
use crate::server::{INSTRUCTIONS, Server, capabilities, initialized};
use crate::tools::{self, Outcome};
use crate::{greet, prompts, resources, tasks};

impl Server {
    /// Decides how to answer a request. Returns the decision, and the protocol revision of the request.
    pub(crate) fn request(
        &mut self,
        route: Route,
        method: &str,
        params: &Params,
        now: Duration,
    ) -> Result<(Revision, Answer), Failure> {
        if method == "initialize" {
            let revision = self.initialize(route.connection, params)?;
            return Ok((revision, Answer::Now(initialized(revision))));
        }
        let revision = revision::of_request(self.negotiated(route.connection), method, params)?;
        let answer = match method {
            "tools/call" => self.call(route.connection, revision, params, now)?,
            "tasks/get" | "tasks/result" | "tasks/cancel" | "tasks/update" => {
                let answer = self.tasks.request(method, revision, params, now)?;
                if method == "tasks/cancel" {
                    self.task_cancelled(required_text(params, "taskId")?);
                }
                answer
            }
            "subscriptions/listen" if revision.is_modern() => Answer::Later(Wait::Subscription(filter(params)?)),
            "resources/subscribe" | "resources/unsubscribe" if !revision.is_modern() => {
                self.subscribe(route.connection, method, revision, params)?
            }
            _ => Answer::Now(self.read(method, revision, params)?),
        };
        Ok((revision, answer))
    }

    /// Returns the result of a request that does not change the state of the server, such as a list request.
    fn read(&self, method: &str, revision: Revision, params: &Params) -> Result<Value, Failure> {
        match method {
            "ping" if !revision.is_modern() => Ok(json!({})),
            "server/discover" if revision.is_modern() => Ok(revision.cacheable(json!({
                "supportedVersions": Revision::ALL.map(Revision::as_str),
                "capabilities": capabilities(revision),
                "instructions": INSTRUCTIONS,
            }))),
            "tools/list" => page(params, revision, "tools", &tools::list(revision)),
            "prompts/list" => page(params, revision, "prompts", &prompts::list(revision)),
            "prompts/get" => prompts::get(params).map(|prompt| revision.complete(prompt)),
            "resources/list" => page(params, revision, "resources", &resources::list(revision)),
            "resources/templates/list" => page(params, revision, "resourceTemplates", &resources::templates(revision)),
            "resources/read" => resources::read(required_text(params, "uri")?, self.tool_calls, revision),
            "completion/complete" => prompts::complete(params).map(|completion| revision.complete(completion)),
            _ => Err(Failure::new(METHOD_NOT_FOUND, format!("method not found: {method}"))),
        }
    }

    fn initialize(&mut self, connection: u64, params: &Params) -> Result<Revision, Failure> {
        if self.negotiated(connection).is_some() {
            return Err(Failure::new(INVALID_REQUEST, "already initialized"));
        }
        let revision = Revision::negotiate(required_text(params, "protocolVersion")?);
        let connection = self.connection(connection);
        connection.negotiated = Some(revision);
        connection.can_be_asked = revision.has_elicitation() && greet::can_be_asked(params.get("capabilities"));
        Ok(revision)
    }

    fn subscribe(
        &mut self,
        connection: u64,
        method: &str,
        revision: Revision,
        params: &Params,
    ) -> Result<Answer, Failure> {
        let uri = required_text(params, "uri")?;
        if !resources::can_subscribe(uri) {
            return Err(resources::not_found(uri, revision));
        }
        let subscriptions = &mut self.connection(connection).subscriptions;
        if method == "resources/subscribe" {
            subscriptions.insert(uri.to_owned());
        } else {
            subscriptions.remove(uri);
        }
        Ok(Answer::Now(json!({})))
    }

    fn call(&mut self, connection: u64, revision: Revision, params: &Params, now: Duration) -> Result<Answer, Failure> {
        let arguments = object(params, "arguments")?;
        let outcome = tools::call(required_text(params, "name")?, &arguments)?;
        self.tool_calls += 1;
        self.is_changed = true;
        Ok(match outcome {
            Outcome::Done(output) => Answer::Now(output.into_result(revision)),
            Outcome::Greet if revision.is_modern() => {
                Answer::Now(if greet::can_be_asked(revision::client_capabilities(params)) {
                    greet::modern(params, revision)?
                } else {
                    greet::cannot_be_asked().into_result(revision)
                })
            }
            Outcome::Greet if self.connection(connection).can_be_asked => {
                self.questions += 1;
                Answer::Later(Wait::Answer(format!("greet-{}", self.questions)))
            }
            Outcome::Greet => Answer::Now(greet::cannot_be_asked().into_result(revision)),
            Outcome::Slow(length) if tasks::is_wanted(revision, params) => {
                Answer::Now(self.tasks.create(revision, length, now))
            }
            Outcome::Slow(length) => {
                let token = params.get("_meta").and_then(|meta| meta.get("progressToken")).cloned();
                Answer::Later(Wait::Slow(SlowCall::new(now, length, token)))
            }
        })
    }
}

/// Returns the result of a list request. All entries are on one page, so any cursor is an error.
fn page(params: &Params, revision: Revision, name: &str, entries: &[Value]) -> Result<Value, Failure> {
    if params.get("cursor").is_some_and(|cursor| !cursor.is_null()) {
        return Err(Failure::invalid_params(format!("unknown cursor: the {name} fit on one page")));
    }
    Ok(revision.cacheable(json!({ name: entries })))
}

/// Returns the resources to which a `subscriptions/listen` request subscribes. Resources that the server does not have are left
/// out.
fn filter(params: &Params) -> Result<BTreeSet<String>, Failure> {
    let filter = params
        .get("notifications")
        .and_then(Value::as_object)
        .ok_or_else(|| Failure::invalid_params("notifications must be an object"))?;
    let requested = match filter.get("resourceSubscriptions") {
        None => return Ok(BTreeSet::new()),
        Some(requested) => requested
            .as_array()
            .ok_or_else(|| Failure::invalid_params("resourceSubscriptions must be a list of URIs"))?,
    };
    let known = requested.iter().filter_map(Value::as_str).filter(|uri| resources::can_subscribe(uri));
    Ok(known.map(str::to_owned).collect())
}
