//! Tests of valid and invalid command lines.

use std::time::Duration;

use clap::CommandFactory;

use super::*;

fn parse(line: &str) -> Result<Args, clap::Error> {
    Args::try_parse_from(line.split(' '))
}

#[test]
fn the_definition_is_consistent() {
    Args::command().debug_assert();
}

#[test]
fn options_stand_anywhere_before_the_servers_command() {
    for line in [
        "mcpwire --json --timeout 2s call echo {} -- server --json --timeout x",
        "mcpwire call --json echo --timeout 2s {} -- server --json --timeout x",
        "mcpwire call echo {} --timeout 2 --json -- server --json --timeout x",
    ] {
        let args = parse(line).expect(line);
        assert!(args.options.json);
        assert_eq!(args.options.timeout, Some(Duration::from_secs(2)));
        let Command::Call { tool, arguments, target, .. } = args.command else { panic!("{line}") };
        assert_eq!((tool.as_str(), arguments.as_deref()), ("echo", Some("{}")));
        assert_eq!(target.command, ["server", "--json", "--timeout", "x"]);
    }
}

#[test]
fn a_connection_is_needed_and_only_one() {
    for line in [
        "mcpwire",
        "mcpwire tools",
        "mcpwire call echo",
        "mcpwire call echo {}",
        "mcpwire info --demo -- server",
        "mcpwire info --demo --server a",
        "mcpwire info --server a --header A:b",
        "mcpwire info --url http://localhost/mcp --client-key key.pem",
        "mcpwire info --demo --url http://localhost/mcp",
        "mcpwire info --url http://localhost/mcp -- server",
        "mcpwire info --url",
        "mcpwire info --header A:b",
        "mcpwire info --demo --header A:b",
        "mcpwire info --bearer-env A -- server",
        "mcpwire info --demo --unix-socket a",
        "mcpwire info --unix-socket a",
        "mcpwire info --",
        "mcpwire call --demo",
        "mcpwire demo --demo",
        "mcpwire nonesuch --demo",
        "mcpwire call echo --detach --demo",
        "mcpwire task get --demo",
        "mcpwire task look a --demo",
        "mcpwire tools --demo --stderr loudly",
        "mcpwire tools --demo --protocol 1999-01-01x",
    ] {
        let error = parse(line).expect_err(line);
        assert_eq!(error.exit_code(), 2, "{line}");
    }
}

#[test]
fn headers_are_not_shown() {
    let line = "mcpwire info --url http://localhost/mcp --header X-Key:hunter2 --header hunter2";
    let shown = format!("{:?}", parse(line).expect("it parses"));
    assert!(shown.contains("X-Key") && !shown.contains("hunter2"), "{shown}");
}

#[test]
fn standard_input_is_an_argument() {
    let Command::Call { arguments, .. } = parse("mcpwire call echo - --demo").expect("parses").command else {
        panic!("not a call");
    };
    assert_eq!(arguments.as_deref(), Some("-"));
}

#[test]
fn usage_errors_name_their_field() {
    for (line, field) in [
        ("mcpwire tools --demo --timeout soon", "timeout"),
        ("mcpwire tools --demo --env =x", "env"),
        ("mcpwire call --demo", "TOOL"),
        ("mcpwire tools --demo --nonesuch", "nonesuch"),
    ] {
        let failure = usage(&parse(line).expect_err(line));
        assert_eq!(failure.field(), field, "{line}");
    }
}
