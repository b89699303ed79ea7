//! Tests with two engines, one shared store, and an authorization server that accepts each refresh token once.

use super::*;
use crate::Response;
use crate::testing::{NOW, entropy, parameters, public_client, response, stored};
use alloc::format;
use std::collections::BTreeSet;

/// An authorization server that issues a new refresh token at each refresh. It revokes all tokens if an old refresh
/// token is sent again.
struct RotatingServer {
    valid: Option<u64>,
    requests: u32,
}

impl RotatingServer {
    fn answer(&mut self, request: &Request) -> Response {
        self.requests += 1;
        let sent = parameters(request)["refresh_token"].clone();
        match self.valid {
            Some(valid) if sent == format!("refresh-{valid}") => {
                let next = valid + 1;
                self.valid = Some(next);
                let body =
                    format!(r#"{{"access_token":"access-{next}","refresh_token":"refresh-{next}","expires_in":3600}}"#);
                response(200, &body)
            }
            _ => {
                self.valid = None;
                response(400, r#"{"error":"invalid_grant"}"#)
            }
        }
    }
}

struct Engine {
    refresh: Refresh,
    next: RefreshAction,
    has_lock: bool,
    steps: u32,
}

impl Engine {
    fn new() -> Self {
        let mut refresh = Refresh::new(stored(1), public_client(), entropy());
        let next = refresh.start();
        Engine { refresh, next, has_lock: false, steps: 0 }
    }

    fn result(&self) -> Option<&Result<Box<Refreshed>, Error>> {
        match &self.next {
            RefreshAction::Done(result) => Some(result),
            _ => None,
        }
    }
}

/// The store and the server that the engines share.
struct World {
    stored: Option<StoredToken>,
    server: RotatingServer,
    /// Whether locks exclude other engines. `false` simulates a file system without working locks.
    locks_work: bool,
    lock_is_taken: bool,
}

impl World {
    fn new(locks_work: bool) -> Self {
        World {
            stored: Some(stored(1)),
            server: RotatingServer { valid: Some(1), requests: 0 },
            locks_work,
            lock_is_taken: false,
        }
    }

    fn can_step(&self, engine: &Engine) -> bool {
        engine.result().is_none() && !(engine.next == RefreshAction::Lock && self.lock_is_taken && self.locks_work)
    }

    fn step(&mut self, engine: &mut Engine) {
        let input = match &engine.next {
            RefreshAction::Lock => {
                self.lock_is_taken = true;
                engine.has_lock = true;
                RefreshInput::Done
            }
            RefreshAction::Load => RefreshInput::Loaded(self.stored.clone().map(Box::new)),
            RefreshAction::Fetch(request) => RefreshInput::Network(Input::Response(self.server.answer(request))),
            RefreshAction::Store(token) => {
                self.stored = Some((**token).clone());
                RefreshInput::Done
            }
            RefreshAction::Delete { generation } => {
                self.stored.take_if(|token| token.generation == *generation);
                RefreshInput::Done
            }
            other => panic!("unexpected {other:?}"),
        };
        engine.steps += 1;
        engine.next = engine.refresh.resume(input, NOW);
        if engine.result().is_some() {
            self.release(engine);
        }
    }

    /// Releases the lock of an engine, as the operating system does when a process ends.
    fn release(&mut self, engine: &mut Engine) {
        if mem::take(&mut engine.has_lock) {
            self.lock_is_taken = false;
        }
    }

    /// Runs two engines in the order that `schedule` defines: each bit says which engine performs the next step.
    fn race(&mut self, schedule: u32) -> [Engine; 2] {
        let mut engines = [Engine::new(), Engine::new()];
        for turn in 0.. {
            let first = usize::from(turn < 32 && schedule >> (turn % 32) & 1 == 1);
            let Some(index) = [first, 1 - first].into_iter().find(|&index| self.can_step(&engines[index])) else {
                break;
            };
            self.step(&mut engines[index]);
        }
        engines
    }
}

/// All possible orders of the steps of two engines, which have at most ten steps together.
const SCHEDULES: core::ops::Range<u32> = 0..1 << 10;

#[test]
fn o1_of_two_processes_one_refreshes_and_the_other_adopts_in_every_order() {
    let mut seen = BTreeSet::new();
    for schedule in SCHEDULES {
        let mut world = World::new(true);
        let engines = world.race(schedule);
        let tokens = engines.each_ref().map(|engine| &engine.result().unwrap().as_ref().unwrap().token);
        assert_eq!(tokens[0], tokens[1], "schedule {schedule:b}");
        assert_eq!(world.stored.as_ref(), Some(tokens[0]));
        assert_eq!((world.server.requests, world.server.valid), (1, Some(2)), "no refresh token is used twice");
        seen.insert(engines.map(|engine| engine.steps));
    }
    assert_eq!(seen.len(), 2, "each of the two has won in some order: {seen:?}");
}

#[test]
fn o1_without_a_lock_the_slower_process_never_deletes_the_token_of_the_faster_one() {
    // The server may still revoke the token. Only a working lock prevents that.
    let mut outcomes = BTreeSet::new();
    for schedule in SCHEDULES {
        let mut world = World::new(false);
        let engines = world.race(schedule);
        let kinds = engines.each_ref().map(|engine| match engine.result().unwrap() {
            Ok(refreshed) => format!("{:?}", refreshed.source),
            Err(error) => format!("{:?}", error.kind()),
        });
        assert!(kinds.contains(&"Issued".into()), "{kinds:?}");
        assert_eq!(world.stored.as_ref().unwrap().generation, 2, "schedule {schedule:b}");
        outcomes.insert(kinds[usize::from(kinds[0] == "Issued")].clone());
    }
    let expected = ["Adopted", "LoginRequired"];
    assert!(outcomes.iter().map(String::as_str).eq(expected), "{outcomes:?}");
}

#[test]
fn o1_a_process_that_ends_in_any_step_does_not_stop_the_others() {
    for killed_after in 0..=4 {
        let mut world = World::new(true);
        let mut first = Engine::new();
        for _ in 0..killed_after {
            world.step(&mut first);
        }
        let was_answered = world.server.requests == 1;
        let was_stored = world.stored.as_ref().unwrap().generation == 2;
        world.release(&mut first);
        let mut second = Engine::new();
        while world.can_step(&second) {
            world.step(&mut second);
        }
        let result = second.result().unwrap();
        if was_answered && !was_stored {
            // The new token was lost with the process. The server revoked all tokens, so the user must log in again.
            assert_eq!(result.as_ref().unwrap_err().kind(), ErrorKind::LoginRequired);
        } else {
            assert_eq!(result.as_ref().unwrap().token.generation, 2, "ended after {killed_after} steps");
        }
    }
}

#[test]
fn o2_a_refresh_whose_caller_has_given_up_ends_and_saves_the_token() {
    // The transaction does not depend on its caller, so anybody can continue it.
    let mut world = World::new(true);
    let mut engine = Engine::new();
    while world.can_step(&engine) {
        world.step(&mut engine);
    }
    assert_eq!(world.stored.as_ref().unwrap().access_token.expose(), "access-2");
    assert!(!world.lock_is_taken);
}

#[test]
fn o1_a_hundred_engines_share_one_refresh() {
    let mut world = World::new(true);
    let mut engines: Vec<Engine> = (0..100).map(|_| Engine::new()).collect();
    while let Some(engine) = engines.iter_mut().rev().find(|engine| world.can_step(engine)) {
        world.step(engine);
    }
    assert_eq!(world.server.requests, 1);
    assert!(engines.iter().all(|engine| engine.result().unwrap().as_ref().unwrap().token.generation == 2));
}
