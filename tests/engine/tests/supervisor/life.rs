//! The life of one server, from its start to its end, and lives with random events.

use mcpwire_engine_tests::fuzz::supervisor;
use mcpwire_engine_tests::sim::fleet::{Fleet, SECOND, tools, transient};
use mcpwire_supervisor::{
    Command, Effect, ErrorCode, Event, Failure, Generation, HubError, McpStatus, PackageKind, Policy, Restart, Retry,
    ServerId, State,
};

// One server: started, ended, crashed, and who is told what.

fn one() -> (Fleet, ServerId) {
    Fleet::of_one(|_| {})
}

#[test]
fn a_start_goes_through_all_steps() {
    let (mut fleet, id) = one();
    fleet.run(id, &tools(["a", "b"]));
    let steps = [State::Resolving, State::Launching, State::Negotiating, State::Listing, State::Running];
    assert_eq!(fleet.states[&id], steps);
    assert_eq!(fleet.supervisor.status(id), Some(McpStatus::Running { tools: vec!["a".into(), "b".into()] }));
    let detail = fleet.detail(id);
    assert_eq!((detail.pid, detail.version.as_deref(), detail.tools), (Some(7), Some("2026-07-28"), 2));
}

#[test]
fn two_starts_at_once_make_one_process_and_both_are_answered() {
    let (mut fleet, id) = one();
    let (first, second) = (fleet.command(id, Command::Start), fleet.command(id, Command::Start));
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(first), fleet.reply(second)), (Some(&Ok(())), Some(&Ok(()))));
    assert_eq!(fleet.launched(id), 1);
    let third = fleet.command(id, Command::Start);
    assert_eq!(fleet.reply(third), Some(&Ok(())));
    assert_eq!(fleet.launched(id), 1);
}

#[test]
fn all_who_wait_for_a_start_that_fails_hear_of_the_same_failure_once() {
    let (mut fleet, id) = one();
    let starts = [fleet.command(id, Command::Start), fleet.command(id, Command::Start)];
    let resolve = fleet.next_open();
    let failure = Failure::missing_credentials(["TOKEN"]);
    fleet.refuse(resolve, failure.clone());
    for start in starts {
        assert_eq!(fleet.reply(start), Some(&Err(failure.error.clone())));
    }
    assert_eq!(fleet.state(id), State::NeedsInput);
    assert_eq!(fleet.launched(id), 0, "nothing is run without what it needs");
    fleet.pass(1_000 * SECOND);
    assert_eq!(fleet.state(id), State::NeedsInput);
}

#[test]
fn a_disabled_server_is_not_started() {
    let (mut fleet, id) = one();
    let disable = fleet.command(id, Command::Disable);
    assert_eq!(fleet.reply(disable), Some(&Ok(())));
    for command in [Command::Start, Command::Restart] {
        let refused = fleet.command(id, command);
        assert_eq!(fleet.reply(refused), Some(&Err(HubError::disabled())));
    }
    let call = fleet.prepare(id, SECOND);
    assert_eq!(fleet.error(call).code(), ErrorCode::Conflict);
    assert_eq!(fleet.supervisor.status(id), Some(McpStatus::Disabled));
    assert!(fleet.open.is_empty());
}

#[test]
fn a_stop_during_the_launch_leaves_no_process() {
    let (mut fleet, id) = one();
    let start = fleet.command(id, Command::Start);
    fleet.answer_next(1, &tools(["a"]));
    let launch = fleet.next_open();
    let stop = fleet.command(id, Command::Stop);
    assert_eq!(fleet.reply(stop), None, "what comes of the launch is not known yet");
    assert_eq!(fleet.error(start).code(), ErrorCode::Conflict);
    fleet.answer(launch, &tools(["a"]));
    assert_eq!(fleet.living(id), 1);
    assert!(matches!(fleet.open[0].1, Effect::Stop { .. }));
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(stop), fleet.living(id), fleet.state(id)), (Some(&Ok(())), 0, State::Stopped));
}

#[test]
fn a_launch_that_ends_long_after_it_was_given_up_is_killed() {
    let (mut fleet, id) = one();
    fleet.command(id, Command::Start);
    fleet.answer_next(1, &tools(["a"]));
    let launch = fleet.next_open();
    let stop = fleet.command(id, Command::Stop);
    fleet.pass(11 * SECOND);
    assert_eq!((fleet.reply(stop), fleet.state(id)), (Some(&Ok(())), State::Stopped));
    assert_eq!(fleet.abandoned.len(), 1);
    fleet.answer(launch, &tools(["a"]));
    assert!(matches!(fleet.open[0].1, Effect::Kill { .. }));
    assert_eq!((fleet.living(id), fleet.state(id)), (0, State::Stopped));
}

#[test]
fn a_server_deleted_while_it_starts_leaves_nothing() {
    let (mut fleet, id) = one();
    let start = fleet.command(id, Command::Start);
    fleet.answer_next(2, &tools(["a"]));
    let delete = fleet.command(id, Command::Delete);
    assert_eq!(fleet.error(start).code(), ErrorCode::Conflict);
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(delete), fleet.living(id)), (Some(&Ok(())), 0));
    let again = fleet.command(id, Command::Delete);
    assert_eq!(fleet.error(again).code(), ErrorCode::NotFound);
    assert_eq!(fleet.supervisor.status(id), None);
}

#[test]
fn a_crash_fails_the_calls_at_once_and_it_is_started_again() {
    let (mut fleet, id) = Fleet::running();
    let list = tools(["a"]);
    let generation = fleet.begin_call(id, "a").expect("it runs");
    fleet.crash(id);
    assert_eq!(fleet.failed_calls.len(), 1, "before anything else is waited for");
    let (server, failed, error) = &fleet.failed_calls[0];
    assert_eq!((*server, *failed, error.code()), (id, generation, ErrorCode::ServiceUnavailable));
    assert!(!error.is_retryable(), "the tool may have run");
    assert_eq!(fleet.supervisor.catalogue().len(), 0);
    // What is left of its group is ended before it is started again.
    assert_eq!(fleet.state(id), State::Stopping);
    fleet.settle(&list);
    assert_eq!(fleet.state(id), State::Backoff);
    assert!(matches!(fleet.supervisor.status(id), Some(McpStatus::Error { message }) if message.contains("exited")));
    fleet.pass(2 * SECOND);
    fleet.settle(&list);
    assert_eq!(fleet.state(id), State::Running);
    assert_eq!(fleet.detail(id).restarts, 1);
    assert_eq!(fleet.launched(id), 2);
}

#[test]
fn a_crash_loop_ends() {
    let (mut fleet, id) = Fleet::running();
    let list = tools(["a"]);
    for _ in 0..1_000 {
        if fleet.state(id) == State::Running {
            fleet.crash(id);
        }
        fleet.settle(&list);
        fleet.pass(SECOND / 2);
    }
    assert_eq!(fleet.state(id), State::Failed);
    assert_eq!(fleet.launched(id), 6, "the first start, and five restarts");
    assert!(
        matches!(fleet.supervisor.status(id), Some(McpStatus::Error { message }) if message.contains("crash loop"))
    );
    assert_eq!(fleet.supervisor.poll_timeout(), None, "nothing is waited for");
    fleet.run(id, &list);
    assert_eq!(fleet.launched(id), 7, "somebody asked for it");
}

#[test]
fn a_server_that_recovers_is_not_given_up() {
    let (mut fleet, id) = Fleet::running();
    let list = tools(["a"]);
    for _ in 0..50 {
        fleet.pass(61 * SECOND);
        fleet.crash(id);
        fleet.settle(&list);
        fleet.pass(2 * SECOND);
        fleet.settle(&list);
        assert_eq!(fleet.state(id), State::Running, "each wait is that of a first restart");
    }
}

#[test]
fn a_server_that_never_comes_up_is_given_up_after_a_bounded_time() {
    let (mut fleet, id) = Fleet::of_one(|policy| policy.first_backoff = SECOND);
    fleet.command(id, Command::Start);
    for _ in 0..10_000 {
        while let Some(open) = fleet.open.pop_front() {
            // It starts, and says nothing.
            if !matches!(open.1, Effect::Negotiate { .. }) {
                fleet.answer(open, &tools(["a"]));
            }
        }
        fleet.pass(SECOND);
    }
    assert_eq!(fleet.state(id), State::Failed);
    assert_eq!(fleet.launched(id), 10);
    assert_eq!(fleet.living(id), 0);
}

#[test]
fn restarts_can_be_switched_off() {
    let (mut fleet, id) = Fleet::of_one(|policy| policy.restart = Restart::Never);
    fleet.run(id, &tools(["a"]));
    fleet.crash(id);
    fleet.settle(&tools(["a"]));
    fleet.pass(600 * SECOND);
    assert_eq!((fleet.state(id), fleet.launched(id)), (State::Failed, 1));
}

#[test]
fn a_server_disabled_while_it_waits_to_be_restarted_stays_down() {
    let (mut fleet, id) = Fleet::running();
    fleet.crash(id);
    fleet.settle(&tools(["a"]));
    assert_eq!(fleet.state(id), State::Backoff);
    let disable = fleet.command(id, Command::Disable);
    assert_eq!(fleet.reply(disable), Some(&Ok(())));
    fleet.pass(600 * SECOND);
    assert_eq!((fleet.state(id), fleet.launched(id)), (State::Disabled, 1));
}

#[test]
fn a_restart_of_ours_is_no_crash_and_what_the_old_one_says_is_not_heard() {
    let (mut fleet, id) = one();
    let list = tools(["a"]);
    for _ in 0..50 {
        fleet.run(id, &list);
        let old = fleet.generation(id);
        let restart = fleet.command(id, Command::Restart);
        fleet.event(id, old, Event::Closed(transient("it was closed")));
        fleet.settle(&list);
        assert_eq!(fleet.reply(restart), Some(&Ok(())));
        fleet.event(id, old, Event::Closed(transient("it was closed")));
        fleet.event(id, old, Event::Removed);
        assert_eq!((fleet.state(id), fleet.living(id)), (State::Running, 1));
    }
    assert_eq!(fleet.detail(id).attempt, 0);
}

#[test]
fn an_end_goes_from_polite_to_forced_to_given_up() {
    let (mut fleet, id) = Fleet::running();
    let stop = fleet.command(id, Command::Stop);
    assert!(matches!(fleet.next_open().1, Effect::Stop { .. }));
    fleet.pass(6 * SECOND);
    assert!(fleet.open.is_empty());
    fleet.pass(SECOND);
    assert!(matches!(fleet.next_open().1, Effect::Kill { .. }));
    assert_eq!(fleet.reply(stop), None);
    fleet.pass(2 * SECOND);
    assert_eq!((fleet.reply(stop), fleet.abandoned.len()), (Some(&Ok(())), 1));
}

#[test]
fn a_second_stop_is_in_a_hurry() {
    let (mut fleet, id) = Fleet::running();
    let first = fleet.command(id, Command::Stop);
    assert!(matches!(fleet.next_open().1, Effect::Stop { .. }));
    let second = fleet.command(id, Command::Stop);
    let kill = fleet.next_open();
    assert!(matches!(kill.1, Effect::Kill { .. }));
    fleet.answer(kill, &tools(["a"]));
    assert_eq!((fleet.reply(first), fleet.reply(second)), (Some(&Ok(())), Some(&Ok(()))));
}

#[test]
fn a_start_while_it_is_ended_waits_for_the_end() {
    let (mut fleet, id) = Fleet::running();
    let stop = fleet.command(id, Command::Stop);
    let start = fleet.command(id, Command::Start);
    assert_eq!((fleet.launched(id), fleet.reply(start)), (1, None));
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(stop), fleet.reply(start)), (Some(&Ok(())), Some(&Ok(()))));
    assert_eq!((fleet.launched(id), fleet.living(id)), (2, 1));
}

#[test]
fn a_first_start_of_a_package_has_more_time() {
    let (mut fleet, id) = Fleet::of_one(|policy| *policy = Policy::new(PackageKind::Npm));
    let list = tools(["a"]);
    let start = fleet.command(id, Command::Start);
    fleet.answer_next(2, &list);
    fleet.pass(179 * SECOND);
    assert_eq!((fleet.state(id), fleet.reply(start)), (State::Negotiating, None));
    fleet.settle(&list);
    assert_eq!(fleet.reply(start), Some(&Ok(())));
    fleet.command(id, Command::Restart);
    fleet.answer_next(3, &list);
    fleet.pass(60 * SECOND);
    let detail = fleet.detail(id);
    let error = detail.last_error.expect("it has failed");
    assert_eq!((error.code(), error.field()), (ErrorCode::NetworkError, "timeout"));
    assert!(error.message().starts_with("Handshake timed out"), "{error}");
}

#[test]
fn a_login_is_waited_for_without_an_end() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    let failure = Failure::new(HubError::validation("authorization", "login"), Retry::Login);
    fleet.event(id, generation, Event::Closed(failure.clone()));
    fleet.settle(&tools(["a"]));
    assert_eq!(fleet.state(id), State::NeedsAuth);
    let call = fleet.prepare(id, SECOND);
    assert_eq!(fleet.reply(call), Some(&Err(failure.error)));
    fleet.pass(10_000 * SECOND);
    assert_eq!(fleet.launched(id), 1);
    fleet.run(id, &tools(["a"]));
}

#[test]
fn a_server_that_asks_for_a_login_is_not_started_again_until_it_is_told_to() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    let login = HubError::login_required("log in first");
    fleet.event(id, generation, Event::Failed(Failure::new(login.clone(), Retry::Login)));
    // The error is the same while the connection is being closed.
    assert_eq!(fleet.state(id), State::Stopping);
    let call = fleet.prepare(id, SECOND);
    assert_eq!(fleet.reply(call), Some(&Err(login.clone())));
    fleet.settle(&tools(["a"]));
    assert_eq!(fleet.state(id), State::NeedsLogin);
    let call = fleet.prepare(id, SECOND);
    assert_eq!(fleet.reply(call), Some(&Err(login)));
    fleet.pass(10_000 * SECOND);
    assert_eq!(fleet.launched(id), 1);
    fleet.command(id, Command::Boot);
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.state(id), fleet.launched(id)), (State::Running, 2));
}

#[test]
fn everything_may_go_without_a_word() {
    let (mut fleet, id) = Fleet::running();
    let generation = fleet.generation(id);
    fleet.alive.clear();
    fleet.event(id, generation, Event::Removed);
    assert_eq!(fleet.state(id), State::Backoff);
    assert!(fleet.open.is_empty(), "nothing is left to be ended");
}

#[test]
fn calls_to_a_server_that_does_not_run_fail_at_once() {
    let (mut fleet, id) = one();
    let stopped = fleet.prepare(id, 60 * SECOND);
    let says = |fleet: &Fleet, call, text: &str, is_retryable| {
        let error = fleet.error(call);
        assert_eq!((error.code(), error.is_retryable()), (ErrorCode::ServiceUnavailable, is_retryable), "{error}");
        assert!(error.message().contains(text), "{error}");
    };
    says(&fleet, stopped, "is stopped; start it first", false);
    fleet.command(id, Command::Start);
    let starting = fleet.prepare(id, 60 * SECOND);
    says(&fleet, starting, "is still starting; try again", true);
    fleet.refuse_next(transient("no luck"));
    assert_eq!(fleet.state(id), State::Backoff);
    let failed = fleet.prepare(id, 60 * SECOND);
    says(&fleet, failed, "failed and restarts soon: no luck", true);
    fleet.command(id, Command::Start);
    fleet.refuse_next(Failure::new(HubError::unavailable("no program"), Retry::Never));
    assert_eq!(fleet.state(id), State::Failed);
    let failed = fleet.prepare(id, 60 * SECOND);
    says(&fleet, failed, "has failed; start it again first: no program", false);
}

#[test]
fn calls_may_wait_for_a_start_for_a_while() {
    let (mut fleet, id) = Fleet::of_one(|policy| policy.call_wait_start = 5 * SECOND);
    fleet.command(id, Command::Start);
    let (late, early) = (fleet.prepare(id, 60 * SECOND), fleet.prepare(id, SECOND));
    fleet.pass(SECOND);
    assert_eq!(fleet.error(early).code(), ErrorCode::ServiceUnavailable);
    assert!(fleet.error(early).is_retryable(), "it did not run");
    assert_eq!(fleet.reply(late), None);
    fleet.settle(&tools(["a"]));
    assert_eq!(fleet.reply(late), Some(&Ok(())));
}

#[test]
fn another_configuration_restarts_only_what_runs_it() {
    let (mut fleet, id) = one();
    let policy = || Box::new(Policy::new(PackageKind::Binary));
    fleet.command(id, Command::Configure { policy: policy(), replaced: true });
    assert_eq!(fleet.state(id), State::Stopped);
    fleet.run(id, &tools(["a"]));
    fleet.command(id, Command::Configure { policy: policy(), replaced: false });
    assert_eq!((fleet.state(id), fleet.launched(id)), (State::Running, 1));
    fleet.command(id, Command::Configure { policy: policy(), replaced: true });
    fleet.settle(&tools(["b"]));
    assert_eq!((fleet.state(id), fleet.launched(id)), (State::Running, 2));
}

#[test]
fn those_who_wait_for_a_start_are_bounded() {
    let (mut fleet, id) = one();
    let starts: Vec<_> = (0..2_000).map(|_| fleet.command(id, Command::Start)).collect();
    let refused = starts.iter().filter(|start| fleet.reply(**start).is_some()).count();
    assert_eq!(refused, 2_000 - 1_024);
    fleet.settle(&tools(["a"]));
    assert!(starts.iter().all(|start| fleet.reply(*start).is_some()));
}

#[test]
fn generations_only_grow() {
    let (mut fleet, id) = one();
    let mut last = Generation(0);
    for _ in 0..10 {
        fleet.run(id, &tools(["a"]));
        assert!(fleet.generation(id) > last);
        last = fleet.generation(id);
        fleet.command(id, Command::Stop);
        fleet.settle(&tools(["a"]));
    }
}

// Servers, their failures and those who want something of them, in any order. What must hold is in the fuzz target's body.

/// xorshift64*.
struct Random(u64);

impl Random {
    fn byte(&mut self) -> u8 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d).to_be_bytes()[0]
    }
}

fn runs() -> u64 {
    std::env::var("MCPWIRE_RUNS").ok().and_then(|runs| runs.parse().ok()).unwrap_or(100)
}

#[test]
fn whatever_happens_and_in_whatever_order() {
    for seed in 1..=runs() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let input: Vec<u8> = (0..1_500).map(|_| random.byte()).collect();
        supervisor::run(&input);
    }
}

/// Mostly good answers: servers run, for a while.
#[test]
fn whatever_happens_to_servers_that_mostly_work() {
    for seed in 1..=runs() {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x4d);
        let mut input = vec![random.byte()];
        for _ in 0..400 {
            match random.byte() {
                0..160 => input.extend([3, random.byte() % 4]),
                160..180 => input.extend([0, random.byte() % 3, 0]),
                180..200 => input.extend([16, random.byte() % 3]),
                other => input.extend([other % 24, random.byte(), random.byte(), random.byte()]),
            }
        }
        supervisor::run(&input);
    }
}
