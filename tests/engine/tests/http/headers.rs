//! What a message says is repeated in headers (2026-07-28, basic/transports/streamable-http, "Request Metadata").

use core::cell::Cell;
use std::rc::Rc;

use mcpwire_core::http::{Flavour, Settings, SettingsError};
use mcpwire_core::{CallError, Config, ItemList, ListParams, ListTools, Negotiate, RequestOptions, Tool};
use mcpwire_engine_tests::sim::configured;
use mcpwire_engine_tests::sim::web::{self, Asked, Says, URI, Web};
use serde_json::json;

const VERSION: &str = "mcp-protocol-version";

fn answer_anything(asked: &Asked, says: &mut Says) {
    says.json(200, asked.result(r#"{"resultType":"complete"}"#));
}

fn list(web: &mut Web) -> ItemList<Tool> {
    let ticket = web
        .engine
        .calls()
        .request::<ListTools>(&ListParams::default(), &RequestOptions::new(), web.now)
        .expect("it is open");
    web.drive();
    web.take(ticket).expect("it has ended").expect("it went well").tools
}

/// A modern server whose only page of tools is this.
fn with_tools(tools: &'static str) -> Web {
    Web::modern(move |asked, says| match asked.method() {
        "tools/list" => says.json(200, asked.result(&format!(r#"{{"resultType":"complete","tools":{tools}}}"#))),
        _ => answer_anything(asked, says),
    })
}

#[test]
fn a_request_of_a_modern_server_is_not_answered() {
    let mut web = Web::modern(|asked, says| {
        says.stream().event(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        says.event(asked.result(r#"{"resultType":"complete"}"#)).end();
    });
    web.raw("x/y", None).map(drop).expect("it is open");
    web.drive();
    assert_eq!(web.asked.last().expect("it was sent").message["method"], "x/y");
}

#[test]
fn a_modern_request_names_version_method_and_name() {
    let mut settings = Settings::new(URI).expect("an address");
    settings.header("X-Api-Key", "secret").expect("a header");
    let mut web = Web::new(Config::default(), settings, web::modern(answer_anything));
    web.open();
    for (method, params, name) in [
        ("tools/call", json!({"name": "echo", "arguments": {}}), Some("echo")),
        ("prompts/get", json!({"name": "a prompt"}), Some("a prompt")),
        ("resources/read", json!({"uri": "file:///a%20b?q=1"}), Some("file:///a%20b?q=1")),
        ("tools/call", json!({"name": "grüße"}), Some("=?base64?Z3LDvMOfZQ==?=")),
        ("tasks/get", json!({"taskId": "t1"}), Some("t1")),
        ("tools/list", json!({"name": "not here"}), None),
        ("x/y", json!({}), None),
    ] {
        web.raw(method, Some(&params.to_string())).map(drop).expect("it is open");
        web.drive();
        let asked = web.asked.last().expect("it was sent");
        assert_eq!(asked.header("mcp-name"), name, "{method}");
        assert_eq!(asked.header("mcp-method"), Some(method));
    }
    for asked in &web.asked {
        let meta = &asked.message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(asked.header(VERSION), meta.as_str(), "{}", asked.line());
        assert_eq!(asked.header("mcp-method"), Some(asked.method()));
        assert_eq!(asked.header("accept"), Some("application/json, text/event-stream"));
        assert_eq!(asked.header("content-type"), Some("application/json"));
        assert_eq!(asked.header("x-api-key"), Some("secret"));
        assert_eq!(asked.header("mcp-session-id"), None);
        assert_eq!(asked.exchange.uri, URI);
        assert!(!format!("{:?}", asked.exchange).contains("secret"));
    }
    assert!(!format!("{:?}", web.engine).contains("secret"));
}

#[test]
fn a_legacy_request_names_session_and_version() {
    for (version, named) in [("2025-11-25", true), ("2025-06-18", true), ("2025-03-26", false), ("2024-11-05", false)] {
        let mut web =
            Web::legacy_with(configured(|config| config.negotiate = Negotiate::Legacy), version, |asked, says| {
                match asked.line().as_str() {
                    "GET" => says.empty(405),
                    "DELETE" => says.empty(200),
                    _ => answer_anything(asked, says),
                }
            });
        let _ = web.echo();
        web.engine.close();
        web.drive();
        assert_eq!(
            web.lines(),
            ["POST initialize", "POST notifications/initialized", "GET", "POST tools/call", "DELETE"]
        );
        assert_eq!((web.asked[0].header(VERSION), web.asked[0].header("mcp-session-id")), (None, None));
        for asked in &web.asked[1..] {
            assert_eq!(asked.header(VERSION), named.then_some(version), "{}", asked.line());
            assert_eq!(asked.header("mcp-session-id"), Some("s1"));
            assert_eq!((asked.header("mcp-method"), asked.header("mcp-name")), (None, None));
        }
        assert_eq!(web.last("GET").header("accept"), Some("text/event-stream"));
        assert_eq!(web.last("GET").header("content-type"), None);
        assert_eq!(web.engine.exchanges(), 0);
    }
}

#[test]
fn the_session_of_a_modern_answer_is_nobodys() {
    let mut web = Web::modern(|asked, says| {
        says.head(200, &[("content-type", "application/json"), ("mcp-session-id", "s")]);
        says.body(asked.result(&web::said("x"))).end();
    });
    let _ = web.echo();
    let _ = web.echo();
    assert_eq!(web.asked[1].header("mcp-session-id"), None);
    web.engine.close();
    web.drive();
    assert_eq!(web.lines().len(), 2);
}

#[test]
fn a_session_id_that_no_header_can_carry_is_none() {
    for id in ["", "a b", "ä", "a\u{7f}"] {
        let mut web = Web::opening(configured(|config| config.negotiate = Negotiate::Legacy), move |asked, says| {
            match asked.method() {
                "initialize" => {
                    says.head(200, &[("content-type", "application/json"), ("mcp-session-id", id)]);
                    says.body(asked.result(r#"{"protocolVersion":"2025-11-25"}"#)).end();
                }
                _ => says.empty(202),
            }
        });
        assert!(web.asked.iter().all(|asked| asked.header("mcp-session-id").is_none()), "{id:?}");
        web.engine.close();
        web.drive();
        assert!(!web.lines().contains(&"DELETE".into()));
    }
}

const MIRRORED: &str = r#"[{"name":"query","inputSchema":{"type":"object","properties":{
    "region":{"type":"string","x-mcp-header":"Region"},
    "limit":{"type":"integer","x-mcp-header":"Limit"},
    "dry":{"type":"boolean","x-mcp-header":"Dry"},
    "method":{"type":"string","x-mcp-header":"Method"},
    "where":{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}},
    "sql":{"type":"string"},"ratio":{"type":"number"}}}},
    {"name":"plain","inputSchema":{"type":"object","properties":{"region":{"type":"string"}}}}]"#;

#[test]
fn arguments_are_repeated_once_the_tool_is_known() {
    let mut web = with_tools(MIRRORED);
    let arguments = json!({"region": "Zürich", "limit": 42, "dry": false, "method": "", "sql": "SELECT", "ratio": 3.5,
        "where": {"zone": " x"}})
    .to_string();
    let headers = |web: &Web| -> Vec<(String, String)> {
        let headers = &web.asked.last().expect("it was sent").exchange.headers;
        let mirrored = headers.iter().filter(|(name, _)| name.starts_with("Mcp-Param-"));
        mirrored.map(|(name, value)| (name[10..].to_string(), value.clone())).collect()
    };
    let call = |web: &mut Web, tool: &str, arguments: &str| {
        web.call(tool, arguments, &RequestOptions::new()).map(drop).expect("it is open");
        web.drive();
    };
    call(&mut web, "query", &arguments);
    assert_eq!(headers(&web), [], "nobody has seen the tool");
    assert_eq!(list(&mut web).items.len(), 2);
    call(&mut web, "query", &arguments);
    let expected = [
        ("Region", "=?base64?WsO8cmljaA==?="),
        ("Limit", "42"),
        ("Dry", "false"),
        ("Method", ""),
        ("Zone", "=?base64?IHg=?="),
    ];
    assert_eq!(headers(&web), expected.map(|(name, value)| (name.to_string(), value.to_string())));
    assert_eq!(web.asked.last().expect("it was sent").header("mcp-method"), Some("tools/call"));
    call(&mut web, "query", r#"{"region":null}"#);
    assert_eq!(headers(&web), []);
    call(&mut web, "plain", &arguments);
    assert_eq!(headers(&web), []);
}

#[test]
fn tools_with_invalid_annotations_are_left_out_and_named() {
    const TOOLS: &str = r#"[
        {"name":"bad1","inputSchema":{"properties":{"v":{"type":"string","x-mcp-header":""}}}},
        {"name":"valid","inputSchema":{"properties":{"v":{"type":"string","x-mcp-header":"V"}}}},
        {"title":"no name"},
        {"name":"bad2","inputSchema":{"properties":{"v":{"type":"string","x-mcp-header":"a b"}}}},
        {"name":"plain"}]"#;
    let mut web = with_tools(TOOLS);
    let listed = list(&mut web);
    let names: Vec<&str> = listed.items.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["valid", "plain"]);
    let rejected: Vec<(usize, Option<&str>)> =
        listed.rejected.iter().map(|rejected| (rejected.index, rejected.name.as_deref())).collect();
    assert_eq!(rejected, [(0, Some("bad1")), (2, None), (3, Some("bad2"))]);
    assert!(listed.rejected[0].reason.contains("is empty"), "{:?}", listed.rejected);
}

#[test]
fn a_legacy_server_means_nothing_by_them() {
    let mut web = Web::legacy_with(
        configured(|config| config.negotiate = Negotiate::Legacy),
        "2025-11-25",
        |asked, says| match asked.method() {
            "tools/list" => {
                let tools = r#"{"tools":[{"name":"a","inputSchema":{"properties":{"v":{"type":"string","x-mcp-header":""}}}}]}"#;
                says.json(200, asked.result(tools));
            }
            "" => says.empty(405),
            _ => answer_anything(asked, says),
        },
    );
    assert_eq!(list(&mut web).items.len(), 1);
}

/// A server whose tool wants another header since the client listed it; tells what it was asked.
fn changed(new: &'static str, says_it: fn(&Asked, &mut Says)) -> (Web, Rc<Cell<bool>>) {
    let has_changed = Rc::new(Cell::new(false));
    let switch = Rc::clone(&has_changed);
    let web = Web::modern(move |asked, says| match (asked.method(), switch.get()) {
        ("tools/list", changed) if asked.message["params"]["cursor"] == "next" || !changed => {
            let name = if changed { new } else { "Region" };
            let schema = format!(r#"{{"properties":{{"region":{{"type":"string","x-mcp-header":"{name}"}}}}}}"#);
            let tool = format!(r#"{{"name":"query","inputSchema":{schema}}}"#);
            says.json(200, asked.result(&format!(r#"{{"resultType":"complete","tools":[{tool}]}}"#)));
        }
        ("tools/list", _) => {
            let first = r#"{"resultType":"complete","tools":[{"name":"other"}],"nextCursor":"next"}"#;
            says.json(200, asked.result(first));
        }
        (_, true) if asked.header("mcp-param-zone").is_none() => says_it(asked, says),
        _ => says.json(200, asked.result(&web::said("fine"))),
    });
    (web, has_changed)
}

const MISMATCH: &str = r#""error":{"code":-32020,"message":"Header mismatch"}"#;

#[test]
fn a_mismatch_leads_to_one_list_and_one_more_try() {
    let ways: [fn(&Asked, &mut Says); 3] = [
        |asked, says| says.json(400, asked.response(MISMATCH)),
        |_, says| says.json(400, format!(r#"{{"jsonrpc":"2.0","id":null,{MISMATCH}}}"#)),
        |asked, says| says.stream().event(asked.response(MISMATCH)).end(),
    ];
    for way in ways {
        let (mut web, has_changed) = changed("Zone", way);
        list(&mut web);
        has_changed.set(true);
        let ticket = web.call("query", r#"{"region":"eu"}"#, &RequestOptions::new()).expect("it is open");
        web.drive();
        let expected = ["POST tools/list", "POST tools/call", "POST tools/list", "POST tools/list", "POST tools/call"];
        assert_eq!(web.lines(), expected);
        assert_eq!(web.asked[1].header("mcp-param-region"), Some("eu"));
        assert_eq!(web.asked[4].header("mcp-param-zone"), Some("eu"));
        assert_eq!(web.text(ticket), "fine");
        assert_eq!(web.engine.exchanges(), 0);
    }
}

#[test]
fn a_mismatch_that_stays_is_the_callers() {
    for (new, tries) in [("Region", 1), ("Other", 2)] {
        let (mut web, has_changed) = changed(new, |asked, says| says.json(400, asked.response(MISMATCH)));
        list(&mut web);
        has_changed.set(true);
        let ticket = web.call("query", r#"{"region":"eu"}"#, &RequestOptions::new()).expect("it is open");
        web.drive();
        assert!(matches!(web.error(ticket), CallError::Server { error, .. } if error.code == -32020));
        let calls = web.times("POST tools/call").len();
        assert_eq!(calls, tries, "{new}");
        assert_eq!((web.engine.exchanges(), web.engine.session().in_flight()), (0, 0));
    }
}

#[test]
fn a_call_that_is_given_up_while_the_tools_are_listed_is_not_sent_again() {
    let mut web = Web::modern(|asked, says| {
        if asked.method() == "tools/call" {
            says.json(400, asked.response(MISMATCH));
        }
    });
    let ticket = web.echo();
    assert_eq!(web.lines(), ["POST tools/call", "POST tools/list"]);
    assert!(web.engine.calls().cancel(ticket.key(), None, web.now));
    web.drive();
    assert!(matches!(web.error(ticket), CallError::Cancelled { .. }));
    assert_eq!((web.aborted.len(), web.engine.exchanges(), web.lines().len()), (1, 0, 2));
}

#[test]
fn addresses_and_headers_are_looked_at() {
    for address in ["", "server.test/mcp", "ftp://server.test/", "http://user:pass@server.test/", "http://a b/"] {
        assert_eq!(Settings::new(address).err(), Some(SettingsError::Address), "{address}");
    }
    let mut settings = Settings::new("https://server.test?key=secret#part").expect("an address");
    assert_eq!(settings.uri(), "https://server.test?key=secret");
    for name in ["", "a b", "Host", "mcp-session-id", "Mcp-Param-X", "Content-Length", "accept", "a\r\nb"] {
        assert!(matches!(settings.header(name, "x"), Err(SettingsError::HeaderName { .. })), "{name}");
    }
    for value in ["a\r\nb", " a", "ä", "a\0"] {
        assert!(matches!(settings.header("x", value), Err(SettingsError::HeaderValue { .. })), "{value}");
    }
    settings.header("Authorization", "Bearer one").expect("a header");
    settings.header("authorization", "Bearer two").expect("a header");
    settings.flavour = Some(Flavour::Streamable);
    assert!(!format!("{settings:?}").contains("secret") && !format!("{settings:?}").contains("two"));
    let mut web = Web::new(Config::default(), settings, web::modern(answer_anything));
    web.open();
    assert_eq!(web.asked[0].header("authorization"), Some("Bearer two"));
}
