//! Writes the parameters of a call as JSON, again and again, for `tests/instructions` to count.
//!
//! `json_writer ours|serde_json CASE N` writes N times: with the library's own writer, or with `serde_json`, a pass that replaces
//! line breaks in raw JSON by spaces, and a copy to the end of the message. Without std, `serde_json` cannot append to a buffer.

use std::collections::BTreeMap;
use std::env;
use std::hint::black_box;

use mcpwire_core::internal::Prepared;
use mcpwire_core::{CallTool, CallToolParams};
use serde::Serialize;

#[derive(Serialize)]
struct Search {
    path: &'static str,
    query: &'static str,
    limit: u32,
    recursive: bool,
    exclude: [&'static str; 4],
}

#[derive(Serialize)]
struct Edit {
    path: &'static str,
    text: String,
}

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    let [writer, case, count] = &words[..] else { panic!("usage: json_writer ours|serde_json CASE N") };
    let is_ours = writer == "ours";
    let count = count.parse().expect("N is a number");
    match &**case {
        "call" => {
            let exclude = ["target", "node_modules", ".git", "dist/assets/images/large"];
            let query = "fn remove_request with some words";
            let path = "/home/user/project/src/session/requests.rs";
            write(is_ours, count, Search { path, query, limit: 50, recursive: true, exclude });
        }
        "prose-64k" => write(is_ours, count, prose(64 << 10)),
        "prose-1m" => write(is_ours, count, prose(1 << 20)),
        "code-64k" => write(is_ours, count, code(64 << 10)),
        "code-1m" => write(is_ours, count, code(1 << 20)),
        "integers" => {
            let values: Vec<u64> = (0..1000).map(|n| n * 7919).collect();
            write(is_ours, count, BTreeMap::from([("values", values)]));
        }
        "floats" => {
            let values: Vec<f64> = (0..1000).map(|n| f64::from(n) * 0.7919).collect();
            write(is_ours, count, BTreeMap::from([("values", values)]));
        }
        "object" => {
            let member = |n| (format!("member_{n}"), BTreeMap::from([("id", n), ("size", n * 31)]));
            write(is_ours, count, (0..1000).map(member).collect::<BTreeMap<String, BTreeMap<&str, u32>>>());
        }
        other => panic!("no case is called {other}"),
    }
}

/// A text without escapes.
fn prose(length: usize) -> Edit {
    text("The quick brown fox jumps over the lazy dog, and then some more of it. ", length)
}

/// A text with an escape in every ten bytes.
fn code(length: usize) -> Edit {
    text("    let value = map.get(\"key\").unwrap();\n\tprintln!(\"{value}\\n\");\n", length)
}

fn text(line: &str, length: usize) -> Edit {
    Edit { path: "src/main.rs", text: line.chars().cycle().take(length).collect() }
}

fn write(is_ours: bool, count: usize, arguments: impl Serialize) {
    let params = CallToolParams { name: "read_file", arguments: &arguments };
    for _ in 0..count {
        if is_ours {
            black_box(Prepared::<CallTool>::new(&params).expect("it can be written"));
        } else {
            black_box(with_serde_json(&params));
        }
    }
}

fn with_serde_json(params: &impl Serialize) -> Vec<u8> {
    let mut message = Vec::with_capacity(256);
    let mut text = serde_json::to_vec(params).expect("it can be written");
    let mut from = 0;
    while let Some(at) = memchr::memchr2(b'\n', b'\r', &text[from..]) {
        from += at;
        text[from] = b' ';
    }
    message.extend_from_slice(&text);
    message
}
