//! Imports of each dialect and of `server.json`: supported and refused entries, references, secrets, and the requirements of the
//! registry for values.

use std::path::{Path, PathBuf};
use std::time::Duration;

use mcpwire_config::ErrorKind;
use mcpwire_config::config::{McpConfig, McpPackage, McpPackageType, McpSource, McpTransport, Origin};
use mcpwire_config::import::{self, Dialect, Import, ImportOptions, export, import, keep_all_secrets};
use mcpwire_config::launch::preview;
use mcpwire_config::secrets::{EnvSecrets, FileSecrets, SecretStore as _};

use crate::{REGISTRY, launch, read, read_with, refused, server, variables, warned};

#[test]
fn a_file_of_claude_desktop_becomes_packages_with_their_secrets_apart() {
    let text = r#"{"globalShortcut": "", "mcpServers": {
        "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/tmp"]},
        "git": {"command": "/opt/bin/uvx", "args": ["mcp-server-git@1.2", "--repository", "."], "env": {"DEBUG": "1"}},
        "github": {"command": "docker", "args": ["run", "-i", "--rm", "-e", "GITHUB_TOKEN", "-v", "/a:/b", "ghcr.io/x/y:1"],
                   "env": {"GITHUB_TOKEN": "ghp_0123456789abcdef0123"}},
        "own": {"command": "/usr/bin/own", "args": ["${HOME}", 8080, true], "env": {"X": "$Y ${Z}", "PATH": "/opt/bin"}}
    }}"#;
    let import = read(Dialect::ClaudeDesktop, text);
    assert!(import.refused.is_empty(), "{import:?}");
    assert_eq!(warned(&import), ["env.PATH"]);
    let files = server(&import, "files");
    assert_eq!(files.config.package.package_type, McpPackageType::Npm);
    assert_eq!(files.config.package.identifier, "@modelcontextprotocol/server-filesystem");
    assert_eq!(files.config.args, ["/tmp"]);
    assert_eq!(files.config.origin, Origin::Imported { from: "claude-desktop".into() });
    let git = server(&import, "git");
    assert_eq!(git.config.package.package_type, McpPackageType::Pypi);
    assert_eq!(launch(git, &[]).unwrap().command, "/opt/bin/uvx");
    let github = server(&import, "github");
    assert_eq!(github.config.package.package_type, McpPackageType::Docker);
    assert_eq!(github.config.runtime_args, ["-v", "/a:/b"]);
    assert_eq!(github.secrets.len(), 1);
    assert!(!github.config.to_json().to_string().contains("ghp_"), "{:?}", github.config);
    assert!(!format!("{import:?} {}", preview(&github.config, &EnvSecrets::from_fn(|_| None))).contains("ghp_"));
    assert_eq!(launch(github, &[]).unwrap().env["GITHUB_TOKEN"], "ghp_0123456789abcdef0123");
    let own = launch(server(&import, "own"), &[("HOME", "/h"), ("Y", "1")]).unwrap();
    assert_eq!(own.args, ["${HOME}", "8080", "true"]);
    assert_eq!(own.env["X"], "$Y ${Z}", "texts of Claude Desktop are literal");
}

#[test]
fn what_is_not_set_becomes_what_the_dialect_makes_of_it() {
    let set = [("SET", "yes")];
    let one = |text: &str| format!(r#"{{"mcpServers": {{"a": {text}}}}}"#);
    let dollar = one(
        r#"{"command": "x", "args": ["${SET}", "${NOT}", "-${NOT:-d}-"], "env": {"A": "${NOT}", "B": "<${SET}>", "C": "${SET}"}}"#,
    );
    let def = launch(&read(Dialect::ClaudeCode, &dollar).servers[0], &set).unwrap();
    assert_eq!(def.args, ["yes", "${NOT}", "-d-"], "Claude Code leaves it as it is");
    assert_eq!((def.env["A"].as_str(), def.env["B"].as_str(), def.env["C"].as_str()), ("${NOT}", "<yes>", "yes"));

    let gemini = one(r#"{"command": "x", "args": ["$SET", "[$NOT]", "${NOT}"], "env": {"A": "${NOT}", "B": "x$NOT"}}"#);
    let def = launch(&read(Dialect::GeminiCli, &gemini).servers[0], &set).unwrap();
    assert_eq!(def.args, ["yes", "[]", ""], "Gemini CLI makes nothing of it");
    assert_eq!((def.env["A"].as_str(), def.env["B"].as_str()), ("", "x"));

    let editor = one(r#"{"command": "x", "args": ["${env:SET}", "[${env:NOT}]", "${NOT}"]}"#);
    for dialect in [Dialect::Cursor, Dialect::Windsurf, Dialect::VsCode] {
        let def = launch(&read(dialect, &editor).servers[0], &set).unwrap();
        assert_eq!(def.args, ["yes", "[]", "${NOT}"], "{dialect}");
    }

    let strict = read(Dialect::McpServers, &dollar);
    let error = launch(&strict.servers[0], &set).unwrap_err();
    assert_eq!(error.field(), "variables.env.NOT", "elsewhere it is an error");
    let def = launch(&strict.servers[0], &[("SET", "1"), ("NOT", "2")]).unwrap();
    assert_eq!(def.args, ["1", "2", "-2-"]);
}

#[test]
fn one_bad_entry_spoils_only_itself() {
    let text = r#"{"mcpServers": {
        "both": {"command": "x", "url": "http://a"},
        "neither": {"type": "stdio"},
        "number": 7,
        "ftp": {"url": "ftp://a"},
        "args": {"command": "x", "args": "y"},
        "env": {"command": "x", "env": {"A": {"b": 1}}},
        "name\u0007": {"command": "x"},
        "good": {"command": "x", "env": {"A": null}},
        "far": {"type": "sse", "url": "https://a.example/sse", "headers": {"X-Team": "blue"}}
    }}"#;
    let import = read(Dialect::McpServers, text);
    let expected = [
        ("args", "args"),
        ("both", "url"),
        ("env", "env.A"),
        ("ftp", "transport"),
        ("name\u{7}", "name"),
        ("neither", "command"),
        ("number", ""),
    ];
    assert_eq!(refused(&import), expected);
    assert_eq!(import.servers.len(), 2);
    assert_eq!(server(&import, "far").config.transport, McpTransport::Http { url: "https://a.example/sse".into() });
}

#[test]
fn secrets_in_headers_addresses_and_arguments_come_apart() {
    let text = r#"{"mcpServers": {
        "header": {"url": "https://a/mcp?api_key=hunter2222&x=1", "headers": {"Authorization": "Bearer abcdefgh12345678"}},
        "arg": {"command": "x", "args": ["--api-key", "hunter2222", "--token=hunter3333", "--max-tokens=5"]},
        "remote": {"command": "npx", "args": ["mcp-remote", "https://a", "--header", "Authorization: Bearer ${TOKEN}"]}
    }}"#;
    let import = read(Dialect::ClaudeDesktop, text);
    let header = server(&import, "header");
    assert!(!header.config.to_json().to_string().contains("hunter") && !format!("{header:?}").contains("abcdefgh"));
    let def = launch(header, &[]).unwrap();
    assert_eq!(def.url.as_deref(), Some("https://a/mcp?api_key=hunter2222&x=1"));
    assert_eq!(def.headers["Authorization"], "Bearer abcdefgh12345678");
    assert_eq!(import.refused.len(), 1);
    assert_eq!(import.refused[0].error.field(), "args.1");
    assert!(!format!("{:?}", import.refused).contains("hunter"));
    assert_eq!(
        launch(server(&import, "remote"), &[]).unwrap().args[3..],
        ["--header", "Authorization: Bearer ${TOKEN}"]
    );

    let import = read_with(Dialect::ClaudeDesktop, text, |options| options.secrets_in_args = true);
    let arg = server(&import, "arg");
    assert!(!arg.config.to_json().to_string().contains("hunter"));
    assert_eq!(launch(arg, &[]).unwrap().args, ["--api-key", "hunter2222", "--token=hunter3333", "--max-tokens=5"]);
}

#[test]
fn other_members_of_the_family_are_understood_or_warned_of() {
    let text = r#"{"mcpServers": {
        "w": {"serverUrl": "https://a/mcp", "disabledTools": ["x"], "disabled": true, "surprise": 1},
        "t": {"command": "x", "timeout": 60, "cwd": "/w"}
    }}"#;
    let import = read(Dialect::Windsurf, text);
    let w = &server(&import, "w").config;
    assert!(!w.enabled && w.tools.deny == ["x"]);
    let t = &server(&import, "t").config;
    assert_eq!((t.timeouts.call, t.cwd.as_deref()), (Some(Duration::from_secs(60)), Some(Path::new("/w"))));
    assert_eq!(warned(&import), ["timeout", "surprise"]);

    let gemini = r#"{"mcp": {"allowed": ["a", "b"], "excluded": ["b"]}, "mcpServers": {
        "a": {"httpUrl": "https://a/mcp", "timeout": 500, "includeTools": ["t(x)", "u"], "excludeTools": ["u"], "trust": true},
        "b": {"command": "x"}, "c": {"command": "y"}
    }}"#;
    let import = read(Dialect::GeminiCli, gemini);
    let enabled = |name: &str| server(&import, name).config.enabled;
    assert_eq!((enabled("a"), enabled("b"), enabled("c")), (true, false, false));
    let a = &server(&import, "a").config;
    assert_eq!(a.timeouts.call, Some(Duration::from_millis(500)));
    assert!(a.tools.offers("t") && !a.tools.offers("u") && !a.tools.offers("v"));

    let code = r#"{"mcpServers": {"u": {"command": "x"}}, "projects": {
        "/p": {"mcpServers": {"p": {"command": "y"}}}, "/q": {"mcpServers": {"q": {"command": "z"}}}, "/r": {"mcpServers": {}}}}"#;
    let import = read_with(Dialect::ClaudeCode, code, |options| options.workspace = Some("/p".into()));
    assert_eq!(import.servers.len(), 2);
    assert_eq!(import.warnings.len(), 1);
    assert_eq!(import.warnings[0].field, "projects./q");
}

#[test]
fn the_variables_of_a_named_file_are_taken_over() {
    let text = r#"{"servers": {
        "a": {"command": "x", "env": {"LEVEL": "low"}, "envFile": "${workspaceFolder}/.env"},
        "b": {"command": "x", "envFile": "other.env"},
        "c": {"command": "x", "envFile": "${input:which}/.env"}}}"#;
    let reading = |options: &mut ImportOptions| {
        options.path = Some("/w/project/.vscode/mcp.json".into());
        options.read_file = Some(|path| match path.to_str() {
            Some("/w/project/.env") => {
                Ok("API_KEY=hunter22hunter22\nLEVEL=high\nNODE_OPTIONS='--x'\nAS_IT_IS=${env:HOME}\n".into())
            }
            other => Err(std::io::Error::new(std::io::ErrorKind::NotFound, format!("not {other:?}"))),
        });
    };
    if cfg!(unix) {
        let import = read_with(Dialect::VsCode, text, reading);
        let a = server(&import, "a");
        assert!(!a.config.to_json().to_string().contains("hunter22"), "it is kept apart");
        let env =
            [("API_KEY", "hunter22hunter22"), ("AS_IT_IS", "${env:HOME}"), ("LEVEL", "low"), ("NODE_OPTIONS", "--x")];
        assert_eq!(launch(a, &[]).unwrap().env, variables(env));
        assert!(server(&import, "b").config.env_vars.is_empty());
        let of = |name: &str| {
            let warnings = import.warnings.iter().filter(|warning| warning.server.as_deref() == Some(name));
            warnings.map(|warning| format!("{}: {}", warning.field, warning.message)).collect::<Vec<_>>().join("\n")
        };
        assert!(of("a").contains("env.NODE_OPTIONS: ") && of("a").contains("as they are now"), "{}", of("a"));
        assert!(of("b").contains("cannot be read") && of("b").contains("/w/project/other.env"), "{}", of("b"));
        assert_eq!((import.refused[0].name.as_str(), import.refused[0].error.field()), ("c", "envFile"));
    }
    let cursor = r#"{"mcpServers": {"a": {"command": "x", "envFile": "/e"}}}"#;
    let import = read_with(Dialect::Cursor, cursor, |options| options.read_file = Some(|_| Ok("A=1".into())));
    assert_eq!(launch(server(&import, "a"), &[]).unwrap().env["A"], "1");
    let import = read(Dialect::Cursor, cursor);
    assert!(import.warnings[0].message.contains("not imported"), "nothing is read by itself");
}

#[test]
fn vs_code_asks_for_inputs_and_has_comments() {
    let text = r#"{
        // what to ask
        "inputs": [
            {"type": "promptString", "id": "key", "description": "Key", "password": true},
            {"type": "pickString", "id": "mode", "options": ["fast", {"label": "Slow", "value": "slow"}], "default": "slow"},
            {"type": "promptString", "id": "user"},
        ],
        "servers": {
            "a": {"type": "stdio", "command": "x", "args": ["${input:mode}", "${workspaceFolder}/${workspaceFolderBasename}", "${userHome}"],
                  "env": {"KEY": "${input:key}", "USER_": "${input:user}", "N": 5, "GONE": null}, "envFile": "${workspaceFolder}/.env"},
            "b": {"type": "http", "url": "https://a/mcp", "headers": {"Authorization": "Bearer ${input:key}"}},
            "c": {"type": "stdio", "command": "${command:x}"},
            "d": {"type": "http", "url": "pipe:///s#/mcp"},
            "s": {"type": "http", "url": "unix:///run/s.sock#/mcp"},
            "e": {"command": "x", "env": {"A": "${input:unknown}"}},
        },
    }"#;
    let answered = |options: &mut ImportOptions| {
        options.answers = [("key".to_owned(), "hunter22".into()), ("user".to_owned(), "me".into())].into();
        options.path = Some("/w/project/.vscode/mcp.json".into());
        options.home = Some("/home/me".into());
    };
    let import = read_with(Dialect::VsCode, text, answered);
    let refused: Vec<&str> = refused(&import).into_iter().map(|(name, _)| name).collect();
    // The path of a Unix socket is not absolute on Windows.
    let expected: &[&str] = if cfg!(unix) { &["c", "d", "e"] } else { &["c", "d", "e", "s"] };
    assert_eq!(refused, expected);
    let a = server(&import, "a");
    assert!(!a.config.to_json().to_string().contains("hunter22"));
    if cfg!(unix) {
        let def = launch(a, &[]).unwrap();
        assert_eq!(def.args, ["slow", "/w/project/project", "/home/me"]);
        assert_eq!(def.env, variables([("KEY", "hunter22"), ("N", "5"), ("USER_", "me")]));
    }
    assert_eq!(launch(server(&import, "b"), &[]).unwrap().headers["Authorization"], "Bearer hunter22");
    if cfg!(unix) {
        let def = launch(server(&import, "s"), &[]).unwrap();
        assert_eq!(def.unix_socket.as_deref(), Some(Path::new("/run/s.sock")));
        assert_eq!(def.url.as_deref(), Some("http://localhost/mcp"));
        let exported = export([&server(&import, "s").config]);
        let again = read(Dialect::McpServers, &exported.text);
        assert_eq!(launch(server(&again, "s"), &[]).unwrap().unix_socket, def.unix_socket);
    }
    assert_eq!(import.warnings.len(), 1, "{:?}", import.warnings);

    let wrong = |options: &mut ImportOptions| {
        options.answers = [("mode".to_owned(), "neither".into())].into();
        options.path = Some("/w/project/.vscode/mcp.json".into());
    };
    let import = read_with(Dialect::VsCode, text, wrong);
    assert!(
        import.refused.iter().any(|refused| refused.name == "a" && refused.error.field() == "variables.input.mode")
    );
    let unanswered = server(&import, "b");
    let error = launch(unanswered, &[]).unwrap_err();
    assert_eq!(error.field(), "variables.input.key");
    assert!(import.warnings.iter().any(|warning| warning.message.contains("`key`")));
}

#[test]
fn zed_and_codex_are_read() {
    let zed = r#"{ "theme": "x", /* mine */ "context_servers": {
        "a": {"source": "custom", "command": "x", "args": ["y"], "env": {"A": "b"}, "timeout": 5, "enabled": false},
        "b": {"command": {"path": "z", "args": ["1"], "env": null}},
        "c": {"url": "https://a/mcp"},
        "d": {"settings": {}, "source": "extension"},
    }}"#;
    let import = read(Dialect::Zed, zed);
    let a = &server(&import, "a").config;
    assert!(!a.enabled && a.timeouts.call == Some(Duration::from_secs(5)));
    assert_eq!(launch(server(&import, "b"), &[]).unwrap().command, "z");
    assert_eq!((import.servers.len(), import.refused[0].name.as_str()), (3, "d"));

    let codex = r#"
        model = "x"
        [mcp_servers.a]
        command = "x"
        args = ["${A}"]
        env_vars = ["PASSED", { name = "OTHER", source = "local" }, "NOT_SET"]
        startup_timeout_sec = 1.5
        tool_timeout_sec = 2
        enabled_tools = ["t"]
        [mcp_servers.a.env]
        B = "c"
        [mcp_servers.b]
        url = "https://a/mcp"
        bearer_token_env_var = "TOKEN"
        http_headers = { "X-A" = "b" }
        env_http_headers = { "X-C" = "D" }
        enabled = false
        [mcp_servers.literal]
        url = "https://a/mcp"
        bearer_token = "hunter22"
        [mcp_servers.mixed]
        command = "x"
        bearer_token_env_var = "T"
    "#;
    let import = read(Dialect::CodexToml, codex);
    let a = server(&import, "a");
    assert_eq!(a.config.timeouts.start, Some(Duration::from_millis(1500)));
    assert_eq!(a.config.timeouts.call, Some(Duration::from_secs(2)));
    let def = launch(a, &[("PASSED", "1"), ("OTHER", "2")]).unwrap();
    assert_eq!(def.args, ["${A}"]);
    assert_eq!(def.env, variables([("B", "c"), ("OTHER", "2"), ("PASSED", "1")]));
    let b = server(&import, "b");
    assert!(!b.config.enabled);
    let def = launch(b, &[("TOKEN", "hunter33"), ("D", "e")]).unwrap();
    assert_eq!((def.headers["Authorization"].as_str(), def.headers["X-C"].as_str()), ("Bearer hunter33", "e"));
    assert_eq!(refused(&import), [("literal", "bearer_token"), ("mixed", "bearer_token_env_var")]);
    assert!(!format!("{import:?}").contains("hunter22"));
}

#[test]
fn opencode_is_read_in_both_versions_of_its_format() {
    let text = r#"{
        "$schema": "https://opencode.ai/config.json", // Comments and commas at the end are allowed.
        "mcp": {
            "local": {
                "type": "local", "command": ["npx", "-y", "pkg", "--root", "{env:ROOT}"], "timeout": 5000, "cwd": "/w",
                "environment": {"MODE": "fast", "API_TOKEN": "hunter2-hunter2"},
            },
            "remote": {
                "type": "remote", "url": "https://a.example/mcp", "enabled": false,
                "headers": {"Authorization": "Bearer {env:KEY}"}, "oauth": {"clientId": "c", "scope": "a b"},
            },
            "file": {"type": "remote", "url": "https://a.example/mcp", "headers": {"K": "{file:~/.key}"}},
            "only enabled": {"enabled": true},
        },
    }"#;
    let import = read(Dialect::Opencode, text);
    let local = server(&import, "local");
    assert_eq!(local.config.package, McpPackage::new(McpPackageType::Npm, "pkg"));
    assert_eq!(local.config.timeouts.start, Some(Duration::from_secs(5)));
    assert_eq!(local.secrets.len(), 1);
    let def = launch(local, &[("ROOT", "/r")]).unwrap();
    assert_eq!(def.args, ["-y", "pkg", "--root", "/r"]);
    assert_eq!((def.env["MODE"].as_str(), def.env["API_TOKEN"].as_str()), ("fast", "hunter2-hunter2"));
    assert_eq!(def.cwd, Some("/w".into()));
    let remote = server(&import, "remote");
    assert!(!remote.config.enabled);
    assert_eq!((remote.config.oauth.client_id.as_deref(), remote.config.oauth.scopes.len()), (Some("c"), 2));
    assert_eq!(launch(remote, &[("KEY", "k")]).unwrap().headers["Authorization"], "Bearer k");
    assert_eq!(refused(&import), [("file", "headers.K"), ("only enabled", "command")]);
    assert_eq!(warned(&import), Vec::<&str>::new());

    let second = r#"{"mcp": {"timeout": 9, "servers": {
        "a": {"type": "local", "command": ["x"], "disabled": true, "timeout": {"startup": 2000, "request": 3000}}
    }}}"#;
    let import = read(Dialect::Opencode, second);
    let config = &server(&import, "a").config;
    assert!(!config.enabled);
    let times = (config.timeouts.start, config.timeouts.call);
    assert_eq!(times, (Some(Duration::from_secs(2)), Some(Duration::from_secs(3))));
}

#[test]
fn goose_is_read_and_its_own_extensions_are_left_to_it() {
    let text = r#"
GOOSE_MODEL: "m"
extensions:
  developer: {bundled: true, enabled: true, name: developer, timeout: 300, type: builtin}
  github:
    enabled: false
    type: stdio
    name: GitHub
    cmd: npx
    args: [-y, "@modelcontextprotocol/server-github", $LITERAL]
    envs: {MODE: "fast"}
    env_keys: [GITHUB_PERSONAL_ACCESS_TOKEN, MODE]
    timeout: 300   # seconds
    description: null
    available_tools: []
  web:
    type: streamable_http
    uri: https://a.example/mcp
    headers:
      Authorization: Bearer ${KEY}
    envs: {}
    env_keys: [KEY]
    available_tools: [one]
  socket: {type: websocket, uri: "ws://localhost/mcp"}
"#;
    let import = read(Dialect::Goose, text);
    let github = &server(&import, "github").config;
    assert!(!github.enabled);
    assert_eq!(github.package, McpPackage::new(McpPackageType::Npm, "@modelcontextprotocol/server-github"));
    assert_eq!(github.args, ["$LITERAL"]);
    assert_eq!((github.timeouts.call, &github.tools.allow), (Some(Duration::from_secs(300)), &None));
    assert_eq!(github.env_vars["MODE"].literal(), Some("fast"));
    let token = github.env_vars["GITHUB_PERSONAL_ACCESS_TOKEN"].secret_ref.as_deref();
    assert_eq!(token, Some(format!("mcp_{}#GITHUB_PERSONAL_ACCESS_TOKEN", github.id).as_str()));
    assert_eq!(launch(server(&import, "github"), &[]).unwrap_err().kind(), ErrorKind::MissingValue);
    let web = server(&import, "web");
    assert_eq!(web.config.tools.allow, Some(vec!["one".to_owned()]));
    assert_eq!(launch(web, &[("KEY", "k")]).unwrap().headers["Authorization"], "Bearer k");
    assert_eq!(launch(web, &[]).unwrap_err().kind(), ErrorKind::MissingValue);
    assert_eq!(refused(&import), [("developer", "type"), ("socket", "type")]);
    assert_eq!(warned(&import), ["env.GITHUB_PERSONAL_ACCESS_TOKEN"]);
}

#[test]
fn a_yaml_file_that_is_wrong_too_deep_or_too_large_when_expanded_is_refused_without_its_text() {
    let bomb = (1..12).fold("a0: &a0 [hunter2]\n".to_owned(), |bomb, level| {
        format!("{bomb}a{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 12].join(", "))
    });
    let deep = "extensions:\n  a: ".to_owned() + &"[".repeat(100_000);
    for text in ["extensions:\n  a: {type: stdio\nb: hunter2", "extensions: [hunter2", "hunter2", &bomb, &deep] {
        let error = import(text, &ImportOptions::default().dialect(Dialect::Goose)).unwrap_err();
        assert!(error.message().contains("this is not a file of `goose`"), "{error}");
        assert!(!error.message().contains("hunter2"), "{error}");
    }
}

#[test]
fn cline_lm_studio_and_amazon_q_have_the_common_format_with_their_own_references_and_units() {
    let text = r#"{"name": "agent", "tools": ["*"], "mcpServers": {"a": {
        "command": "x", "args": ["${A}", "${env:B}"], "disabled": true, "autoApprove": ["t"], "alwaysAllow": [], "timeout": 60,
        "type": "stdio"
    }}}"#;
    for (dialect, args, seconds) in [
        (Dialect::Cline, ["${A}", "${env:B}"], 60.0),
        (Dialect::AmazonQ, ["${A}", "${B}"], 0.06),
        (Dialect::LmStudio, ["${A}", "${env:B}"], 60.0),
    ] {
        let import = read(dialect, text);
        let config = &server(&import, "a").config;
        assert!(!config.enabled, "{dialect}");
        assert_eq!(config.timeouts.call, Some(Duration::from_secs_f64(seconds)), "{dialect}");
        let guessed: &[&str] = if dialect == Dialect::LmStudio { &["timeout"] } else { &[] };
        assert_eq!(warned(&import), guessed, "{dialect}");
        assert_eq!(launch(server(&import, "a"), &[]).unwrap().args, args, "{dialect}");
        let with_b = launch(server(&import, "a"), &[("B", "b")]).unwrap().args;
        let is_reference = dialect != Dialect::LmStudio;
        assert_eq!(with_b[1], if is_reference { "b" } else { args[1] }, "{dialect}");
    }
}

#[test]
fn whose_file_it_is_is_found_out() {
    let family = r#"{"mcpServers": {}}"#;
    for (text, path, expected) in [
        (family, Some("/x/claude_desktop_config.json"), Some(Dialect::ClaudeDesktop)),
        (family, Some("/p/.mcp.json"), Some(Dialect::ClaudeCode)),
        (family, Some("/p/.cursor/mcp.json"), Some(Dialect::Cursor)),
        (family, Some("/h/.codeium/windsurf/mcp_config.json"), Some(Dialect::Windsurf)),
        (family, Some("/h/.gemini/settings.json"), Some(Dialect::GeminiCli)),
        (family, None, Some(Dialect::McpServers)),
        ("{\"servers\": {}, }", None, Some(Dialect::VsCode)),
        ("// x\n{\"context_servers\": {}}", None, Some(Dialect::Zed)),
        ("[mcp_servers.a]\ncommand = \"x\"", None, Some(Dialect::CodexToml)),
        (REGISTRY, None, Some(Dialect::ServerJson)),
        (r#"{"a": {"command": "x"}}"#, None, Some(Dialect::McpServers)),
        (family, Some("/h/.config/Code/User/globalStorage/x/settings/cline_mcp_settings.json"), Some(Dialect::Cline)),
        (family, Some("/h/.lmstudio/mcp.json"), Some(Dialect::LmStudio)),
        (family, Some("/h/.aws/amazonq/cli-agents/rust.json"), Some(Dialect::AmazonQ)),
        (family, Some("/p/.amazonq/mcp.json"), Some(Dialect::AmazonQ)),
        ("{\"mcp\": {\"a\": {\"type\": \"local\"},},} // x", None, Some(Dialect::Opencode)),
        (r#"{"mcp": {"servers": {"a": {"type": "remote"}}}}"#, None, Some(Dialect::Opencode)),
        (r#"{"mcp": {"servers": {"a": {"type": "stdio"}}}}"#, None, None),
        ("extensions: {}", None, Some(Dialect::Goose)),
        ("", Some("/h/.config/goose/config.yaml"), Some(Dialect::Goose)),
        ("{}", None, None),
        ("", None, None),
        ("hello", None, None),
    ] {
        assert_eq!(Dialect::detect(text, path.map(Path::new)), expected, "{text}");
    }
    for dialect in Dialect::ALL {
        assert_eq!(dialect.name().parse::<Dialect>().unwrap(), dialect);
        assert!(dialect.default_paths().iter().all(|path| path != &PathBuf::new()));
    }
    for text in ["", "[", "[]", "7", "{\"mcpServers\": 1}", "\u{feff}"] {
        for dialect in Dialect::ALL {
            let options = ImportOptions::default().dialect(dialect);
            if let Ok(import) = import(text, &options) {
                assert!(
                    import.servers.is_empty() && dialect != Dialect::McpServers || text.contains("mcpServers"),
                    "{dialect} {text}"
                );
            }
        }
    }
    import("[[", &ImportOptions::default()).unwrap_err();
    let deep = "[".repeat(100_000);
    import(&deep, &ImportOptions::default().dialect(Dialect::Zed)).unwrap_err();
}

#[test]
fn what_is_exported_is_imported_as_the_same_and_holds_no_secrets() {
    let text = r#"{"mcpServers": {
        "files": {"command": "npx", "args": ["-y", "@a/b@1.0", "{x}"], "env": {"TOKEN": "ghp_0123456789abcdef0123", "A": "b"}},
        "far": {"url": "https://a/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "box": {"command": "docker", "args": ["run", "-i", "-e", "X=1", "img"]}
    }}"#;
    let first = read(Dialect::ClaudeCode, text);
    let configs: Vec<McpConfig> = first.servers.iter().map(|server| server.config.clone()).collect();
    let exported = export(&configs);
    assert!(!exported.text.contains("ghp_"), "{}", exported.text);
    assert_eq!(exported.warnings.len(), 1);
    let second = read(Dialect::ClaudeCode, &exported.text);
    let env = [("TOKEN", "ghp_0123456789abcdef0123")];
    for server in &first.servers {
        let again = second.servers.iter().find(|other| other.config.name == server.config.name).unwrap();
        let (before, after) = (launch(server, &env).unwrap(), launch(again, &env).unwrap());
        let plain = |args: &[String]| args.iter().filter(|arg| !arg.contains("mcp")).cloned().collect::<Vec<_>>();
        assert_eq!(plain(&before.args), plain(&after.args), "{}", exported.text);
        assert_eq!((before.env, before.url, before.headers), (after.env, after.url, after.headers));
    }
}

#[test]
fn no_text_makes_the_readers_panic() {
    let samples = [
        REGISTRY,
        r#"{"mcpServers": {"a": {"command": "docker", "args": ["run", "-e", "A=${B:-c}", "-v", "img"], "env": {"K_TOKEN": "Bearer ä"}}}}"#,
        r#"{"servers": {"ü": {"url": "https://a/{x}?key=${input:k}#", "headers": {"A": "${env:}"}}}, "inputs": [{"id": "k"}, 7]}"#,
        r#"{"context_servers": {"a": {"command": {"path": "x"}, "timeout": -1}}}"#,
        "[mcp_servers.a]\ncommand = \"x\"\nargs = [1, 2.5]\nstartup_timeout_sec = 1e300\n",
        r#"{"mcp": {"a": {"type": "local", "command": ["x", "{env:A}"], "environment": {"B": "{env:C}"}, "timeout": {"startup": 1}}}}"#,
        "extensions:\n  a: {type: stdio, cmd: x, args: [1, &b c, *b], env_keys: [K], timeout: 3}\n  d:\n    type: sse\n    uri: $U\n",
    ];
    let fragments = ["{", "}", "\"", "null", "[", "${", "}:-", "-e", "=", "://", "@", "\u{0}", "ß", "0"];
    for sample in samples {
        let places: Vec<usize> = sample.char_indices().map(|(at, _)| at).collect();
        for (number, at) in places.iter().enumerate().step_by(3) {
            let fragment = fragments[number % fragments.len()];
            let texts = [sample[..*at].to_owned(), format!("{}{fragment}{}", &sample[..*at], &sample[*at..])];
            for (text, dialect) in texts.iter().flat_map(|text| Dialect::ALL.map(|dialect| (text, dialect))) {
                let options = ImportOptions::default().dialect(dialect).secrets_in_args(true);
                let Ok(import) = import(text, &options) else { continue };
                for server in import.servers {
                    assert!(server.missing.is_some() || server.config.validate().is_ok(), "{text}");
                    let _ = preview(&server.config, &EnvSecrets::from_fn(|_| None)).to_string();
                    let _ = export([&server.config]);
                }
            }
            let _ = Dialect::detect(&texts[1], None);
        }
    }
}

#[test]
fn the_secrets_of_many_servers_are_stored_and_one_failure_affects_no_other() {
    let entries: serde_json::Map<String, serde_json::Value> = (0..50)
        .map(|at| {
            (format!("s{at}"), serde_json::json!({"command": "x", "env": {"API_TOKEN": format!("token-{at:03}")}}))
        })
        .collect();
    let import = read(Dialect::ClaudeDesktop, &serde_json::json!({ "mcpServers": entries }).to_string());
    let directory = tempfile::tempdir().unwrap();
    let secrets = FileSecrets::new(directory.path().join("secrets"));
    let blocked = 17;
    std::fs::create_dir_all(secrets.path(import.servers[blocked].config.id)).unwrap();
    #[cfg(unix)]
    std::fs::set_permissions(directory.path().join("secrets"), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    let results = keep_all_secrets(&import.servers, &secrets);
    for (at, (server, result)) in import.servers.iter().zip(&results).enumerate() {
        assert_eq!(result.is_err(), at == blocked, "{result:?}");
        if at != blocked {
            let (secret, value) = &server.secrets[0];
            assert_eq!(secrets.get(secret).unwrap().as_ref(), Some(value));
        }
    }
    assert!(keep_all_secrets(&[], &secrets).is_empty());
}

#[test]
fn what_a_variable_loads_is_shown_even_if_it_looks_like_a_secret() {
    for dialect in [Dialect::ClaudeCode, Dialect::McpServers, Dialect::ClaudeDesktop] {
        let text = r#"{"mcpServers": {"a": {"command": "b", "env": {"PYTHONSTARTUP": "sk-0123456789abcdef.py"}}}}"#;
        let imported = read(dialect, text);
        let shown = preview(&server(&imported, "a").config, &EnvSecrets::from_fn(|_| None)).to_string();
        assert!(shown.contains("PYTHONSTARTUP=sk-0123456789abcdef.py"), "{dialect}: {shown}");
    }
}

#[test]
fn the_default_of_an_imported_reference_is_shown_as_it_runs() {
    let text = r#"{"mcpServers": {"a": {"command": "sh", "args": ["-c", "${NOTHING:-payload}"]},
        "b": {"type": "http", "url": "https://${HOST:-evil.example}/mcp"}}}"#;
    let imported = read(Dialect::ClaudeCode, text);
    let none = EnvSecrets::from_fn(|_| None);
    assert_eq!(preview(&server(&imported, "a").config, &none).command, ["sh", "-c", "payload"]);
    assert_eq!(preview(&server(&imported, "b").config, &none).url.as_deref(), Some("https://evil.example/mcp"));
}

/// Imports an entry of the registry, for which the user has entered these values.
fn read_entry(text: &str, answers: &[(&str, &str)]) -> Import {
    read_with(Dialect::ServerJson, text, |options| {
        options.answers = answers.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    })
}

#[test]
fn an_entry_of_the_registry_is_put_together_without_a_shell() {
    let import = read_entry(REGISTRY, &[("dir", "/a; rm -rf b"), ("API_KEY", "hunter22"), ("unit", "f")]);
    let weather = server(&import, "weather");
    assert_eq!(weather.missing, None);
    let source = McpSource::Official { name: "io.github.owner/weather".into(), version: "1.2.3".into() };
    assert_eq!((&weather.config.source, &weather.config.origin), (&source, &Origin::Registry));
    let def = launch(weather, &[]).unwrap();
    assert_eq!(
        def.args,
        ["-y", "@owner/weather@1.2.3", "serve", "--unit", "f", "--dir", "/a; rm -rf b/x{y}", "--verbose"]
    );
    assert_eq!(def.env, variables([("API_KEY", "hunter22"), ("LEVEL", "3"), ("MODE", "fixed")]));
    assert!(!weather.config.to_json().to_string().contains("hunter22"));
}

#[test]
fn mc_nt4_what_the_registry_requires_is_asked_for_before_it_is_kept() {
    let import = read(Dialect::ServerJson, REGISTRY);
    let weather = server(&import, "weather");
    let missing = weather.missing.as_ref().unwrap();
    assert_eq!(missing.message(), "Missing required credentials: API_KEY, dir");
    assert_eq!(missing.field(), "env_vars.API_KEY");
    assert!(weather.config.validate().is_err());
    let wrong = read_entry(REGISTRY, &[("LEVEL", "high")]);
    assert_eq!(wrong.refused.len(), 1, "case 8: {wrong:?}");
    let fixed = read_entry(REGISTRY, &[("MODE", "other")]);
    assert!(fixed.refused[0].error.message().contains("fixes"), "case 9: {fixed:?}");
}

#[test]
fn older_entries_containers_and_remotes_of_the_registry() {
    let old = r#"{"name": "a/b", "version_detail": {"version": "2.0.0"}, "packages": [
        {"registry_type": "oci", "registry_base_url": "https://docker.io", "identifier": "o/img", "version": "1.0",
         "runtime_arguments": [{"type": "named", "name": "-e", "value": "TOKEN={t}", "variables": {"t": {"is_secret": true, "is_required": true}}},
                               {"type": "named", "name": "--mount", "value": "type=bind,src=/a"}],
         "environment_variables": [{"name": "X", "is_required": true}]}]}"#;
    let import = read_entry(old, &[("t", "hunter22"), ("X", "1")]);
    let def = launch(server(&import, "b"), &[]).unwrap();
    let args: Vec<&str> = def.args.iter().map(String::as_str).collect();
    assert!(
        args.ends_with(&["-e", "TOKEN", "-e", "X", "--mount", "type=bind,src=/a", "docker.io/o/img:1.0"]),
        "{args:?}"
    );
    assert_eq!(def.env["TOKEN"], "hunter22");

    let remote = r#"{"name": "a/b", "version": "1.0.0", "packages": [
        {"registryType": "nuget", "identifier": "x", "transport": {"type": "stdio"}},
        {"registryType": "npm", "identifier": "x", "version": "^1.0", "transport": {"type": "stdio"}}],
        "remotes": [{"type": "streamable-http", "url": "https://{tenant}.example.com/mcp/{other}", "variables": {"tenant": {"default": "eu"}},
                     "headers": [{"name": "X-Key", "isSecret": true, "isRequired": true}]}]}"#;
    let import = read_entry(remote, &[("X-Key", "hunter22")]);
    assert_eq!(import.refused.len(), 1, "an address holds no braces: {import:?}");
    let import = read_entry(&remote.replace("/{other}", ""), &[("X-Key", "hunter22")]);
    let def = launch(server(&import, "b"), &[]).unwrap();
    assert_eq!(def.url.as_deref(), Some("https://eu.example.com/mcp"));
    assert_eq!(def.headers["X-Key"], "hunter22");

    for (kind, advice) in [
        ("nuget", "`dnx Owner.Weather@1.2.0 --yes`"),
        ("mcpb", "`manifest.json`"),
        ("cargo", "`cargo install Owner.Weather`"),
        ("conda", "as a command"),
    ] {
        let package = serde_json::json!({"registryType": kind, "identifier": "Owner.Weather", "version": "1.2.0"});
        let entry = serde_json::json!({"name": "a/b", "version": "1.0.0", "packages": [package]});
        let import = read(Dialect::ServerJson, &entry.to_string());
        let error = &import.refused[0].error;
        assert_eq!(error.field(), "packages.0.registryType");
        assert!(error.message().contains(kind) && error.message().contains(advice), "{error}");
    }

    let deleted = REGISTRY.replace("active", "deleted");
    let options = ImportOptions::default().dialect(Dialect::ServerJson);
    assert_eq!(import::import(&deleted, &options).unwrap_err().field(), "status");
    let dangerous = REGISTRY.replace("\"MODE\"", "\"NODE_OPTIONS\"");
    assert_eq!(read(Dialect::ServerJson, &dangerous).servers.len(), 0);
}
