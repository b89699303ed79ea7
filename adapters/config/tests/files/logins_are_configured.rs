//! The OAuth settings of servers: their validation, what is resolved at the start, and other programs' files.

use mcpwire_config::config::{EnvVarConfig, McpConfig, OAuthConfig};
use mcpwire_config::import::{Dialect, Import, export};
use mcpwire_config::launch::{Instance, Launch, preview};
use mcpwire_config::secrets::{MemorySecrets, Secret, SecretRef, SecretStore, Secrets};
use mcpwire_config::{ErrorCode, HubError, McpServerDef};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{read, server, warned};

fn web() -> McpConfig {
    McpConfig::http("a", "https://a.example/mcp")
}

fn with(change: impl FnOnce(&mut OAuthConfig)) -> McpConfig {
    let mut config = web();
    change(&mut config.oauth);
    config
}

/// With the id of a client, too.
fn of_client(change: impl FnOnce(&mut OAuthConfig)) -> McpConfig {
    with(|oauth| {
        oauth.client_id = Some("client".into());
        change(oauth);
    })
}

fn launch(config: &McpConfig, secrets: &Secrets) -> Result<Launch, HubError> {
    Launch::compose(config, secrets, &Instance::default())
}

fn no_secrets() -> Secrets {
    Secrets::new(MemorySecrets::default())
}

#[test]
fn each_way_to_read_and_write_settings_knows_the_short_form() {
    // Functions of the type would take precedence over those of the traits.
    assert_eq!(OAuthConfig::deserialize(&json!(false)).unwrap(), OAuthConfig::disabled());
    assert_eq!(OAuthConfig::deserialize(&json!(true)).unwrap(), OAuthConfig::default());
    assert_eq!(OAuthConfig::serialize(&OAuthConfig::disabled(), serde_json::value::Serializer).unwrap(), json!(false));
    let disabled = json!({"enabled": false, "account": "a"});
    let read = OAuthConfig::deserialize(&disabled).unwrap();
    assert_eq!(OAuthConfig::serialize(&read, serde_json::value::Serializer).unwrap(), disabled);
}

#[test]
fn settings_of_a_login_are_validated_and_an_error_names_the_field() {
    let good = with(|oauth| {
        oauth.client_id = Some("client".into());
        oauth.client_secret = Some(EnvVarConfig::secret("client_secret", "env:SECRET"));
        oauth.issuer = Some("https://auth.example/tenant".into());
        oauth.auth_method = Some("client_secret_post".into());
        oauth.client_metadata_url = Some("https://me.example/client.json".into());
        oauth.scopes = vec!["files:read".into()];
        oauth.account = Some("work".into());
        oauth.redirect_uri = Some("http://localhost:3118/callback".into());
    });
    good.validate().unwrap();
    let local_issuer = with(|oauth| oauth.issuer = Some("http://127.0.0.1:9000".into()));
    local_issuer.validate().unwrap();
    for (field, wrong) in vec![
        ("oauth.client_id", with(|oauth| oauth.client_id = Some(String::new()))),
        ("oauth.client_secret", with(|oauth| oauth.client_secret = Some(EnvVarConfig::secret("x", "env:X")))),
        (
            "oauth.client_secret",
            of_client(|oauth| oauth.client_secret = Some(EnvVarConfig::secret("client_secret", "hunter2"))),
        ),
        ("oauth.issuer", with(|oauth| oauth.issuer = Some("http://auth.example".into()))),
        ("oauth.auth_method", with(|oauth| oauth.auth_method = Some("private_key_jwt".into()))),
        ("oauth.auth_method", of_client(|oauth| oauth.auth_method = Some("client_secret_post".into()))),
        ("oauth.client_metadata_url", with(|oauth| oauth.client_metadata_url = Some("http://localhost/x".into()))),
        ("oauth.scopes", with(|oauth| oauth.scopes = vec!["a b".into()])),
        ("oauth.account", with(|oauth| oauth.account = Some(" ".into()))),
        ("oauth.redirect_uri", with(|oauth| oauth.redirect_uri = Some("http://example.com/callback".into()))),
        ("oauth.redirect_uri", with(|oauth| oauth.redirect_uri = Some("https://localhost/callback".into()))),
        ("oauth.client_credentials", with(|oauth| oauth.client_credentials = true)),
        ("oauth", McpConfig::npm("a", "b").oauth(with(|oauth| oauth.dpop = true).oauth)),
    ] {
        let error = wrong.problems().into_iter().find(|error| error.field() == field).expect(field);
        assert_eq!(error.code(), ErrorCode::ValidationError);
        assert!(!error.message().contains("hunter2"), "{error}");
    }
    McpConfig::npm("a", "b").oauth(OAuthConfig::disabled()).validate().unwrap();
}

#[test]
fn settings_of_a_login_survive_a_round_trip_with_unknown_members() {
    let mut json = web().to_json();
    assert!(json.get("oauth").is_none(), "{json}");
    let oauth = json!({"client_id": "client", "client_secret": {"secret_ref": "env:SECRET"}, "later": {"x": 1}});
    json["oauth"] = oauth;
    let config = McpConfig::from_json(&json).unwrap();
    assert_eq!(config.oauth.other["later"], json!({"x": 1}));
    assert_eq!(config.oauth.client_secret.as_ref().unwrap().name, "client_secret");
    assert_eq!(McpConfig::from_json(&config.to_json()).unwrap(), config);
    json["oauth"] = json!(false);
    let off = McpConfig::from_json(&json).unwrap();
    assert_eq!((off.oauth.enabled, &off.to_json()["oauth"]), (false, &json!(false)));
    json["oauth"] = json!({"client_id": ["hunter2"]});
    let error = McpConfig::from_json(&json).unwrap_err();
    assert_eq!(error.field(), "oauth");
    assert!(!error.message().contains("hunter2"), "{error}");
}

#[test]
fn who_gets_the_tokens_is_part_of_what_is_approved() {
    let plain = web();
    assert_eq!(with(|oauth| oauth.redirect_uri = Some("http://localhost:1/".into())).hash(), plain.hash());
    let changes: [fn(&mut OAuthConfig); 7] = [
        |oauth| oauth.issuer = Some("https://evil.example".into()),
        |oauth| oauth.client_id = Some("x".into()),
        |oauth| oauth.auth_method = Some("client_secret_post".into()),
        |oauth| oauth.scopes = vec!["admin".into()],
        |oauth| oauth.lenient_issuer = true,
        |oauth| oauth.enabled = false,
        |oauth| oauth.client_secret = Some(EnvVarConfig::secret("client_secret", "env:AWS_SECRET")),
    ];
    let mut hashes: Vec<String> = changes.iter().map(|change| with(change).hash()).collect();
    hashes.push(plain.hash());
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), changes.len() + 1);
    let config = with(|oauth| {
        oauth.issuer = Some("https://auth.example".into());
        oauth.assume_pkce = true;
    });
    let shown = preview(&config, &no_secrets());
    let shown = shown.to_string();
    assert!(shown.contains("oauth.issuer https://auth.example") && shown.contains("oauth.assume_pkce true"), "{shown}");
}

#[test]
fn the_secret_of_a_client_is_resolved_at_the_start_and_shown_nowhere() {
    let mut config = with(|oauth| oauth.client_id = Some("{team}-client".into()));
    let secret = SecretRef::stored(config.id, "client_secret").unwrap();
    config.oauth.client_secret = Some(EnvVarConfig::secret("client_secret", &secret));
    config = config.variable(EnvVarConfig::value("team", "blue"));
    let secrets = no_secrets();
    assert_eq!(launch(&config, &secrets).unwrap_err().field(), "oauth.client_secret");
    assert_eq!(Launch::missing(&config, &secrets).unwrap(), ["oauth.client_secret"]);
    secrets.set(&secret, &Secret::new("swordfish")).unwrap();
    let launch = launch(&config, &secrets).unwrap();
    assert_eq!(launch.login.as_ref().unwrap().config().client_id.as_deref(), Some("blue-client"));
    assert!(!format!("{launch:?} {:?} {config:?}", launch.login).contains("swordfish"));
    assert_eq!(launch.redactor.redact("it was swordfish"), "it was [secret]");
}

#[test]
fn only_servers_over_http_without_credentials_have_a_login() {
    let has_login = |config: &McpConfig| launch(config, &no_secrets()).unwrap().login.is_some();
    assert!(has_login(&web()));
    assert!(has_login(&web().header(EnvVarConfig::value("X-Team", "blue"))));
    assert!(!has_login(&web().header(EnvVarConfig::value("AUTHORIZATION", "Bearer x"))));
    assert!(!has_login(&web().oauth(OAuthConfig::disabled())));
    assert!(!has_login(&McpConfig::binary("a", "a")));
    let mut on_socket = web();
    on_socket.unix_socket = Some("/run/mcp.sock".into());
    assert!(!has_login(&on_socket));
    let def: McpServerDef = launch(&web(), &no_secrets()).unwrap().def;
    assert_eq!(def.url.as_deref(), Some("https://a.example/mcp"));
}

fn imported(import: &Import) -> OAuthConfig {
    assert!(import.refused.is_empty(), "{import:?}");
    server(import, "a").config.oauth.clone()
}

#[test]
fn the_oauth_section_of_each_program_is_imported() {
    let of_family = |member: &str| format!(r#"{{"mcpServers": {{"a": {{"url": "https://a/mcp", {member}}}}}}}"#);

    let claude = of_family(
        r#""oauth": {"clientId": "c", "callbackPort": 3118, "scopes": "read write", "authServerMetadataUrl": "https://b"}"#,
    );
    let import = read(Dialect::ClaudeCode, &claude);
    let oauth = imported(&import);
    assert_eq!((oauth.client_id.as_deref(), oauth.scopes), (Some("c"), vec!["read".to_owned(), "write".to_owned()]));
    assert_eq!(oauth.redirect_uri.as_deref(), Some("http://localhost:3118/callback"));
    assert_eq!(warned(&import), ["oauth.authServerMetadataUrl"]);

    let gemini = of_family(
        r#""oauth": {"enabled": true, "clientId": "c", "clientSecret": "hunter2-hunter2", "scopes": ["s"],
           "redirectUri": "http://localhost:7777/oauth/callback", "tokenUrl": "https://b/token", "audiences": ["x"]}"#,
    );
    let import = read(Dialect::GeminiCli, &gemini);
    let oauth = imported(&import);
    assert_eq!(oauth.redirect_uri.as_deref(), Some("http://localhost:7777/oauth/callback"));
    assert_eq!(warned(&import), ["oauth.audiences", "oauth.tokenUrl"]);
    let imported_server = server(&import, "a");
    assert_eq!(imported_server.secrets.len(), 1);
    assert_eq!(imported_server.secrets[0].1.expose(), "hunter2-hunter2");
    assert!(!format!("{import:?} {}", imported_server.config.to_json()).contains("hunter2"), "{import:?}");
    assert_eq!(oauth.client_secret.unwrap().secret_ref, Some(imported_server.secrets[0].0.to_string()));

    let cursor = of_family(r#""auth": {"CLIENT_ID": "${env:ID}", "CLIENT_SECRET": "${env:SECRET}", "scopes": ["s"]}"#);
    let import = read(Dialect::Cursor, &cursor);
    let oauth = imported(&import);
    assert_eq!(oauth.client_secret.unwrap().secret_ref.as_deref(), Some("env:SECRET"));
    assert_eq!((oauth.client_id.as_deref(), import.warnings.len()), (Some("{env.ID}"), 0), "{import:?}");

    let vscode = r#"{"servers": {"a": {"type": "http", "url": "https://a/mcp", "oauth": {"clientId": "c"}}}}"#;
    assert_eq!(imported(&read(Dialect::VsCode, vscode)).client_id.as_deref(), Some("c"));

    let zed = r#"{"context_servers": {"a": {"url": "https://a/mcp",
                   "oauth": {"client_id": "c", "client_secret": "hunter2-hunter2"}}}}"#;
    let import = read(Dialect::Zed, zed);
    assert_eq!(imported(&import).client_id.as_deref(), Some("c"));
    assert_eq!(server(&import, "a").secrets.len(), 1);

    let codex = r#"
        mcp_oauth_callback_port = 5555
        [mcp_servers.a]
        url = "https://a/mcp"
        auth = "oauth"
        scopes = ["read"]
        oauth_resource = "https://a"
        [mcp_servers.a.oauth]
        client_id = "c"
        callback_port = 4444
    "#;
    let import = read(Dialect::CodexToml, codex);
    let oauth = imported(&import);
    assert_eq!((oauth.client_id.as_deref(), oauth.scopes), (Some("c"), vec!["read".to_owned()]));
    assert_eq!(oauth.redirect_uri.as_deref(), Some("http://127.0.0.1:4444/callback"));
    assert_eq!(warned(&import), ["mcp_oauth_callback_port", "oauth_resource"]);

    assert!(!imported(&read(Dialect::McpServers, &of_family(r#""oauth": false"#))).enabled);
}

#[test]
fn an_oauth_section_that_cannot_be_used_is_refused_or_warned_of() {
    let one = |oauth: &str| format!(r#"{{"mcpServers": {{"a": {{"url": "https://a/mcp", "oauth": {oauth}}}}}}}"#);
    for (oauth, field) in [
        ("7", "oauth"),
        (r#"{"clientId": 7}"#, "oauth.clientId"),
        (r#"{"callbackPort": 70000}"#, "oauth.callbackPort"),
        (r#"{"scopes": {}}"#, "oauth.scopes"),
        (r#"{"issuer": "http://auth.example"}"#, "oauth.issuer"),
    ] {
        let import = read(Dialect::McpServers, &one(oauth));
        assert_eq!(import.refused[0].error.field(), field, "{oauth}");
    }
    let import =
        read(Dialect::McpServers, &one(r#"{"redirectUri": "cursor://auth", "clientSecret": "hunter2-hunter2"}"#));
    assert_eq!(imported(&import), OAuthConfig::default());
    assert_eq!(warned(&import), ["oauth.redirectUri", "oauth"]);
    assert!(server(&import, "a").secrets.is_empty());
    // A process has no login.
    let import = read(Dialect::McpServers, r#"{"mcpServers": {"a": {"command": "x", "oauth": {"clientId": "c"}}}}"#);
    assert_eq!((imported(&import), warned(&import)), (OAuthConfig::default(), vec!["oauth"]));
}

#[test]
fn an_exported_oauth_section_is_imported_as_the_same_without_the_secret() {
    let mut config = with(|oauth| {
        oauth.client_id = Some("client".into());
        oauth.scopes = vec!["read".into(), "write".into()];
        oauth.redirect_uri = Some("http://localhost:3118/callback".into());
        oauth.assume_pkce = true;
    });
    config.oauth.client_secret =
        Some(EnvVarConfig::secret("client_secret", SecretRef::stored(config.id, "client_secret").unwrap()));
    let exported = export([&config]);
    let warned: Vec<&str> = exported.warnings.iter().map(|warning| warning.field.as_str()).collect();
    assert_eq!(warned, ["oauth.assume_pkce", "oauth.client_secret"]);
    let import = read(Dialect::ClaudeCode, &exported.text);
    let again = imported(&import);
    let secret = again.client_secret.clone().unwrap();
    assert_eq!(secret.secret_ref.as_deref(), Some("env:CLIENT_SECRET"));
    let mut expected = config.oauth.clone();
    (expected.assume_pkce, expected.client_secret) = (false, Some(secret));
    assert_eq!(again, expected);
    let off = export([&web().oauth(OAuthConfig::disabled())]);
    assert!(!imported(&read(Dialect::McpServers, &off.text)).enabled);
    assert!(!export([&web()]).text.contains("oauth"));
}
