//! Imports of `server.json`: commands, addresses, and the requirements of the registry for values.

use crate::importing::{REGISTRY, launch, read, read_with, server};
use mcpwire_config::config::{McpSource, Origin};
use mcpwire_config::import::{self, Dialect, ImportOptions};

#[test]
fn an_entry_of_the_registry_is_put_together_without_a_shell() {
    let answers = |options: &mut ImportOptions| {
        let answers = [("dir", "/a; rm -rf b"), ("API_KEY", "hunter22"), ("unit", "f")];
        options.answers = answers.map(|(name, value)| (name.to_owned(), value.into())).into();
    };
    let import = read_with(Dialect::ServerJson, REGISTRY, answers);
    let weather = server(&import, "weather");
    assert_eq!(weather.missing, None);
    let source = McpSource::Official { name: "io.github.owner/weather".into(), version: "1.2.3".into() };
    assert_eq!((&weather.config.source, &weather.config.origin), (&source, &Origin::Registry));
    let def = launch(weather, &[]).unwrap();
    assert_eq!(
        def.args,
        ["-y", "@owner/weather@1.2.3", "serve", "--unit", "f", "--dir", "/a; rm -rf b/x{y}", "--verbose"]
    );
    let env = [("API_KEY", "hunter22"), ("LEVEL", "3"), ("MODE", "fixed")];
    assert_eq!(def.env, env.map(|(a, b)| (a.to_owned(), b.to_owned())).into());
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
    let wrong = read_with(Dialect::ServerJson, REGISTRY, |options| {
        options.answers = [("LEVEL".to_owned(), "high".into())].into();
    });
    assert_eq!(wrong.refused.len(), 1, "case 8: {wrong:?}");
    let fixed = read_with(Dialect::ServerJson, REGISTRY, |options| {
        options.answers = [("MODE".to_owned(), "other".into())].into();
    });
    assert!(fixed.refused[0].error.message().contains("fixes"), "case 9: {fixed:?}");
}

#[test]
fn older_entries_containers_and_remotes_of_the_registry() {
    let old = r#"{"name": "a/b", "version_detail": {"version": "2.0.0"}, "packages": [
        {"registry_type": "oci", "registry_base_url": "https://docker.io", "identifier": "o/img", "version": "1.0",
         "runtime_arguments": [{"type": "named", "name": "-e", "value": "TOKEN={t}", "variables": {"t": {"is_secret": true, "is_required": true}}},
                               {"type": "named", "name": "--mount", "value": "type=bind,src=/a"}],
         "environment_variables": [{"name": "X", "is_required": true}]}]}"#;
    let import = read_with(Dialect::ServerJson, old, |options| {
        options.answers = [("t".to_owned(), "hunter22".into()), ("X".to_owned(), "1".into())].into();
    });
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
    let import = read_with(Dialect::ServerJson, remote, |options| {
        options.answers = [("X-Key".to_owned(), "hunter22".into())].into();
    });
    assert_eq!(import.refused.len(), 1, "an address holds no braces: {import:?}");
    let import = read_with(Dialect::ServerJson, &remote.replace("/{other}", ""), |options| {
        options.answers = [("X-Key".to_owned(), "hunter22".into())].into();
    });
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
