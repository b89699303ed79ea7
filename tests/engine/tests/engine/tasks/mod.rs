//! Calls that become tasks, in both forms: whoever calls gets the result as of any other call, or a handle, and no server
//! keeps it waiting beyond the time that it has.

mod asks;
mod endless;
mod ends;

use core::time::Duration;

use mcpwire_core::{
    CallError, CallTool, Config, Event, Notification, RequestOptions, TaskError, TaskMode, TaskStatus, Ticket,
};
use mcpwire_engine_tests::sim::{Pair, Peer, Sent, legacy, modern};
use serde_json::Value;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

const fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

const fn millis(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn declared() -> Config {
    let mut config = Config::default();
    config.declare_tasks();
    config
}

fn follow() -> RequestOptions {
    RequestOptions::new().task(TaskMode::Follow)
}

/// A server of the extension, whose calls become tasks. `get` answers `tasks/get`, and is told how often it was asked.
fn extension(mut get: impl FnMut(u64, &Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut asked = 0;
    modern(move |sent, peer| match sent.method() {
        "tools/call" => peer.answer(sent, &created()),
        "tasks/get" => {
            asked += 1;
            get(asked, sent, peer);
        }
        "tasks/cancel" | "tasks/update" => peer.answer(sent, r#"{"resultType":"complete"}"#),
        _ => {}
    })
}

/// The answer to a call that becomes a task of the extension.
fn created() -> String {
    r#"{"resultType":"task","taskId":"t1","status":"working","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:00Z","ttlMs":60000,"pollIntervalMs":2000}"#.into()
}

/// How a task of the extension stands.
fn stands(status: &str, more: &str) -> String {
    format!(
        r#"{{"resultType":"complete","taskId":"t1","status":"{status}","createdAt":"2026-07-28T00:00:00Z","lastUpdatedAt":"2026-07-28T00:00:01Z","ttlMs":60000,"pollIntervalMs":2000{more}}}"#
    )
}

const HELLO: &str = r#"{"content":[{"type":"text","text":"hello"}],"isError":false}"#;

/// A server of 2025-11-25 that takes tasks, and does the rest as `rest` says.
fn experimental(mut rest: impl FnMut(&Sent, &mut Peer) + 'static) -> impl FnMut(&Sent, &mut Peer) + 'static {
    let mut other = legacy(|_, _| {});
    move |sent, peer| {
        match sent.method() {
        "initialize" => peer.answer(
            sent,
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"tasks":{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}},"serverInfo":{"name":"sim","version":"1"}}"#,
        ),
        "tools/call" if sent.params()["task"].is_object() => {
            peer.answer(sent, &format!(r#"{{"task":{}}}"#, stood("working")));
        }
        "server/discover" | "notifications/initialized" => other(sent, peer),
        _ => rest(sent, peer),
    }
    }
}

/// How a task of 2025-11-25 stands.
fn stood(status: &str) -> String {
    format!(
        r#"{{"taskId":"t1","status":"{status}","createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","ttl":30000,"pollInterval":2000}}"#
    )
}

/// What was sent of a method, as parameters.
fn sent<'p>(pair: &'p Pair, method: &str) -> Vec<&'p Value> {
    pair.sent.iter().filter(|sent| sent.method() == method).map(Sent::params).collect()
}

fn statuses(pair: &Pair) -> Vec<(Option<u64>, TaskStatus)> {
    let of = |event: &(Duration, Event)| match &event.1 {
        Event::Notification(Notification::TaskStatus { key, task }) => {
            Some((key.map(|_| event.0.as_secs()), task.status.clone()))
        }
        _ => None,
    };
    pair.events.iter().filter_map(of).collect()
}

#[track_caller]
fn fault(pair: &mut Pair, ticket: Ticket<CallTool>) -> TaskError {
    match pair.error(ticket) {
        CallError::Task { task, fault, .. } if task == "t1" => fault,
        other => panic!("{other:?}"),
    }
}
