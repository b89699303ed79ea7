//! No text of a server can control the terminal, on either stream. Colors appear only if they are wanted.
#![cfg(unix)]

use crate::support::{Finished, command, mcpwire, scripted};
use serde_json::json;

#[test]
fn results_lists_and_errors_are_made_harmless() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31mred\u{202e}";
    let list = json!({ "tools": [
        { "name": evil, "description": evil, "inputSchema": { "type": "object", "properties": { evil: { "enum": [evil] } } } },
        { "name": evil, "inputSchema": 7 },
    ] });
    let call = json!({ "content": [{ "type": "text", "text": evil }, { "type": evil }], "isError": true });
    let (list, call) = (list.to_string(), call.to_string());
    assert_tame(&mcpwire(&scripted(&["tools"], &list, "{}", "")));
    assert_tame(&mcpwire(&scripted(&["tools", "--json"], &list, "{}", "")));
    assert_tame(&mcpwire(&scripted(&["call", "t"], "{}", &call, "")));
    assert_tame(&mcpwire(&scripted(&["call", "t", "--json"], "{}", &call, "")));
    let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": { "level": evil, "logger": evil, "data": evil } });
    assert_tame(&mcpwire(&scripted(&["call", "t"], "{}", &call, &format!("{log}\n"))));
    let stderr = ["info", "--stderr", "show", "--", "sh", "-c", r"printf '\033[2Jred\007\n' >&2; exit 1"];
    assert_tame(&mcpwire(&stderr));
    let tail = ["info", "--", "sh", "-c", r"printf '\033[2Jred\007\n' >&2; exit 1"];
    let finished = mcpwire(&tail);
    assert_tame(&finished);
    assert!(finished.stderr.contains("red"), "{finished:?}");
}

#[test]
fn colours_are_forced_on_and_off() {
    let colored = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = command(arguments).envs(variables.iter().copied()).output().expect("it runs");
        output.stdout.contains(&0x1b)
    };
    assert!(!colored(&["tools", "--demo"], &[]), "a pipe is no terminal");
    assert!(colored(&["tools", "--demo"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["tools", "--demo", "--no-color"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!colored(&["tools", "--demo"], &[("NO_COLOR", "1")]));
}

fn assert_tame(finished: &Finished) {
    for output in [&finished.stdout, &finished.stderr] {
        let wild = output.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t' || *c == '\u{202e}');
        assert_eq!(wild, None, "{finished:?}");
    }
}
