//! Many servers: their starts and ends together, the switch, the calls, the names.

use std::time::Duration;

use mcpwire_engine_tests::sim::fleet::{Fleet, SECOND, server_id, tools, transient};
use mcpwire_supervisor::{
    CallRejection, Command, CommandId, Effect, ErrorCode, Event, Failure, Filter, HubError, McpStatus, PackageKind,
    Policy, Rate, Retry, ServerId, ServerSpec, State, SupervisorSettings,
};

fn spec(name: &str) -> ServerSpec {
    ServerSpec::new(name, Policy::new(PackageKind::Binary))
}

fn many(count: u64, kind: PackageKind) -> (Fleet, Vec<ServerId>) {
    let mut fleet = Fleet::default();
    let ids = (1..=count).map(|n| fleet.add(n, ServerSpec::new(format!("server {n}"), Policy::new(kind)))).collect();
    (fleet, ids)
}

#[test]
fn ids_and_names_are_unique_and_names_are_not_blank() {
    let mut fleet = Fleet::default();
    let (one, two) = (fleet.add(1, spec("Files")), server_id(2));
    let conflict = |error: HubError| (error.code(), error.field().to_owned());
    let again = fleet.supervisor.add(one, spec("other"), fleet.now).expect_err("the id is taken");
    assert_eq!(conflict(again), (ErrorCode::Conflict, "id".into()));
    let again = fleet.supervisor.add(two, spec("  fiLES "), fleet.now).expect_err("the name is taken");
    assert_eq!(conflict(again), (ErrorCode::Conflict, "name".into()));
    for blank in ["", "  ", "\u{a0}", "\n\t"] {
        let error = fleet.supervisor.add(two, spec(blank), fleet.now).expect_err("it is blank");
        assert_eq!(error, HubError::validation("name", "Name is required"));
    }
    fleet.supervisor.update(one, spec("Other files"), false, fleet.now).expect("it is renamed");
    // The name is free again.
    fleet.add(2, spec("Files"));
    let unknown = fleet.supervisor.update(server_id(3), spec("x"), false, fleet.now).expect_err("it is unknown");
    assert_eq!(unknown.code(), ErrorCode::NotFound);
}

#[test]
fn an_unknown_server_is_not_found() {
    let mut fleet = Fleet::default();
    let id = server_id(9);
    let by = fleet.now;
    for command in [Command::Start, Command::Stop, Command::Restart, Command::Delete, Command::PrepareCall { by }] {
        let command = fleet.command(id, command);
        assert_eq!(fleet.reply(command), Some(&Err(HubError::unknown_server(id))));
    }
    let call = fleet.begin_call(id, "a");
    assert_eq!(call, Err(CallRejection::Error(HubError::unknown_server(id))));
}

#[test]
fn one_that_fails_and_one_that_hangs_harm_nobody() {
    let (mut fleet, ids) = many(5, PackageKind::Binary);
    fleet.boot();
    let mut hung = Vec::new();
    while let Some((id, effect)) = fleet.open.pop_front() {
        if id == ids[0] && matches!(effect, Effect::List { .. }) {
            hung.push(effect);
        } else if id == ids[1] {
            fleet.refuse((id, effect), Failure::new(HubError::not_found("package.identifier", "no"), Retry::Never));
        } else {
            fleet.answer((id, effect), &tools(["a"]));
        }
    }
    assert_eq!(hung.len(), 1);
    assert_eq!(fleet.supervisor.catalogue().len(), 3);
    assert_eq!(fleet.state(ids[1]), State::Failed);
    assert!(fleet.boots.is_empty());
    fleet.pass(31 * SECOND);
    assert_eq!(fleet.boots, [(3, 2, 0)]);
}

/// The tools that are shown when a command is answered are looked at in [`Fleet::drain`]; here it is seen that it looks.
#[test]
fn the_tools_are_there_or_gone_before_anybody_is_answered() {
    let (mut fleet, ids) = many(2, PackageKind::Binary);
    fleet.boot();
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.boots.len(), fleet.snapshot.len()), (1, 2));
    let id = ids[0];
    let commands = [
        (Command::Stop, 1),
        (Command::Start, 2),
        (Command::Restart, 2),
        (Command::Disable, 1),
        (Command::Enable, 1),
        (Command::Start, 2),
        (Command::Delete, 1),
    ];
    for (command, shown) in commands {
        let told = fleet.catalogues;
        let name = fleet.command(id, command.clone());
        fleet.settle(&tools(["a"]));
        assert_eq!((fleet.reply(name), fleet.snapshot.len()), (Some(&Ok(())), shown), "{command:?}");
        assert_eq!(fleet.catalogues > told, command != Command::Enable, "{command:?}");
    }
}

#[test]
fn a_sleeping_server_that_is_stopped_shows_no_tools_when_that_is_answered() {
    let (mut fleet, id) = Fleet::of_one(|policy| policy.lazy = true);
    fleet.supervisor.remember(id, tools(["a"]), fleet.now);
    let boot = fleet.command(id, Command::Boot);
    assert_eq!((fleet.reply(boot), fleet.state(id), fleet.snapshot.len()), (Some(&Ok(())), State::Sleeping, 1));
    let stop = fleet.command(id, Command::Stop);
    assert_eq!((fleet.reply(stop), fleet.state(id), fleet.snapshot.len()), (Some(&Ok(())), State::Stopped, 0));
}

#[test]
fn starts_are_limited_and_slow_ones_keep_nobody_waiting() {
    let (mut fleet, ids) = many(20, PackageKind::Binary);
    fleet.boot();
    assert_eq!(fleet.open.len(), 8);
    assert!(ids.iter().all(|id| fleet.supervisor.status(*id) == Some(McpStatus::Starting)));
    // One of those that wait is wanted at once.
    let start = fleet.command(ids[19], Command::Start);
    assert_eq!(fleet.open.len(), 9);
    let urgent = fleet.open.pop_back().expect("it is there");
    assert_eq!(urgent.0, ids[19]);
    fleet.open.push_front(urgent);
    for _ in 0..4 {
        fleet.answer_next(1, &tools(["a"]));
        let next = fleet.open.pop_back().expect("it goes on");
        fleet.open.push_front(next);
    }
    assert_eq!(fleet.reply(start), Some(&Ok(())));
    fleet.pass(10 * SECOND);
    let resolves = fleet.open.iter().filter(|(_, effect)| matches!(effect, Effect::Resolve { .. })).count();
    assert_eq!(resolves, 16, "eight that are slow, and the next eight");
    fleet.settle(&tools(["a"]));
    assert_eq!(fleet.boots, [(20, 0, 0)]);
    assert!(ids.iter().all(|id| fleet.state(*id) == State::Running));
}

#[test]
fn package_managers_are_started_two_at_a_time() {
    let (mut fleet, ids) = many(6, PackageKind::Npm);
    let docker = fleet.add(100, ServerSpec::new("docker", Policy::new(PackageKind::Docker)));
    fleet.boot();
    let begun: Vec<ServerId> = fleet.open.iter().map(|(id, _)| *id).collect();
    assert_eq!(begun, [ids[0], ids[1], docker]);
}

#[test]
fn a_server_stopped_before_its_turn_is_not_started() {
    let mut settings = SupervisorSettings::default();
    settings.max_starts = 1;
    let mut fleet = Fleet::new(settings);
    for n in 1..=2 {
        fleet.add(n, spec(&format!("s{n}")));
    }
    fleet.boot();
    fleet.command(server_id(2), Command::Stop);
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.launched(server_id(2)), fleet.state(server_id(2))), (0, State::Stopped));
    assert_eq!(fleet.boots, [(1, 0, 1)]);
}

#[test]
fn the_end_of_all_comes_in_time_whatever_they_do() {
    let (mut fleet, ids) = many(10, PackageKind::Binary);
    fleet.boot();
    fleet.settle(&tools(["a"]));
    let command = fleet.shutdown(5 * SECOND);
    // Nine listen, one does not.
    fleet.answer_next(9, &tools(["a"]));
    assert_eq!(fleet.reply(command), None);
    fleet.pass(4 * SECOND);
    assert!(fleet.alive.is_empty(), "it was killed");
    fleet.pass(SECOND);
    assert_eq!(fleet.reply(command), Some(&Ok(())));
    let late = fleet.command(ids[0], Command::Start);
    assert!(fleet.reply(late).expect("it is answered").is_err());
    assert!(fleet.supervisor.add(server_id(77), spec("late"), fleet.now).is_err());
}

#[test]
fn the_end_of_nothing_is_there_at_once() {
    let mut fleet = Fleet::default();
    let command = fleet.shutdown(Duration::ZERO);
    assert_eq!(fleet.reply(command), Some(&Ok(())));
}

fn switched(enabled: bool) -> (Fleet, ServerId) {
    let mut fleet = Fleet::default();
    let mut spec = spec("one");
    spec.enabled = enabled;
    spec.revision = 5;
    let id = fleet.add(1, spec);
    (fleet, id)
}

/// One that is switched on, which is written, and that is about to start.
fn switched_on() -> (Fleet, ServerId, CommandId) {
    let (mut fleet, id) = switched(false);
    let on = fleet.switch(id, true, 5);
    fleet.persists.clear();
    fleet.persisted(id, Ok(6));
    (fleet, id, on)
}

#[test]
fn switched_on_it_is_persisted_and_then_started() {
    let (mut fleet, id) = switched(false);
    let on = fleet.switch(id, true, 5);
    assert_eq!(fleet.persists.pop_front(), Some((id, true, 5)));
    assert!(fleet.open.is_empty(), "what is not written is not done");
    fleet.persisted(id, Ok(6));
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(on), fleet.supervisor.revision(id)), (Some(&Ok(())), Some(6)));
    let off = fleet.switch(id, false, 6);
    assert_eq!((fleet.persists.pop_front(), fleet.state(id)), (Some((id, false, 6)), State::Running));
    fleet.persisted(id, Ok(7));
    fleet.settle(&tools(["a"]));
    assert_eq!((fleet.reply(off), fleet.state(id)), (Some(&Ok(())), State::Disabled));
}

#[test]
fn a_start_that_fails_switches_it_off_again() {
    let (mut fleet, id, on) = switched_on();
    fleet.refuse_next(transient("no"));
    assert_eq!((fleet.persists.pop_front(), fleet.reply(on)), (Some((id, false, 6)), None));
    fleet.persisted(id, Ok(7));
    assert_eq!(fleet.reply(on), Some(&Err(HubError::unavailable("no"))));
    assert_eq!(fleet.supervisor.status(id), Some(McpStatus::Disabled));
    fleet.pass(1_000 * SECOND);
    assert_eq!(fleet.launched(id), 0);
}

#[test]
fn a_configuration_that_changed_meanwhile_is_not_touched() {
    let (mut fleet, id, on) = switched_on();
    // Somebody edits the file while it starts.
    let mut edited = spec("one, edited");
    edited.revision = 9;
    fleet.supervisor.update(id, edited, false, fleet.now).expect("it is there");
    fleet.refuse_next(transient("no"));
    assert!(fleet.persists.is_empty(), "the flag is theirs now");
    assert_eq!(fleet.reply(on), Some(&Err(HubError::unavailable("no"))));
    assert_eq!(fleet.supervisor.revision(id), Some(9));
}

#[test]
fn a_revert_that_is_refused_leaves_what_others_wrote() {
    let (mut fleet, id, on) = switched_on();
    fleet.refuse_next(transient("no"));
    fleet.persisted(id, Err(HubError::conflict("revision", "changed")));
    assert_eq!(fleet.reply(on), Some(&Err(HubError::unavailable("no"))));
    assert_eq!(fleet.state(id), State::Backoff);
}

#[test]
fn a_login_that_is_wanted_does_not_switch_it_off() {
    let (mut fleet, id, on) = switched_on();
    fleet.answer_next(2, &tools(["a"]));
    fleet.refuse_next(Failure::new(HubError::validation("authorization", "login"), Retry::Login));
    fleet.settle(&tools(["a"]));
    assert!(fleet.persists.is_empty());
    assert_eq!(fleet.state(id), State::NeedsAuth);
    assert!(fleet.reply(on).expect("it is answered").is_err());
}

#[test]
fn a_switch_is_refused_where_it_would_undo_what_others_did() {
    let (mut fleet, id) = switched(false);
    let old = fleet.new_command();
    fleet.supervisor.set_enabled(id, old, true, 4, fleet.now);
    let (first, second) = (fleet.new_command(), fleet.new_command());
    fleet.supervisor.set_enabled(id, first, true, 5, fleet.now);
    fleet.supervisor.set_enabled(id, second, false, 5, fleet.now);
    fleet.drain();
    let conflict =
        |reply: Option<&Result<(), HubError>>| reply.map(|reply| reply.clone().unwrap_err().field().to_owned());
    assert_eq!(conflict(fleet.reply(old)), Some("revision".into()));
    assert_eq!(conflict(fleet.reply(second)), Some("enabled".into()));
    fleet.persisted(id, Err(HubError::unavailable("the disk is full")));
    assert_eq!(fleet.reply(first), Some(&Err(HubError::unavailable("the disk is full"))));
    assert_eq!((fleet.state(id), fleet.open.len()), (State::Disabled, 0));
}

#[test]
fn failures_after_the_start_never_change_the_flag() {
    let (mut fleet, id) = switched(true);
    fleet.run(id, &tools(["a"]));
    for _ in 0..100 {
        if fleet.state(id) == State::Running {
            fleet.crash(id);
        }
        fleet.settle(&tools(["a"]));
        fleet.pass(SECOND);
    }
    assert_eq!((fleet.state(id), fleet.persists.len()), (State::Failed, 0));
}

#[test]
fn calls_are_counted_and_limited() {
    let mut fleet = Fleet::default();
    let limit = Rate { calls: 60, per: Duration::from_secs(60) };
    let mut limited = spec("slow");
    limited.rate = Some(limit);
    let (slow, free) = (fleet.add(1, limited), fleet.add(2, spec("free")));
    for id in [slow, free] {
        fleet.run(id, &tools(["a"]));
    }
    for n in 0..60 {
        fleet.now = fleet.now + SECOND / 10;
        assert!(fleet.begin_call(slow, "a").is_ok(), "call {n}");
    }
    let Err(CallRejection::TooManyCalls(refused)) = fleet.begin_call(slow, "a") else {
        panic!("it is one too many");
    };
    assert_eq!(refused.rate, limit);
    assert_eq!(refused.retry_after, Duration::from_millis(54_100));
    assert_eq!(refused.to_hub_error().code(), ErrorCode::ServiceUnavailable);
    let waiting = fleet.now + refused.retry_after;
    assert!(fleet.supervisor.begin_call(slow, "a", waiting).is_ok());
    assert!(fleet.supervisor.begin_call(slow, "a", waiting).is_err(), "the next one was a tenth of a second later");
    for _ in 0..1_000 {
        assert!(fleet.begin_call(free, "a").is_ok());
    }
    let detail = fleet.detail(free);
    assert_eq!((detail.calls, detail.calls_in_flight), (1_000, 1_000));
}

#[test]
fn a_tool_that_is_denied_is_not_listed_not_found_and_not_called() {
    let mut fleet = Fleet::default();
    let mut filtered = spec("files");
    filtered.filter = Filter { allow: None, deny: vec!["delete*".into()] };
    let id = fleet.add(1, filtered);
    fleet.run(id, &tools(["read", "delete_all"]));
    let catalogue = fleet.supervisor.catalogue();
    assert_eq!(catalogue.tools().map(|tool| tool.exposed).collect::<Vec<_>>(), ["files__read"]);
    assert!(catalogue.find("files__delete_all").is_none() && catalogue.find("delete_all").is_none());
    let denied = fleet.begin_call(id, "delete_all");
    assert_eq!(denied, Err(CallRejection::Error(HubError::unknown_tool("delete_all"))));
    assert_eq!(denied.unwrap_err().to_hub_error().message(), "tool not found: `delete_all`");
    assert_eq!(fleet.supervisor.status(id), Some(McpStatus::Running { tools: vec!["read".into()] }));
    // The filter is taken back without a restart.
    fleet.supervisor.update(id, spec("files"), false, fleet.now).expect("it is there");
    fleet.drain();
    assert_eq!((fleet.supervisor.catalogue().len(), fleet.launched(id)), (2, 1));
    assert!(fleet.begin_call(id, "delete_all").is_ok());
}

#[test]
fn a_call_of_a_server_that_does_not_run_is_told_so_whatever_the_tool_is() {
    let mut fleet = Fleet::default();
    let mut picky = spec("one");
    picky.filter = Filter { allow: Some(vec!["a".into()]), deny: Vec::new() };
    let id = fleet.add(1, picky);
    // It may be a name that is shown, and stands for the tool that is allowed: that is known once it runs.
    for tool in ["a", "one__a", "b"] {
        assert_eq!(fleet.begin_call(id, tool), Err(CallRejection::NotRunning), "{tool}");
    }
    fleet.run(id, &tools(["a", "b"]));
    assert!(fleet.begin_call(id, "a").is_ok());
    let denied = fleet.begin_call(id, "b");
    assert_eq!(denied, Err(CallRejection::Error(HubError::unknown_tool("b"))));
    fleet.command(id, Command::Stop);
    assert_eq!(fleet.begin_call(id, "a"), Err(CallRejection::NotRunning));
}

#[test]
fn a_tool_that_goes_while_it_is_called_is_not_called_again() {
    let mut fleet = Fleet::default();
    let id = fleet.add(1, spec("files"));
    fleet.run(id, &tools(["a", "b"]));
    let generation = fleet.begin_call(id, "a").expect("it is there");
    fleet.event(id, generation, Event::ListChanged);
    fleet.pass(2 * SECOND);
    fleet.settle(&tools(["b"]));
    assert!(fleet.failed_calls.is_empty(), "the call goes on");
    fleet.end_call(id, generation);
    let gone = fleet.begin_call(id, "a");
    // The text is that of a client, whose list does not have the tool.
    let text = "tool not found: `a` (the server's list of tools does not have it)";
    assert_eq!(gone, Err(CallRejection::Error(HubError::unknown_tool("a").with_message(text))));
}

#[test]
fn an_id_that_is_used_again_does_not_hear_what_is_left_of_the_old_server() {
    let mut fleet = Fleet::default();
    let id = fleet.add(1, spec("one"));
    fleet.run(id, &tools(["a"]));
    let old = fleet.generation(id);
    fleet.command(id, Command::Delete);
    fleet.settle(&tools(["a"]));
    // A launch of the old one may still come up.
    fleet.alive.insert((id, old));
    fleet.event(id, old, Event::Launched { pid: None });
    assert!(matches!(fleet.open.pop_front(), Some((_, Effect::Kill { .. }))));
    fleet.add(1, spec("one"));
    fleet.run(id, &tools(["a"]));
    assert!(fleet.generation(id) > old);
    fleet.event(id, old, Event::Closed(transient("old")));
    assert_eq!(fleet.state(id), State::Running);
}

#[test]
fn a_thousand_servers() {
    let (mut fleet, ids) = many(1_000, PackageKind::Binary);
    let list = tools((0..10).map(|n| format!("tool_{n}")));
    fleet.boot();
    fleet.settle(&list);
    assert_eq!(fleet.boots, [(1_000, 0, 0)]);
    assert_eq!(fleet.supervisor.catalogue().len(), 10_000);
    // Each hundredth crashes every few seconds; the others do not notice.
    for _ in 0..100 {
        for id in ids.iter().step_by(100) {
            if fleet.state(*id) == State::Running {
                fleet.crash(*id);
            }
        }
        fleet.settle(&list);
        fleet.pass(2 * SECOND);
    }
    let states = |fleet: &Fleet, state| ids.iter().filter(|id| fleet.state(**id) == state).count();
    assert_eq!((states(&fleet, State::Running), states(&fleet, State::Failed)), (990, 10));
    assert_eq!(fleet.supervisor.catalogue().len(), 9_900);
    assert_eq!(fleet.launches.len(), 1_000 + 10 * 5);
    let command = fleet.shutdown(5 * SECOND);
    fleet.settle(&list);
    assert_eq!(fleet.reply(command), Some(&Ok(())));
    assert!(fleet.alive.is_empty());
    assert_eq!(fleet.supervisor.poll_timeout(), None);
}
