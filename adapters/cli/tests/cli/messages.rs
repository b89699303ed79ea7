//! The messages that a person can meet, in one file to be read as a whole.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::sync::Mutex;

use crate::support::servers::Answering;
use crate::support::{MCPWIRE, Place, each};

/// Each command line with what it writes to standard error, or to standard output where it succeeds. A run with
/// `MCPWIRE_WRITE_MESSAGES` set writes the file.
const MESSAGES: &str = include_str!("messages.txt");

/// The command lines that fail, or that change something. `DIR` is the directory of the test, in which `demo` is configured; `URL` is
/// the URL of a server that gives the status before the slash.
const COMMANDS: [&str; 62] = [
    "tolls",
    "call",
    "call ad a=1 --demo",
    "call add a=2 --demo",
    "call add a=2 b=3 c=4 --demo",
    "call add a=x b=2 --demo",
    "call add {\"a\": --demo",
    "call add a --demo",
    "call add @DIR/none.json --demo",
    "call fail --demo",
    "call nosuch__echo message=hi",
    "call demo nosuch",
    "info dmeo",
    "tools demo ecko",
    "read nowhere://nothing --demo",
    "prompt nosuch --demo",
    "complete prompt nosuch a b --demo",
    "complete tool echo a b --demo",
    "request demo no/such",
    "request demo tools/list [1]",
    "task demo stop 1",
    "tools",
    "tools --url ftp://example.com/mcp",
    "tools --url example.com/mcp",
    "tools --url http://127.0.0.1:1/mcp",
    "tools --url URL/401",
    "tools --url URL/403",
    "tools --url URL/404",
    "tools --url URL/500",
    "tools --url http://127.0.0.1:1/mcp --bearer-env NO_SUCH_VARIABLE",
    "tools --url http://127.0.0.1:1/mcp --header X-Team",
    "tools --url https://127.0.0.1:1/mcp --ca DIR/none.pem",
    "tools --ca DIR/none.pem --demo",
    "tools -- DIR/no-such-program",
    "tools -- DIR/servers.txt",
    "tools -- no-such-program",
    "tools -- sh -c exit",
    "tools -- echo hello",
    "info demo --env A=b",
    "ping --demo --timeout 0",
    "ping --demo --timeout soon",
    "ping --demo --protocol 1999-01-01",
    "ping --demo --answers DIR/none.json",
    "ping --demo --trace DIR/none/trace.jsonl",
    "call chart --demo --save DIR/servers.txt",
    "call echo message=hi --ask --demo",
    "server add demo -- other",
    "server add second",
    "server add third --npm some-package --lazy",
    "server show nosuch",
    "server remove nosuch",
    "server enable demo",
    "server disable demo",
    "server import DIR/none.json",
    "server import DIR/broken.json",
    "server start demo",
    "secret set nosuch TOKEN",
    "login demo",
    "logout demo",
    "whoami demo",
    "hub stop",
    "hub auto maybe",
];

#[test]
fn messages_say_what_happened_why_and_what_to_do() {
    let place = Place::with_demo();
    place.write("broken.json", "{\"mcpServers\": {\"a\": ");
    place.write("servers.txt", "a file");
    let servers = [("401", "401 Unauthorized"), ("403", "403 Forbidden"), ("404", "404 Not Found")];
    let servers = servers.map(|(name, status)| (name, Answering::start(status, "").url));
    let failing = Answering::start("500 Internal Server Error", "the database is down").url;
    let filled = |command: &str| {
        let mut command = command.replace("DIR", place.file("").trim_end_matches('/')).replace("URL/500", &failing);
        for (name, url) in &servers {
            command = command.replace(&format!("URL/{name}"), url);
        }
        command
    };
    let shown = Mutex::new(BTreeMap::new());
    let run = |at: usize| {
        let line = filled(COMMANDS[at]);
        let words: Vec<&str> = line.split(' ').collect();
        let finished = place.run(&words);
        let text = if finished.stderr.is_empty() { &finished.stdout } else { &finished.stderr };
        let mut text = text.replace(&place.file(""), "DIR/").replace(MCPWIRE, "mcpwire");
        for url in servers.iter().map(|(_, url)| url).chain([&failing]) {
            text = text.replace(url.trim_start_matches("http://").trim_end_matches("/mcp"), "127.0.0.1:PORT");
        }
        let lines: Vec<String> =
            text.lines().take(12).map(|line| format!("    {line}").trim_end().to_owned()).collect();
        let entry = format!("mcpwire {}\n    exit {}\n{}\n", COMMANDS[at], finished.code(), lines.join("\n"));
        shown.lock().expect("no test has failed").insert(at, entry);
    };
    // The last ones change the configuration, so they run in their order.
    let first_change =
        COMMANDS.iter().position(|command| command.starts_with("server add")).expect("one adds a server");
    each(0..first_change, run);
    (first_change..COMMANDS.len()).for_each(run);
    let mut messages = String::new();
    for entry in shown.into_inner().expect("no test has failed").values() {
        let _ = writeln!(messages, "{entry}");
    }
    if std::env::var_os("MCPWIRE_WRITE_MESSAGES").is_some() {
        fs::write(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/messages.txt"), &messages)
            .expect("it can be written");
    }
    assert_eq!(messages, MESSAGES);
}
