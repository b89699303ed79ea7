//! What a configuration contains of secrets is in no output, neither as text nor as JSON.
#![cfg(target_os = "linux")]

use std::fs;

use serde_json::json;

use crate::support::configured::at;

const ID: &str = "3f0c1c5e-7c4c-4ac1-9d5e-000000000001";

#[test]
fn no_secret_of_a_configuration_is_shown_as_text_or_as_json() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let command = json!({
        "id": ID, "name": "command", "enabled": false, "transport": {"type": "stdio"},
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
        "id": ID.replace('1', "2"), "name": "http", "enabled": false, "transport": {"type": "http", "url": url},
        "package": {"package_type": "http", "identifier": url},
        "headers": {"X-Api-Key": {"name": "X-Api-Key", "value": "hunter2-12"}},
        "proxy": "http://me:hunter2-13@proxy:3128",
        "oauth": {"client_id": "kept", "client_secret": {"name": "client_secret", "value": "hunter2-14"}},
    });
    let servers = json!({"version": 1, "servers": [command, http]});
    fs::create_dir(place.join("mcp")).unwrap();
    fs::write(place.join("mcp/servers.json"), servers.to_string()).unwrap();
    let import = place.join("import.json");
    let imported = json!({"mcpServers": {
        "imported": {"url": "https://localhost:1/?api_key=hunter2-15", "headers": {"Authorization": "Bearer hunter2-16"}},
        "refused": {"command": "x", "args": ["--token", "hunter2-17"]},
    }});
    fs::write(&import, imported.to_string()).unwrap();
    for line in [
        &["server", "show", "command"][..],
        &["server", "show", "http"],
        &["server", "list"],
        &["server", "doctor"],
        &["status"],
        &["server", "import", import.to_str().unwrap()],
        &["server", "add", "added", "--env", "API_KEY=hunter2-18", "--", "./server", "--token", "hunter2-19"],
        &["server", "show", "added"],
    ] {
        for is_json in [false, true] {
            let (before, after) = line.split_at(2.min(line.len()));
            let finished = at(place, &[before, if is_json { &["--json"] } else { &[] }, after].concat());
            assert!(!finished.stdout.is_empty() || line[1] == "add" || line[1] == "import", "{line:?}: {finished:?}");
            assert!(!finished.stdout.contains("hunter2"), "{line:?}: {finished:?}");
            assert!(!finished.stderr.contains("hunter2"), "{line:?}: {finished:?}");
        }
    }
    let shown = at(place, &["server", "show", "command", "--json"]).json();
    let args = ["--token", "<secret>", "--api-key=<secret>", "API_KEY=<secret>", "<secret>", "--keep", "kept"];
    assert_eq!(shown["args"].as_array().unwrap()[..7], args.map(|arg| json!(arg)));
    assert_eq!(shown["env_vars"]["PLAIN"]["value"], "kept", "{shown}");
    assert_eq!(shown["args"][10], "{word}", "{shown}");
    let shown = at(place, &["server", "show", "http", "--json"]).json();
    assert_eq!(shown["transport"]["url"], "https://localhost:1/mcp?api_key=<secret>&note=kept", "{shown}");
    assert_eq!(shown["proxy"], "http://<secret>@proxy:3128", "{shown}");
    let text = at(place, &["server", "show", "command"]).stdout;
    assert!(text.contains("--token <secret> --api-key=<secret> API_KEY=<secret>"), "{text}");
}
