//! The output for users, compared without colors.

use anstream::StripStream;
use mcpwire_tokio::protocol::{
    CallToolResult, GetPromptResult, ItemList, Json, ListPromptsResult, ReadResourceResult, Resource, ResourceTemplate,
    Tool,
};
use serde_json::{Value, json};

use super::*;

fn decode<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    Json::from_value(value).and_then(|json| json.decode()).expect("the test's own JSON")
}

fn plain(write: impl FnOnce(&mut StripStream<Vec<u8>>) -> io::Result<()>) -> String {
    let mut out = StripStream::new(Vec::new());
    write(&mut out).expect("memory takes all");
    String::from_utf8(out.into_inner()).expect("text")
}

fn shown_result(value: &Value) -> String {
    plain(|out| result(out, &decode::<CallToolResult>(value)))
}

fn shown_tools(value: &Value, width: Option<usize>) -> String {
    let listed: ItemList<Tool> = decode(value);
    plain(|out| tools(out, &listed.items, &listed.rejected, true, Layout { width }))
}

#[test]
fn text_is_shown_as_it_is_and_the_rest_is_named() {
    let shown = shown_result(&json!({ "content": [
        { "type": "text", "text": "two\n\tlines" },
        { "type": "image", "data": "aGVsbG8=", "mimeType": "image/png" },
        { "type": "audio", "data": "A".repeat(4096), "mimeType": "audio/wav" },
        { "type": "resource_link", "uri": "file:///a.rs", "name": "a.rs", "mimeType": "text/x-rust", "size": 7 },
        { "type": "resource", "resource": { "uri": "file:///b", "text": "inside" } },
        { "type": "resource", "resource": { "uri": "file:///c", "mimeType": "x/y", "blob": "AA==" } },
        { "type": "hologram", "data": 1 },
        { "type": "text", "text": "the end\n" },
    ], "structuredContent": { "not": "shown" } }));
    let expected = "two\n\tlines\n\
        [image: image/png, 5 bytes]\n\
        [audio: audio/wav, 3.0 KiB]\n\
        [resource link: a.rs, file:///a.rs, text/x-rust, 7 bytes]\n\
        [resource: file:///b, 6 bytes]\ninside\n\
        [resource: file:///c, x/y, 1 byte]\n\
        [unknown content: hologram, 28 bytes]\n\
        the end\n";
    assert_eq!(shown, expected);
}

#[test]
fn structured_content_is_shown_where_there_is_no_text() {
    let structured = json!({ "content": [], "structuredContent": { "rows": [1, 2] } });
    assert_eq!(shown_result(&structured), "{\n  \"rows\": [\n    1,\n    2\n  ]\n}\n");
    let neither = json!({ "rows": 3 });
    assert_eq!(shown_result(&neither), "{\n  \"rows\": 3\n}\n");
    assert_eq!(shown_result(&json!({ "content": [] })), "");
}

#[test]
fn nothing_of_a_server_drives_the_terminal() {
    let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31mred\u{202e}\r\n";
    let result = json!({ "content": [
        { "type": "text", "text": evil },
        { "type": "image", "data": "", "mimeType": evil },
        { "type": "resource_link", "uri": evil, "name": evil },
        { "type": "resource", "resource": { "uri": evil, "mimeType": evil, "text": evil } },
        { "type": evil },
    ] });
    let parameter = json!({ "type": evil, "description": evil, "default": evil });
    let tool = json!({
        "name": evil, "title": evil, "description": evil,
        "inputSchema": { "type": "object", "properties": { evil: parameter } },
        "outputSchema": { "type": "object", "properties": { evil: { "enum": [evil] } } },
    });
    let list = json!([tool, { "name": evil, "inputSchema": 7 }]);
    for shown in [
        shown_result(&result),
        shown_result(&json!({ "content": [], "structuredContent": { evil: evil } })),
        shown_result(&json!({ evil: evil })),
        shown_tools(&list, None),
        shown_tools(&list, Some(40)),
    ] {
        let wild = shown.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t' || *c == '\u{202e}');
        assert_eq!(wild, None, "{shown:?}");
    }
}

#[test]
fn tools_have_a_line_for_each_argument() {
    let list = json!([
        {
            "name": "get_weather",
            "title": "Get Weather",
            "description": "Says how the weather is.\n\n- today\n  - or tomorrow",
            "inputSchema": {
                "type": "object",
                "properties": { "city": { "type": "string", "description": "Where." }, "days": { "type": "integer", "default": 1 } },
                "required": ["city"],
            },
            "outputSchema": { "type": "object", "properties": { "sky": { "type": "string" } }, "required": ["sky"] },
        },
        { "name": "now", "title": "The time", "inputSchema": { "type": "object" } },
        { "name": 7 },
    ]);
    let expected = "get_weather\n  \
          Says how the weather is.\n  \
          - today\n    \
            - or tomorrow\n    \
            city: string  Where.\n    \
            days?: integer = 1\n    \
            returns { sky: string }\n\
        \n\
        now  The time\n    \
            no arguments\n\
        \n\
        1 entry of the list could not be read:\n";
    let shown = shown_tools(&list, None);
    assert!(shown.starts_with(expected), "{shown}");
    assert!(shown[expected.len()..].starts_with("  entry 2"), "{shown}");
    assert_eq!(shown_tools(&json!([]), None), "No tools.\n");
}

#[test]
fn a_terminal_gets_wrapped_lines() {
    let long = "word ".repeat(60);
    let list = json!([{
        "name": "t",
        "description": long,
        "inputSchema": { "type": "object", "properties": { "p": { "type": "string", "description": long } } },
    }]);
    let shown = shown_tools(&list, Some(50));
    assert!(shown.lines().all(|line| line.chars().count() <= 50), "{shown}");
    let unwrapped = shown_tools(&list, None);
    assert_eq!(unwrapped.lines().count(), 3, "a line for each thing where there is no terminal");
}

#[test]
fn sizes_read_well() {
    for (bytes, shown) in [(0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1536, "1.5 KiB"), (1 << 30, "1.0 GiB")]
    {
        assert_eq!(size(bytes), shown);
    }
    assert_eq!(size(u64::MAX), "17179869183.9 GiB");
}

#[test]
fn resources_are_addresses_with_what_is_known_of_them() {
    let listed: ItemList<Resource> = decode(&json!([
        { "uri": "file:///a.rs", "name": "a.rs", "title": "The first", "mimeType": "text/x-rust", "size": 2048 },
        { "uri": "file:///b\u{1b}[2J", "name": "b", "description": "two\nlines" },
        7,
    ]));
    let templates: ItemList<ResourceTemplate> =
        decode(&json!([{ "uriTemplate": "file:///{path}", "name": "any file" }]));
    let shown = plain(|out| {
        resources(out, &listed.items, &templates.items, Layout::default())?;
        rejected(out, &listed.rejected)
    });
    assert_eq!(
        shown,
        "file:///a.rs  The first  (text/x-rust, 2.0 KiB)\n\
         file:///b  b\n  two\n  lines\n\
         file:///{path}  any file\n\n\
         1 entry of the list could not be read:\n  "
            .to_owned()
            + &text::line(&listed.rejected[0].to_string())
            + "\n"
    );
    assert_eq!(plain(|out| resources(out, &[], &[], Layout::default())), "The server has no resources.\n");
}

#[test]
fn what_was_read_is_text_or_named() {
    let read = |list: Value| {
        let result: ReadResourceResult = decode(&json!({ "contents": list }));
        plain(|out| contents(out, &result.contents.items))
    };
    assert_eq!(read(json!([{ "uri": "a:b", "text": "as it is" }])), "as it is\n");
    let folder = json!([{ "uri": "a:b", "text": "one" }, { "uri": "a:c", "mimeType": "x/y", "blob": "AA==" }]);
    assert_eq!(read(folder), "[resource: a:b, 3 bytes]\none\n[resource: a:c, x/y, 1 byte]\n");
}

#[test]
fn prompts_have_their_arguments_and_messages_their_speakers() {
    let listed: ListPromptsResult = decode(&json!({ "prompts": [
        { "name": "review", "title": "Review", "description": "Looks at code.", "arguments": [
            { "name": "code", "description": "The code.", "required": true }, { "name": "style" },
        ] },
    ] }));
    let shown = plain(|out| prompts(out, &listed.prompts.items, Layout::default()));
    assert_eq!(shown, "review  Review\n  Looks at code.\n    code  The code.\n    style?\n");
    assert_eq!(plain(|out| prompts(out, &[], Layout::default())), "The server has no prompts.\n");

    let filled: GetPromptResult = decode(&json!({ "messages": [
        { "role": "user", "content": { "type": "text", "text": "Look at this." } },
        { "role": "assistant", "content": { "type": "image", "data": "AA==", "mimeType": "image/png" } },
    ] }));
    let shown = plain(|out| messages(out, &filled));
    assert_eq!(shown, "user:\nLook at this.\nassistant:\n[image: image/png, 1 byte]\n");
}

fn detail(name: &str, error: &str) -> mcpwire_hub::service::StatusDetail {
    decode(&json!({
        "id": "00000000-0000-4000-8000-000000000001", "name": name, "enabled": true, "state": "failed", "for_ms": 5,
        "version": null, "era": null, "pid": null, "tools": 3, "calls": 2, "calls_in_flight": 0, "restarts": 1, "attempt": 1,
        "retry_in_ms": null, "stderr_tail": [],
        "last_error": { "code": "NOT_FOUND", "message": error, "field": "" },
    }))
}

#[test]
fn a_narrow_table_breaks_between_words() {
    let error = "package not found: the program that was configured does not exist";
    let details = [detail("demo", error)];
    for width in [40, 60, 72, 100] {
        let layout = Layout { width: Some(width) };
        let lines = status_table(details.iter().map(|detail| (detail, None)), layout);
        let shown: Vec<String> = lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect();
        assert!(shown.iter().all(|line| line.chars().count() <= width), "{shown:#?}");
        for word in ["SERVER", "STATE", "TOOLS", "failed"].into_iter().chain(error.split(' ')) {
            assert!(
                shown.iter().any(|line| line.split_whitespace().any(|other| other == word)),
                "{word} in {shown:#?}"
            );
        }
    }
    let wide = status_table(details.iter().map(|detail| (detail, None)), Layout::default());
    assert!(wide.len() == 2 && wide[1].ends_with(error), "{wide:#?}");
}

#[test]
fn no_width_is_taken_from_data() {
    let long = "x".repeat(100_000);
    let details = [detail(&long, &long), detail("short", "")];
    for width in [None, Some(40)] {
        let lines = status_table(details.iter().map(|detail| (detail, None)), Layout { width });
        assert!(lines.concat().len() < 20_000, "{}", lines.concat().len());
        let lines = server_list([[long.clone(), "a".into(), String::new()]].into_iter(), Layout { width });
        assert!(lines.concat().len() < 2_000);
    }
}
