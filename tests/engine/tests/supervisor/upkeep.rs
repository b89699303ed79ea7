//! A server that runs: put to sleep and woken, its list of tools kept, and whether it answers at all.

use std::time::Duration;

use mcpwire_engine_tests::sim::fleet::{Fleet, SECOND, tools, transient};
use mcpwire_supervisor::{Command, Effect, ErrorCode, Event, McpStatus, ServerId, State};

fn one() -> (Fleet, ServerId) {
    Fleet::of_one(|_| {})
}

fn lazy() -> (Fleet, ServerId) {
    Fleet::of_one(|policy| policy.lazy = true)
}

#[test]
fn a_lazy_server_sleeps_until_it_is_called_and_shows_its_tools() {
    let (mut fleet, id) = lazy();
    let list = tools(["a", "b"]);
    fleet.supervisor.remember(id, list.clone(), fleet.now);
    fleet.drain();
    assert_eq!(fleet.supervisor.catalogue().len(), 0, "it is stopped, and not asleep");
    let boot = fleet.command(id, Command::Boot);
    assert_eq!((fleet.reply(boot), fleet.state(id), fleet.launched(id)), (Some(&Ok(())), State::Sleeping, 0));
    assert_eq!(fleet.supervisor.catalogue().len(), 2);
    let call = fleet.prepare(id, 30 * SECOND);
    assert_eq!(fleet.supervisor.catalogue().len(), 2, "it wakes up");
    fleet.settle(&list);
    assert_eq!((fleet.reply(call), fleet.state(id)), (Some(&Ok(())), State::Running));
    fleet.pass(299 * SECOND);
    assert_eq!(fleet.state(id), State::Running);
    fleet.pass(SECOND);
    assert_eq!(fleet.supervisor.catalogue().len(), 2, "it falls asleep");
    fleet.settle(&list);
    assert_eq!((fleet.state(id), fleet.living(id)), (State::Sleeping, 0));
    assert_eq!(fleet.supervisor.status(id), Some(McpStatus::Stopped));
    assert_eq!(fleet.detail(id).restarts, 0, "to wake is no restart");
}

#[test]
fn a_lazy_server_without_known_tools_is_started_to_learn_them() {
    let (mut fleet, id) = lazy();
    let boot = fleet.command(id, Command::Boot);
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(boot), fleet.state(id)), (Some(&Ok(())), State::Running));
}

#[test]
fn a_server_with_a_call_in_flight_does_not_fall_asleep() {
    let (mut fleet, id) = lazy();
    fleet.run(id, &tools(["a"]));
    let generation = fleet.begin_call(id, "a").expect("it runs");
    fleet.pass(10_000 * SECOND);
    assert_eq!(fleet.state(id), State::Running);
    fleet.end_call(id, generation);
    fleet.pass(300 * SECOND);
    assert_eq!(fleet.state(id), State::Stopping);
}

#[test]
fn a_call_as_it_falls_asleep_wakes_it() {
    let (mut fleet, id) = lazy();
    fleet.run(id, &tools(["a"]));
    fleet.pass(300 * SECOND);
    assert_eq!(fleet.state(id), State::Stopping);
    let call = fleet.prepare(id, 30 * SECOND);
    assert_eq!(fleet.supervisor.catalogue().len(), 1);
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(call), fleet.launched(id)), (Some(&Ok(())), 2));
}

#[test]
fn a_sleeper_that_does_not_wake_up_shows_no_tools() {
    let (mut fleet, id) = lazy();
    fleet.supervisor.remember(id, tools(["a"]), fleet.now);
    fleet.command(id, Command::Boot);
    let call = fleet.prepare(id, 30 * SECOND);
    fleet.refuse_next(transient("no"));
    assert_eq!(fleet.error(call).code(), ErrorCode::ServiceUnavailable);
    assert_eq!(fleet.supervisor.catalogue().len(), 0);
}

#[test]
fn a_storm_of_changes_makes_few_requests_and_the_last_list_is_right() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    fleet.pass(10 * SECOND);
    // A thousand a second, for ten seconds. Each answer takes 50 ms.
    for n in 0..10_000 {
        fleet.event(id, generation, Event::ListChanged);
        fleet.pass(Duration::from_millis(1));
        if n % 50 == 0 {
            fleet.settle(&tools([format!("v{n}")]));
        }
    }
    fleet.pass(2 * SECOND);
    fleet.settle(&tools(["last"]));
    assert!((8..=12).contains(&fleet.refreshes), "{} requests", fleet.refreshes);
    assert_eq!(fleet.supervisor.status(id), Some(McpStatus::Running { tools: vec!["last".into()] }));
    fleet.pass(1_000 * SECOND);
    assert!(fleet.open.is_empty(), "nothing has changed since");
}

#[test]
fn one_change_is_asked_for_after_a_moment() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    fleet.pass(10 * SECOND);
    fleet.event(id, generation, Event::ListChanged);
    fleet.pass(Duration::from_millis(99));
    assert!(fleet.open.is_empty());
    fleet.pass(Duration::from_millis(1));
    fleet.settle(&tools(["a", "b"]));
    assert_eq!(fleet.supervisor.catalogue().len(), 2);
}

#[test]
fn a_change_while_it_is_asked_for_leads_to_one_more_request() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    fleet.pass(10 * SECOND);
    fleet.event(id, generation, Event::ListChanged);
    fleet.pass(SECOND);
    let refresh = fleet.next_open();
    for _ in 0..5 {
        fleet.event(id, generation, Event::ListChanged);
    }
    fleet.answer(refresh, &tools(["a"]));
    fleet.pass(10 * SECOND);
    fleet.settle(&tools(["a", "b"]));
    assert_eq!((fleet.refreshes, fleet.supervisor.catalogue().len()), (2, 2));
}

#[test]
fn a_list_that_cannot_be_had_again_is_kept() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    fleet.event(id, generation, Event::ListChanged);
    for _ in 0..100 {
        fleet.pass(10 * SECOND);
        while let Some(open) = fleet.open.pop_front() {
            fleet.refuse(open, transient("no"));
        }
    }
    assert_eq!((fleet.refreshes, fleet.supervisor.catalogue().len()), (4, 1));
}

#[test]
fn a_list_that_has_passed_its_time_is_shown_and_asked_for_again_when_it_is_looked_at() {
    let (mut fleet, id) = one();
    fleet.command(id, Command::Start);
    fleet.answer_next(3, &tools(["a"]));
    let Effect::List { generation } = fleet.next_open().1 else { panic!("its tools are asked for") };
    fleet.event(id, generation, Event::Listed { tools: tools(["a"]), ttl: Some(Duration::ZERO) });
    fleet.pass(100 * SECOND);
    assert!(fleet.open.is_empty(), "nobody has looked");
    assert_eq!(fleet.supervisor.catalogue().len(), 1);
    fleet.supervisor.touch(fleet.now);
    fleet.pass(Duration::ZERO);
    assert!(matches!(fleet.next_open().1, Effect::Refresh { .. }));
}

#[test]
fn it_is_said_when_the_first_list_passes_its_time() {
    let (mut fleet, id) = Fleet::running();
    assert_eq!(fleet.supervisor.stale_at(), None, "the server has not said for how long it holds");
    let generation = fleet.generation(id);
    fleet.event(id, generation, Event::ListChanged);
    fleet.pass(SECOND);
    fleet.open.clear();
    let at = fleet.now + 30 * SECOND;
    fleet.event(id, generation, Event::Listed { tools: tools(["b"]), ttl: Some(30 * SECOND) });
    assert_eq!(fleet.supervisor.stale_at(), Some(at));
    fleet.pass(40 * SECOND);
    assert_eq!(fleet.refreshes, 1, "that alone is no reason to ask");
    fleet.supervisor.touch(fleet.now);
    assert_eq!(fleet.supervisor.stale_at(), None, "it will be asked for");
    fleet.pass(SECOND);
    assert_eq!(fleet.refreshes, 2);
    fleet.command(id, Command::Stop);
    assert_eq!(fleet.supervisor.stale_at(), None);
}

fn watched() -> (Fleet, ServerId) {
    Fleet::of_one(|policy| policy.health.every = Some(60 * SECOND))
}

#[test]
fn a_silent_server_is_asked_and_three_answers_that_do_not_come_end_it() {
    let (mut fleet, id) = watched();
    fleet.run(id, &tools(["a"]));
    fleet.pass(60 * SECOND);
    assert!(matches!(fleet.next_open().1, Effect::Probe { .. }));
    fleet.pass(30 * SECOND);
    assert_eq!(fleet.state(id), State::Stopping);
    fleet.settle(&tools(["a"]));
    let error = fleet.detail(id).last_error.expect("it has failed");
    assert_eq!((error.code(), error.field()), (ErrorCode::NetworkError, "transport"));
}

#[test]
fn a_server_that_answers_is_left_alone() {
    let (mut fleet, id) = watched();
    fleet.run(id, &tools(["a"]));
    for _ in 0..100 {
        fleet.pass(60 * SECOND);
        fleet.settle(&tools(["a"]));
    }
    assert_eq!((fleet.state(id), fleet.launched(id)), (State::Running, 1));
}

#[test]
fn a_server_that_is_busy_or_was_just_heard_is_not_asked() {
    let (mut fleet, id) = watched();
    fleet.run(id, &tools(["a"]));
    let generation = fleet.begin_call(id, "a").expect("it runs");
    fleet.pass(1_000 * SECOND);
    assert!(fleet.open.is_empty(), "it may have no time for anything else");
    fleet.end_call(id, generation);
    for _ in 0..100 {
        fleet.pass(59 * SECOND);
        fleet.event(id, generation, Event::MessageReceived);
    }
    assert!(fleet.open.is_empty());
}

#[test]
fn a_jump_of_time_is_a_reason_to_ask() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    fleet.event(id, generation, Event::ConnectionSuspect);
    fleet.pass(Duration::ZERO);
    assert!(matches!(fleet.next_open().1, Effect::Probe { .. }));
    fleet.event(id, generation, Event::ProbeFailed);
    fleet.pass(Duration::ZERO);
    fleet.answer_next(1, &tools(["a"]));
    fleet.pass(10_000 * SECOND);
    assert_eq!(fleet.state(id), State::Running);
}
