//! Secrets of the command line, of configurations and of logins are in no output, not even parts of them.
#![cfg(unix)]

use crate::support::servers::{Answering, scripted};
use crate::support::{MCPWIRE, Place, SUM, Words as _, command, mcpwire, run};

/// Without and with `--json`.
const FORMATS: [&str; 2] = ["", "--json"];

#[test]
fn a_secret_is_read_from_standard_input_and_never_shown() {
    let place = Place::new();
    let add = format!("server add demo --secret TOKEN -- {MCPWIRE} demo-server");
    place.run(&add).says(&["mcpwire secret set demo TOKEN"]);
    place.run(&format!("call demo__add {SUM}")).exits(2).says(&["missing required credentials"]);
    place.run("secret list demo").shows(&["env_vars.TOKEN: missing"]);
    let set = place.run_with_input("secret set demo TOKEN", "hunter22\n").gives(0, "");
    set.says_only("set the secret TOKEN of demo; next: mcpwire info demo\n");
    for words in ["secret list demo", "server show demo", "server show demo --json"] {
        place.run(words).shows(&["TOKEN"]).hides(&["hunter22"]);
    }
    place.adds_up("demo__add");
    place.run("secret remove demo TOKEN").exits(0);
    place.run("secret remove demo TOKEN").exits(2);
}

#[test]
fn a_trace_has_no_secrets() {
    let place = Place::new();
    let trace = place.write("trace", "an earlier one");
    let line = format!("call echo message=it-is-hunter22hunter22! --demo --env TOKEN=hunter22hunter22 --trace {trace}");
    mcpwire(&line).gives(0, "it-is-hunter22hunter22!\n");
    let traced = place.read("trace");
    assert!(traced.contains("it-is-[secret]!") && !traced.contains("hunter22"), "{traced}");
    assert!(!traced.contains("an earlier one"), "{traced}");
}

#[test]
fn secrets_that_the_server_repeats_are_replaced_whole_and_in_parts() {
    let token = ["--header", "X-Key: Custom key-hunter4", "--bearer-env", "TEST_TOKEN"];
    let of_token = "Bearer tok3n is wrong, tok3n is; so is key-hunter4 of Custom key-hunter4";
    let of_query = "no key hunter%2022 and no hunter 22, only k3y";
    for (message, query, options, replaced) in [
        (of_token, "", &token[..], "[secret] is wrong"),
        (of_query, "?key=k3y&note=hunter%2022", &[], "no key [secret] and no [secret], only"),
    ] {
        let server = Answering::start("400 Bad Request", message);
        for format in FORMATS {
            let url = format!("{}{query}", server.url);
            let line = [&["info", "--url", &url], options, &format.words()].concat();
            let finished = run(command(&line).env("TEST_TOKEN", "tok3n"));
            finished.says(&[replaced]).hides(&["tok3n", "hunter"]);
        }
    }
}

#[test]
fn the_password_of_a_proxy_that_it_repeats_is_replaced() {
    let place = Place::new();
    let message = "bad password pass-w0rd%21, pass-w0rd! of me:pass-w0rd!, bWU6cGFzcy13MHJkIQ";
    let server = Answering::start("400 Bad Request", message);
    let proxy = server.url.trim_end_matches("/mcp").replace("//", "//me:pass-w0rd%21@");
    let url = "http://somewhere.example/mcp";
    place.run(&format!("server add notes --url {url}")).exits(0);
    let of_variable = [("http_proxy", &*proxy)];
    let by_url = format!("info --url {url}");
    for (line, variables) in [
        (&*by_url, &of_variable[..]),
        ("info --server notes", &of_variable),
        ("call notes__echo", &of_variable),
        ("server doctor", &of_variable),
        (&format!("{by_url} --proxy {proxy}"), &[]),
    ] {
        for format in FORMATS {
            let mut program = place.command(&format!("{line} {format}"));
            program.env_remove("no_proxy").env_remove("NO_PROXY").envs(variables.iter().copied());
            let finished = run(&mut program);
            let shown = [&*finished.stdout, &*finished.stderr].concat();
            let replaced = "bad password [secret], [secret] of [secret], [secret]";
            assert!(shown.contains(replaced), "{finished:?}");
        }
    }
}

#[test]
fn a_command_that_is_suggested_has_no_query() {
    let finished = Place::new().run("whoami --url http://127.0.0.1:1/mcp?k=hunter2#x");
    finished.says(&["--url 'http://127.0.0.1:1/mcp?...'"]).hides(&["hunter"]);
}

#[test]
fn a_variable_that_a_dying_server_prints_is_replaced() {
    for how in ["tail", "show"] {
        let info = format!("info --stderr {how} --env TOKEN=hunter22hunter22");
        mcpwire(&scripted(&info, "echo \"cannot use $TOKEN\" >&2; exit 1")).says(&["cannot use [secret]"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn no_secret_of_a_configuration_is_shown_as_text_or_as_json() {
    use std::fs;

    use serde_json::json;

    let place = Place::new();
    let id = "3f0c1c5e-7c4c-4ac1-9d5e-000000000001";
    let command = json!({
        "id": id, "name": "command", "enabled": false, "transport": {"type": "stdio"},
        "package": {"package_type": "binary", "identifier": "./server"}, "secrets_in_args": true,
        "args": [
            "--token", "hunter2-1", "--api-key=hunter2-2", "API_KEY=hunter2-3", "postgres://me:hunter2-4@db/x", "--keep", "kept",
            "--header", "Authorization: Bearer hunter2-5-0123456789", "--password", "{word}",
        ],
        "env_vars": {
            "GITHUB_TOKEN": {"name": "GITHUB_TOKEN", "value": "hunter2-6"},
            "MARKED": {"name": "MARKED", "value": "hunter2-7", "is_secret": true},
            "PLAIN": {"name": "PLAIN", "value": "kept"},
        },
        "variables": {"word": {"name": "word", "value": "hunter2-8", "is_secret": true}},
        "config": {"nested": [{"password": "hunter2-9"}]},
        "apiKey": "hunter2-10",
    });
    let url = "https://localhost:1/mcp?api_key=hunter2-11&note=kept";
    let http = json!({
        "id": id.replace('1', "2"), "name": "http", "enabled": false, "transport": {"type": "http", "url": url},
        "package": {"package_type": "http", "identifier": url},
        "headers": {"X-Api-Key": {"name": "X-Api-Key", "value": "hunter2-12"}},
        "proxy": "http://me:hunter2-13@proxy:3128",
        "oauth": {"client_id": "kept", "client_secret": {"name": "client_secret", "value": "hunter2-14"}},
    });
    fs::create_dir(place.path().join("mcp")).unwrap();
    place.write("mcp/servers.json", json!({"version": 1, "servers": [command, http]}).to_string());
    let headers = json!({"Authorization": "Bearer hunter2-16"});
    let import = place.write_import(&json!({
        "imported": {"url": "https://localhost:1/?api_key=hunter2-15", "headers": headers},
        "refused": {"command": "x", "args": ["--token", "hunter2-17"]},
    }));
    let shown = ["show command", "show http", "list", "doctor"].map(|words| format!("server {words}"));
    let import = format!("server import {import}");
    let add = "server add added --env API_KEY=hunter2-18 -- ./server --token hunter2-19";
    let lines = shown.iter().map(String::as_str).chain(["status", &import, add, "server show added"]);
    for (line, format) in lines.flat_map(|line| FORMATS.map(|format| (line, format))) {
        let (command, server) = line.split_at(line.find("--").unwrap_or(line.len()));
        let finished = place.run(&format!("{command} {format} {server}")).hides(&["hunter2"]);
        assert!([&*import, add].contains(&line) || !finished.stdout.is_empty(), "{finished:?}");
    }
    let shown = place.run("server show command --json").json();
    let args = ["--token", "<secret>", "--api-key=<secret>", "API_KEY=<secret>", "<secret>", "--keep", "kept"];
    assert_eq!(shown["args"].as_array().unwrap()[..7], args.map(|arg| json!(arg)));
    let kept = [&shown["env_vars"]["PLAIN"]["value"], &shown["args"][10]];
    assert_eq!(kept, [&json!("kept"), &json!("{word}")], "{shown}");
    let shown = place.run("server show http --json").json();
    assert_eq!(shown["transport"]["url"], "https://localhost:1/mcp?api_key=<secret>&note=kept", "{shown}");
    assert_eq!(shown["proxy"], "http://<secret>@proxy:3128", "{shown}");
    place.run("server show command").shows(&["--token <secret> --api-key=<secret> API_KEY=<secret>"]);
}

/// The tokens of a stored login, which a server repeats, are in no error, trace, status, log or suggestion.
#[cfg(target_os = "linux")]
mod tokens_of_logins {
    use std::fs;

    use mcpwire_testkit::HttpAnswer;
    use mcpwire_testkit::authorization::AuthorizationServer;
    use serde_json::{Value, json};

    use super::FORMATS;
    use crate::support::each;
    use crate::support::login::Guarded;

    /// Lets the server answer calls with all tokens that were ever issued, in an error or in a challenge.
    fn repeat_tokens(guarded: &Guarded, in_challenge: bool) {
        let authorization = guarded.authorization.clone();
        guarded.server.on_request(move |request| {
            let message: Value =
                serde_json::from_str(&request.body).ok().filter(|body: &Value| body["method"] == "tools/call")?;
            let tokens = tokens(&authorization);
            if in_challenge {
                let (error, scope) = (r#"error="insufficient_scope""#, tokens.join(" "));
                let challenge = format!(r#"Bearer {error}, scope="{scope}", error_description="not {scope}""#);
                return Some(HttpAnswer::status(403).header("www-authenticate", challenge));
            }
            let error = json!({"code": -32603, "message": format!("Bearer {} is wrong", tokens.join(" and (") + ")")});
            Some(HttpAnswer::json(400, json!({"jsonrpc": "2.0", "id": message["id"], "error": error})))
        });
    }

    /// Returns the access and refresh tokens that were issued so far.
    fn tokens(authorization: &AuthorizationServer) -> Vec<String> {
        let secrets = authorization.secrets().into_iter();
        secrets.filter(|secret| secret.starts_with("access-token") || secret.starts_with("refresh-token")).collect()
    }

    #[track_caller]
    fn assert_replaced(tokens: &[String], shown: &str) {
        assert!(!tokens.is_empty());
        for token in tokens {
            assert!(!shown.contains(token.as_str()), "{token}: {shown}");
        }
        assert!(shown.contains("[secret]"), "the text of the server is shown: {shown}");
    }

    #[test]
    fn a_stored_token_that_the_server_repeats_is_replaced_also_after_a_refresh() {
        let targets = ["by URL with a trace", "by the name of the server", "by the name of the tool"];
        let cases = targets.into_iter().flat_map(|target| [(target, "error", false), (target, "challenge", true)]);
        each(cases, |(target, _, in_challenge)| {
            let guarded = Guarded::start().configured();
            let (url, trace) = (guarded.server.url(), guarded.file("trace"));
            let (call, login) = match target {
                "by URL with a trace" => (format!("call echo --url {url} --trace {trace}"), format!("--url {url}")),
                "by the name of the server" => ("call echo --server notes".to_owned(), "notes".to_owned()),
                _ => ("call notes__echo".to_owned(), "notes".to_owned()),
            };
            for (is_refreshed, format) in [(false, FORMATS[0]), (true, FORMATS[1])] {
                // A login anew, so that the tokens of this command are all that the server knows.
                guarded.authorization.forget_clients();
                let before = tokens(&guarded.authorization).len();
                guarded.log_in(&format!("{login} --restart"));
                if is_refreshed {
                    guarded.authorization.revoke_access_tokens();
                }
                repeat_tokens(&guarded, in_challenge);
                let finished = guarded.run(&format!("{call} {format}")).fails();
                guarded.server.on_request(|_| None);
                let tokens = tokens(&guarded.authorization).split_off(before);
                assert_eq!(tokens.len(), if is_refreshed { 4 } else { 2 }, "{finished:?}");
                let traced = fs::read_to_string(&trace).unwrap_or_default();
                assert_replaced(&tokens, &[finished.stdout, finished.stderr, traced].concat());
            }
        });
    }

    #[test]
    fn the_status_and_the_log_of_a_server_hide_them_too() {
        let guarded = Guarded::start().configured();
        guarded.log_in("notes");
        let hub = guarded.hub();
        repeat_tokens(&guarded, true);
        let lines = ["call notes__echo", "status", "status --json", "server logs notes", "server doctor"];
        let finished = lines.map(|line| guarded.run(line)).into_iter().chain([hub.interrupt()]);
        let shown: String = finished.map(|finished| finished.stdout + &finished.stderr).collect();
        assert_replaced(&tokens(&guarded.authorization), &shown);
    }
}
