//! Tests of valid and invalid command lines.

use std::time::Duration;

use super::*;

fn parse(line: &str) -> Result<Args, clap::Error> {
    let words = std::iter::once("mcpwire").chain(line.split(' ').filter(|word| !word.is_empty()));
    let matches = Args::definition().try_get_matches_from(words);
    matches.and_then(|matches| Args::from_arg_matches(&matches))
}

#[test]
fn the_definition_is_consistent() {
    Args::definition().debug_assert();
}

#[test]
fn options_stand_anywhere_before_the_servers_command() {
    for line in [
        "--json --timeout 2s call echo {} -- server --json --timeout x",
        "call --json echo --timeout 2s {} -- server --json --timeout x",
        "call echo {} --timeout 2 --json -- server --json --timeout x",
    ] {
        let args = parse(line).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert!(args.options.json);
        assert_eq!(args.options.timeout, Some(Duration::from_secs(2)));
        let Command::Call { words, target, .. } = args.command else { panic!("{line}") };
        assert_eq!(words, ["echo", "{}"]);
        assert_eq!(target.command, ["server", "--json", "--timeout", "x"]);
    }
}

/// Returns the server that the words of a line select, and the other words, or the message of the error.
fn split(line: &str) -> Result<(Option<String>, Vec<String>), String> {
    let one = |name, named: Named| {
        Words::only_server(name).split(&named.target, &named.words).map(|(target, rest)| (target, rest.to_vec()))
    };
    let many = |grammar: Words, words: Vec<String>, target: Target| {
        grammar.split(&target, &words).map(|(target, rest)| (target, rest.to_vec()))
    };
    let split = match parse(line).unwrap_or_else(|error| panic!("{line}: {error}")).command {
        Command::Info(named) => one("info", named),
        Command::Ping(named) => one("ping", named),
        Command::Test { words, target, .. } => many(Words::only_server("test"), words, target),
        Command::Tools { words, target, .. } => many(Words::TOOLS, words, target),
        Command::Call { words, target, .. } => many(Words::CALL, words, target),
        Command::Read { words, target, .. } => many(Words::READ, words, target),
        Command::Prompt { words, target, .. } => many(Words::PROMPT, words, target),
        Command::Complete { words, target, .. } => many(Words::COMPLETE, words, target),
        Command::Task { words, target, .. } => many(Words::TASK, words, target),
        Command::Request { words, target, .. } => many(Words::REQUEST, words, target),
        _ => panic!("{line}"),
    };
    split.map(|(target, rest)| (target.server, rest)).map_err(|failure| failure.message().to_owned())
}

#[test]
fn a_server_is_named_in_the_same_way_in_every_command() {
    for (line, server, rest) in [
        ("info calc", "calc", ""),
        ("info --server calc", "calc", ""),
        ("info --demo", "", ""),
        ("info -- server --verbose", "", ""),
        ("ping calc", "calc", ""),
        ("test calc --tool echo --seed 7", "calc", ""),
        ("test --calls 3 -- server x", "", ""),
        ("tools", "", ""),
        ("tools calc", "calc", ""),
        ("tools calc echo", "calc", "echo"),
        ("tools calc__echo", "", "calc__echo"),
        ("tools --server calc echo", "calc", "echo"),
        ("tools --demo echo", "", "echo"),
        ("call calc echo a=1 b=2", "calc", "echo a=1 b=2"),
        ("call calc__echo a=1", "", "calc__echo a=1"),
        ("call echo", "", "echo"),
        ("call echo {}", "", "echo {}"),
        ("call echo a=1", "", "echo a=1"),
        ("call echo -", "", "echo -"),
        ("call echo @file", "", "echo @file"),
        ("call calc__echo {}", "", "calc__echo {}"),
        ("call calc__echo", "", "calc__echo"),
        ("call calc my__tool -", "calc", "my__tool -"),
        ("call echo {} --server calc", "calc", "echo {}"),
        ("call echo a=1 --demo", "", "echo a=1"),
        ("call echo a=1 -- server x", "", "echo a=1"),
        ("call echo --url http://localhost/mcp", "", "echo"),
        ("read calc file:///a", "calc", "file:///a"),
        ("read file:///a --demo", "", "file:///a"),
        ("prompt calc greet name=Ada", "calc", "greet name=Ada"),
        ("complete calc prompt greet name A", "calc", "prompt greet name A"),
        ("complete prompt greet name --demo", "", "prompt greet name"),
        ("task calc get 7", "calc", "get 7"),
        ("request calc ping", "calc", "ping"),
        ("request ping {} --demo", "", "ping {}"),
    ] {
        let expected = (
            Some(server.to_owned()).filter(|server| !server.is_empty()),
            rest.split_whitespace().map(str::to_owned).collect(),
        );
        assert_eq!(split(line), Ok(expected), "{line}");
    }
}

#[test]
fn a_word_that_is_missing_or_one_too_many_is_named() {
    for (line, error) in [
        ("info", "no server is named: mcpwire info SERVER"),
        ("info calc other", "unexpected argument: other: mcpwire info SERVER"),
        ("info other --demo", "unexpected argument: other: mcpwire info "),
        ("info http://localhost/mcp", "a URL is no name of a server: mcpwire info SERVER"),
        ("read file:///a", "no server is named: mcpwire read SERVER URI"),
        ("read a b c", "unexpected argument: c: mcpwire read SERVER URI"),
        ("prompt greet", "no server is named: mcpwire prompt SERVER NAME [ARGUMENT]..."),
        ("complete calc prompt greet", "no server is named: "),
        ("task get --demo", "ID is missing: mcpwire task get|result|cancel ID"),
        ("tools calc echo more", "unexpected argument: more: mcpwire tools SERVER [TOOL]"),
    ] {
        let found = split(line).expect_err(line);
        assert!(found.starts_with(error), "{line}: {found}");
    }
}

#[test]
fn usage_errors_name_their_field() {
    for (line, field) in [
        ("", "command"),
        ("nonesuch --demo", "command"),
        ("demo --demo", "demo"),
        ("info --url", "url"),
        ("info --demo -- server", "demo"),
        ("info --demo --server a", "demo"),
        ("info --demo --url http://localhost/mcp", "demo"),
        ("info --url http://localhost/mcp -- server", "url"),
        ("info --server a --header A:b", "server"),
        ("info --demo --header A:b", "demo"),
        ("info --bearer-env A -- server", "bearer-env"),
        ("info --url http://localhost/mcp --client-key key.pem", "client-cert"),
        ("call echo --detach --demo", "task"),
        ("tools --demo --nonesuch", "nonesuch"),
        ("tools --demo --env =x", "env"),
        ("tools --demo --env MCPWIRE_SURELY_NOT_SET", "env"),
        ("tools --demo --max-message 0", "max-message"),
        ("tools --demo --protocol 1999-01-01", "protocol"),
        ("tools --demo --stderr loudly", "stderr"),
        ("tools --demo --timeout soon", "timeout"),
    ] {
        let error = parse(line).err().expect(line);
        assert_eq!((error.exit_code(), usage(&error).field()), (2, field), "{line}");
    }
}

/// Returns the command lines in the string literals of a source file: what follows `mcpwire ` and the name of a command.
fn commands_in(source: &str) -> Vec<String> {
    let definition = Args::definition();
    let is_command = |word: &str| definition.get_subcommands().any(|command| command.get_name() == word);
    let code = source.lines().map(str::trim_start).take_while(|line| *line != "#[cfg(test)]");
    let code = code.filter(|line| !line.starts_with("//") && !line.contains("override_usage"));
    let rest = code.flat_map(|line| line.split("mcpwire ").skip(1));
    let ends = ["\\n", "\"", "`", "  ", "; ", ", ", ". ", ": ", " (", ")", " > ", " | "];
    let cut = rest.map(|rest| {
        // Neither the directory `.` nor a quote in a string is the end of a command.
        let rest = rest.replace(" . ", " ./ ").replace("\\\"", "");
        let end = ends.iter().filter_map(|end| rest.find(end)).min().unwrap_or(rest.len());
        rest[..end].trim_end_matches([' ', '\\', '.', ':']).to_owned()
    });
    let named = cut.filter(|command| command.split(['{', ' ']).next().is_some_and(is_command));
    // A placeholder is one word, or nothing if it follows a word without a space.
    let filled = named.map(|command| {
        let mut parts = command.split('{');
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |all, part| {
            let word = if all.ends_with(' ') { "x" } else { "" };
            all + word + part.split_once('}').map_or("", |(_, rest)| rest)
        })
    });
    filled.collect()
}

#[test]
fn each_command_in_a_message_or_help_text_is_one_that_the_tool_has() {
    /// Texts that speak of a command, the beginning of one, and `mcpwire server ACTION NAME`, whose actions are below.
    const PROSE: [&str; 6] = [
        "whoami will not list this login",
        "call --task --detach",
        "call",
        "demo-server",
        "server x x",
        "test with --seed and the same options",
    ];
    let mut directories = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let (mut count, mut wrong) = (0, Vec::new());
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else if !path.ends_with("tests.rs") && !path.ends_with("completion/scripts.rs") {
                let commands = commands_in(&std::fs::read_to_string(&path).unwrap());
                for command in commands.iter().filter(|command| !PROSE.contains(&command.as_str())) {
                    count += 1;
                    let words = shell_words::split(command).unwrap();
                    let words = std::iter::once("mcpwire".to_owned()).chain(words);
                    let parsed = Args::definition().try_get_matches_from(words);
                    let is_help = |error: &clap::Error| error.kind() == ErrorKind::DisplayHelp;
                    if let Some(error) = parsed.err().filter(|error| !is_help(error)) {
                        wrong.push(format!("{}: mcpwire {command}: {error}", path.display()));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    for action in ["disable", "enable", "logs", "remove", "restart", "show", "start", "stop"] {
        parse(&format!("server {action} x")).unwrap_or_else(|error| panic!("{action}: {error}"));
    }
    assert!(count > 60, "only {count} commands are found");
}
