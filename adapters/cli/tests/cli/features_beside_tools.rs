//! Completion, ping, and content that is saved.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::support::{Finished, mcpwire, scratch, scripted};
use serde_json::json;

/// A server of this revision with prompts, resources and completion. It writes the requests to standard error.
const SERVER: &str = r#"
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  printf '%s\n' "$line" >&2
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *'"method":"initialize"'*) say '"result":{"protocolVersion":"'$1'","capabilities":{"prompts":{},"resources":{},"completions":{}},"serverInfo":{"name":"features","version":"1"}}' ;;
    *'"method":"server/discover"'*) say '"error":{"code":-32601,"message":"no"}' ;;
    *'"method":"ping"'*) say '"result":{}' ;;
    *'"method":"completion/complete"'*) say '"result":{"completion":{"values":["python","pyt\u001b[2Jorch"],"total":10,"hasMore":true}}' ;;
    *'"method":"resources/read"'*) say '"result":{"contents":[{"uri":"file:///a/../logo.png?x=1","mimeType":"image/png","blob":"iVBORw=="},{"uri":"a:b","text":"words"}]}' ;;
    *'"method":"prompts/get"'*) say '"result":{"messages":[{"role":"user","content":{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}}]}' ;;
  esac
done
"#;

fn features(before: &[&str], revision: &str) -> Finished {
    mcpwire(&[before, &["--stderr", "show", "--", "sh", "-c", SERVER, "features", revision]].concat())
}

/// Returns the path of a directory for one test. The directory does not exist yet.
fn directory(name: &str) -> PathBuf {
    let directory = scratch(name);
    let _ = fs::remove_dir_all(&directory);
    directory
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it was made").filter_map(Result::ok);
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn arguments_are_completed() {
    let ask =
        ["complete", "prompt", "code_review", "framework", "py", "--context", "language=python", "--context", "a=b=c"];
    let finished = features(&ask, "2025-11-25");
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert!(finished.stdout.starts_with("python\n") && finished.stdout.contains("(2 of 10)"), "{finished:?}");
    assert!(!finished.stdout.contains('\u{1b}'), "{finished:?}");
    let asked = r#"{"ref":{"type":"ref/prompt","name":"code_review"},"argument":{"name":"framework","value":"py"},"context":{"arguments":{"language":"python","a":"b=c"}}}"#;
    assert!(finished.stderr.contains(asked), "{finished:?}");

    // Revisions before 2025-06-18 have no context.
    let earlier = features(&ask, "2025-03-26");
    assert!(earlier.code() == 0 && !earlier.stderr.contains(r#""context":"#), "{earlier:?}");

    let resource = features(&["complete", "resource", "file:///{path}", "path", "--json"], "2025-11-25");
    assert_eq!(resource.json()["completion"]["values"][0], "python");
    assert!(
        resource
            .stderr
            .contains(r#""ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}"#)
    );

    assert_eq!(mcpwire(&["complete", "tool", "t", "a", "--demo"]).code(), 2, "tools are not completed");
    assert_eq!(mcpwire(&["complete", "prompt", "t", "a", "--context", "x", "--demo"]).code(), 2);
    let without = SERVER.replace(r#","completions":{}"#, "");
    let server = ["--", "sh", "-c", &without, "features", "2025-11-25"];
    let refused = mcpwire(&[&["complete", "prompt", "t", "a", "--json"][..], &server].concat());
    assert_eq!((refused.code(), &refused.error()["field"]), (4, &json!("server")), "{refused:?}");
    assert!(refused.stderr.contains("completions"), "{refused:?}");
}

#[test]
fn a_server_of_either_era_answers_a_ping() {
    for protocol in ["modern", "2025-11-25", "2024-11-05"] {
        let finished = mcpwire(&["ping", "--demo", "--protocol", protocol]);
        assert_eq!(finished.code(), 0, "{finished:?}");
        assert!(finished.stdout.contains(" ms"), "{finished:?}");
    }
    let pong = mcpwire(&["ping", "--demo", "--json"]).json();
    assert!(pong["milliseconds"].as_f64().is_some_and(|time| time > 0.0), "{pong}");
    assert_eq!(mcpwire(&["ping", "--", "surely-not-a-command"]).code(), 3);
}

#[test]
fn what_is_no_text_is_saved() {
    let directory = directory("saved");
    let shown = directory.to_str().expect("it is Unicode");
    let result = r#"{"content":[{"type":"text","text":"two pictures"},{"type":"image","mimeType":"image/png","data":"iVBORw=="},{"type":"image","mimeType":"image/png","data":"/9j/"},{"type":"resource_link","uri":"file:///x","name":"x"},{"type":"resource","resource":{"uri":"file:///../../evil","mimeType":"application/pdf","blob":"JVBERi0="}}]}"#;
    let finished = mcpwire(&scripted(&["call", "draw", "--save", shown], "{}", result, ""));
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert_eq!(names(&directory), ["evil.pdf", "image-2.png", "image.png"]);
    assert_eq!(fs::read(directory.join("image.png")).ok().as_deref(), Some(&b"\x89PNG"[..]));
    assert_eq!(fs::read(directory.join("image-2.png")).ok().as_deref(), Some(&b"\xff\xd8\xff"[..]));
    for words in ["two pictures", "[resource link: x, file:///x]", "image.png (image/png, 4 bytes)", "evil.pdf"] {
        assert!(finished.stdout.contains(words), "{words}: {finished:?}");
    }

    let read = features(&["read", "file:///a", "--save", shown], "2025-11-25");
    assert!(read.code() == 0 && read.stdout.contains("logo.png") && read.stdout.contains("words"), "{read:?}");
    let prompt = features(&["prompt", "p", "--save", shown, "--json"], "2025-11-25");
    assert_eq!(prompt.json()["messages"][0]["role"], "user", "the document is as it was");
    assert!(prompt.stderr.contains("audio.wav"), "{prompt:?}");
    assert_eq!(names(&directory), ["audio.wav", "evil.pdf", "image-2.png", "image.png", "logo.png"]);
}

#[test]
fn a_result_of_a_hub_is_shown_too_if_it_cannot_be_saved() {
    let place = tempfile::tempdir().expect("a directory");
    let broken = r#"{"content":[{"type":"text","text":"words"},{"type":"image","mimeType":"image/png","data":"?"}]}"#;
    let list = r#"{"tools":[{"name":"draw","inputSchema":{"type":"object"}}]}"#;
    let config = place.path().to_str().expect("it is Unicode");
    let add = ["server", "add", "art", "--config-dir", config];
    assert_eq!(mcpwire(&scripted(&add, list, broken, "")).code(), 0);
    let finished = mcpwire(&["call", "art__draw", "--save", &format!("{config}/out"), "--config-dir", config]);
    assert!(finished.code() == 4 && finished.stderr.contains("invalid base64"), "{finished:?}");
    assert!(finished.stdout.contains("words"), "{finished:?}");
}

/// A server with one binary resource.
const BINARY: &str = r#"
while IFS= read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *'"method":"initialize"'*) say '"result":{"protocolVersion":"2025-11-25","capabilities":{"resources":{}},"serverInfo":{"name":"binary","version":"1"}}' ;;
    *'"method":"server/discover"'*) say '"error":{"code":-32601,"message":"no"}' ;;
    *'"method":"resources/read"'*) say '"result":{"contents":[{"uri":"a:b","mimeType":"x/y","blob":"QUIKQw=="}]}' ;;
  esac
done
"#;

#[test]
fn binary_contents_are_written_as_they_are_where_no_terminal_is() {
    let read = |more: &[&str]| mcpwire(&[&["read", "a:b"], more, &["--", "sh", "-c", BINARY]].concat());
    let finished = read(&[]);
    assert_eq!((finished.code(), finished.stdout.as_str()), (0, "AB\nC"), "{finished:?}");
    assert_eq!(read(&["--json"]).json()["contents"][0]["blob"], "QUIKQw==");
}

#[test]
fn nothing_that_is_there_is_touched() {
    let directory = directory("kept");
    fs::create_dir_all(&directory).expect("it can be made");
    let outside = scratch("outside.txt");
    fs::write(&outside, "mine").expect("it can be written");
    symlink(&outside, directory.join("image.png")).expect("it can be linked");
    fs::write(directory.join("image-2.png"), "mine too").expect("it can be written");
    let result = r#"{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw=="}]}"#;
    let save = ["call", "draw", "--save", directory.to_str().expect("it is Unicode")];
    let finished = mcpwire(&scripted(&save, "{}", result, ""));
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert_eq!(fs::read_to_string(&outside).ok().as_deref(), Some("mine"));
    assert_eq!(fs::read_to_string(directory.join("image-2.png")).ok().as_deref(), Some("mine too"));
    assert_eq!(names(&directory), ["image-2.png", "image-3.png", "image.png"]);
}

#[test]
fn what_cannot_be_saved_is_told() {
    let file = scratch("no-directory");
    fs::write(&file, "").expect("it can be written");
    let image = r#"{"content":[{"type":"image","mimeType":"image/png","data":"iVBORw=="}]}"#;
    let file = file.to_str().expect("it is Unicode");
    let finished = mcpwire(&scripted(&["call", "draw", "--json", "--save", file], "{}", image, ""));
    assert_eq!((finished.code(), &finished.error()["field"]), (2, &json!("save")), "{finished:?}");
    assert_eq!(finished.stdout.trim_end(), image, "the tool has run, so its result is shown");

    let directory = directory("broken");
    let broken = r#"{"content":[{"type":"image","mimeType":"image/png","data":"?"}]}"#;
    let save = ["call", "draw", "--save", directory.to_str().expect("it is Unicode")];
    let finished = mcpwire(&scripted(&save, "{}", broken, ""));
    assert!(finished.code() == 4 && finished.stderr.contains("base64"), "{finished:?}");
    let mixed = r#"{"content":[{"type":"text","text":"words"},{"type":"image","mimeType":"image/png","data":"?"},{"type":"image","mimeType":"image/png","data":"iVBORw=="}]}"#;
    for more in [&[][..], &["--json"]] {
        let finished = mcpwire(&scripted(&[&save[..], more].concat(), "{}", mixed, ""));
        assert!(finished.code() == 4 && finished.stderr.contains("invalid base64"), "{finished:?}");
        assert!(finished.stdout.contains("words"), "the rest is shown: {finished:?}");
    }
    assert_eq!(names(&directory), ["image-2.png", "image.png"], "the rest is saved");
    fs::remove_dir_all(&directory).expect("it can be removed");
    let text = r#"{"content":[{"type":"text","text":"only words"}]}"#;
    assert_eq!(mcpwire(&scripted(&save, "{}", text, "")).code(), 0);
    assert!(!directory.exists(), "it is not made for nothing");
}
