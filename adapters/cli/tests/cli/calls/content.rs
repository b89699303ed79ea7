//! Prompts, resources, completion and ping, and content that is saved.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::json;

use crate::support::servers::{DemoServer, Script, say};
use crate::support::{Place, mcpwire};

/// A server with prompts, resources and completion. It writes the requests to standard error.
fn features(revision: &str, capabilities: &str) -> Script {
    let completion = r#"{"completion":{"values":["python","pyt\u001b[2Jorch"],"total":10,"hasMore":true}}"#;
    let image = r#"{"uri":"file:///a/../logo.png?x=1","mimeType":"image/png","blob":"iVBORw=="}"#;
    let audio = r#"{"type":"audio","mimeType":"audio/wav","data":"UklGRg=="}"#;
    Script::legacy_of(revision, capabilities)
        .answers("ping", "{}")
        .does("completion/complete", &format!(r#"printf '%s\n' "$line" >&2; {}"#, say(completion)))
        .answers("resources/read", &format!(r#"{{"contents":[{image},{{"uri":"a:b","text":"words"}}]}}"#))
        .answers("prompts/get", &format!(r#"{{"messages":[{{"role":"user","content":{audio}}}]}}"#))
}

const ALL: &str = r#"{"prompts":{},"resources":{},"completions":{}}"#;

/// Returns the result of a call with these entries of `content`.
fn content(entries: &[&str]) -> String {
    format!(r#"{{"content":[{}]}}"#, entries.join(","))
}

const TEXT: &str = r#"{"type":"text","text":"words"}"#;
const IMAGE: &str = r#"{"type":"image","mimeType":"image/png","data":"iVBORw=="}"#;
const BROKEN: &str = r#"{"type":"image","mimeType":"image/png","data":"?"}"#;

fn names(directory: &str) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it was made").filter_map(Result::ok);
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn only_loopback_addresses_are_listened_on() {
    let refused = mcpwire("demo-server --http 0.0.0.0:0").fails().says(&["loopback"]);
    assert_eq!(refused.stdout, "");
}

#[test]
fn the_demo_has_prompts_resources_and_completion_over_each_transport() {
    let server = DemoServer::start();
    let sse = server.url.replace("/mcp", "/sse");
    for place in ["--demo", &format!("--url {}", server.url), &format!("--url {sse}")] {
        let run = |words: &str| mcpwire(&format!("{words} {place}"));
        for (words, expected) in [
            ("prompts", "greeting"),
            (r#"prompt forecast {"city":"Porto"}"#, "What should I wear in Porto today?"),
            ("resources", "demo://calls"),
            ("read demo://about", "mcpwire-demo"),
            ("read demo://weather/Porto", "humidity"),
            ("complete resource demo://weather/{city} city Po", "Porto"),
            (r#"call echo {"message":"hi"}"#, "hi"),
        ] {
            run(words).exits(0).shows(&[expected]);
        }
        run("call fail --json").exits(1).json_has("/isError", true);
        run("call nonesuch --json").exits(4).error_has("code", "NOT_FOUND");
    }
}

#[test]
fn arguments_are_completed() {
    let server = features("2025-11-25", ALL);
    let ask = "complete prompt code_review framework py --stderr show --context language=python --context a=b=c";
    let asked = r#"{"ref":{"type":"ref/prompt","name":"code_review"},"argument":{"name":"framework","value":"py"},"context":{"arguments":{"language":"python","a":"b=c"}}}"#;
    let finished = server.run(ask).exits(0).shows(&["(2 of 10)"]).says(&[asked]).hides(&["\u{1b}"]);
    assert!(finished.stdout.starts_with("python\n"), "{finished:?}");
    // Revisions before 2025-06-18 have no context.
    features("2025-03-26", ALL).run(ask).exits(0).hides(&[r#""context":"#]);

    let resource = "complete resource file:///{path} path --json --stderr show";
    let asked = r#""ref":{"type":"ref/resource","uri":"file:///{path}"},"argument":{"name":"path","value":""}"#;
    server.run(resource).says(&[asked]).json_has("/completion/values/0", "python");
}

#[test]
fn a_server_without_completions_is_said_to_have_none() {
    let without = features("2025-11-25", r#"{"prompts":{},"resources":{}}"#);
    let refused = without.run("complete prompt t a --json").exits(4);
    refused.says(&["completions"]).error_has("field", "server");
}

#[test]
fn a_server_of_either_era_answers_a_ping() {
    for protocol in ["modern", "2025-11-25", "2024-11-05"] {
        mcpwire(&format!("ping --demo --protocol {protocol}")).exits(0).shows(&[" ms"]);
    }
    let pong = mcpwire("ping --demo --json").json();
    assert!(pong["milliseconds"].as_f64().is_some_and(|time| time > 0.0), "{pong}");
    mcpwire("ping -- surely-not-a-command").exits(3);
}

#[test]
fn what_is_no_text_is_saved() {
    let place = Place::new();
    let directory = place.file("saved");
    let jpeg = r#"{"type":"image","mimeType":"image/png","data":"/9j/"}"#;
    let link = r#"{"type":"resource_link","uri":"file:///x","name":"x"}"#;
    let evil =
        r#"{"type":"resource","resource":{"uri":"file:///../../evil","mimeType":"application/pdf","blob":"JVBERi0="}}"#;
    let drawn = Script::call(&content(&[TEXT, IMAGE, jpeg, link, evil])).run(&format!("call draw --save {directory}"));
    let shown = ["words", "[resource link: x, file:///x]", "image.png (image/png, 4 bytes)", "evil.pdf"];
    drawn.exits(0).shows(&shown);
    assert_eq!(names(&directory), ["evil.pdf", "image-2.png", "image.png"]);
    for (name, bytes) in [("image.png", &b"\x89PNG"[..]), ("image-2.png", b"\xff\xd8\xff")] {
        assert_eq!(fs::read(Path::new(&directory).join(name)).ok().as_deref(), Some(bytes), "{name}");
    }

    let server = features("2025-11-25", ALL);
    server.run(&format!("read file:///a --save {directory}")).exits(0).shows(&["logo.png", "words"]);
    // The document is as it was.
    let prompt = server.run(&format!("prompt p --save {directory} --json")).says(&["audio.wav"]);
    prompt.json_has("/messages/0/role", "user");
    assert_eq!(names(&directory), ["audio.wav", "evil.pdf", "image-2.png", "image.png", "logo.png"]);
}

#[test]
fn binary_contents_are_written_as_they_are_where_no_terminal_is() {
    let contents = r#"{"contents":[{"uri":"a:b","mimeType":"x/y","blob":"QUIKQw=="}]}"#;
    let server = Script::legacy(r#"{"resources":{}}"#).answers("resources/read", contents);
    server.run("read a:b").gives(0, "AB\nC");
    assert_eq!(server.run("read a:b --json").json()["contents"][0]["blob"], "QUIKQw==");
}

#[test]
fn no_existing_file_is_changed_by_content_that_is_saved() {
    let place = Place::new();
    let (directory, outside) = (place.file("kept"), place.write("outside.txt", "mine"));
    fs::create_dir(&directory).expect("it can be made");
    symlink(&outside, place.path().join("kept/image.png")).expect("it can be linked");
    place.write("kept/image-2.png", "mine too");
    Script::call(&content(&[IMAGE])).run(&format!("call draw --save {directory}")).exits(0);
    assert_eq!((place.read("outside.txt").as_str(), place.read("kept/image-2.png").as_str()), ("mine", "mine too"));
    assert_eq!(names(&directory), ["image-2.png", "image-3.png", "image.png"]);
}

#[test]
fn a_result_is_shown_also_if_it_cannot_be_saved() {
    let place = Place::new();
    let file = place.write("no-directory", "");
    let result = content(&[IMAGE]);
    let finished = Script::call(&result).run(&format!("call draw --json --save {file}"));
    finished.gives(2, &format!("{result}\n")).error_has("field", "save");

    let directory = place.file("broken");
    let draw = |entries: &[&str], more: &str| {
        Script::call(&content(entries)).run(&format!("call draw --save {directory} {more}"))
    };
    draw(&[BROKEN], "").exits(4).says(&["base64"]);
    for more in ["", "--json"] {
        draw(&[TEXT, BROKEN, IMAGE], more).exits(4).says(&["invalid base64"]).shows(&["words"]);
    }
    assert_eq!(names(&directory), ["image-2.png", "image.png"], "the rest is saved");
    fs::remove_dir_all(&directory).expect("it can be removed");
    draw(&[TEXT], "").exits(0);
    assert!(!Path::new(&directory).exists(), "it is not made for nothing");

    // A result of a hub.
    let list = json!({"tools": [{"name": "draw", "inputSchema": {"type": "object"}}]}).to_string();
    place.add_script("art", &Script::with_tools(&list).answers("tools/call", &content(&[TEXT, BROKEN])).text());
    let of_hub = place.run(&format!("call art__draw --save {directory}"));
    of_hub.exits(4).says(&["invalid base64"]).shows(&["words"]);
}
