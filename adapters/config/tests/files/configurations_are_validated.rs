//! The rules for configurations, and the fields that their errors name.

use std::time::Duration;

use mcpwire_config::config::{
    EnvVarConfig, EnvVarSpec, InputFormat, McpConfig, McpPackageType, McpSource, McpTransport, Origin,
};
use mcpwire_config::secrets::SecretRef;
use mcpwire_config::{ErrorCode, Uuid};

#[track_caller]
fn assert_wrong(config: &McpConfig, field: &str) -> String {
    let error = config.validate().expect_err("it is valid");
    assert_eq!((error.code(), error.field()), (ErrorCode::ValidationError, field), "{error}");
    error.message().to_owned()
}

fn server() -> McpConfig {
    McpConfig::binary("a", "a")
}

fn web() -> McpConfig {
    McpConfig::http("a", "https://a.example/mcp")
}

/// Returns `config` with a change that the setters of a configuration do not make.
fn changed(mut config: McpConfig, change: impl FnOnce(&mut McpConfig)) -> McpConfig {
    change(&mut config);
    config
}

fn spec(change: impl FnOnce(&mut EnvVarSpec)) -> EnvVarSpec {
    let mut spec = EnvVarSpec::default();
    change(&mut spec);
    spec
}

/// Returns `config` with this transport.
fn over(transport: McpTransport, config: McpConfig) -> McpConfig {
    changed(config, |config| config.transport = transport)
}

fn named(name: &str) -> McpConfig {
    changed(server(), |config| config.name = name.into())
}

#[test]
fn the_rules_of_the_requirement_hold_with_their_messages() {
    let no_address = over(McpTransport::Http { url: " ".into() }, web());
    let no_value = server().env(EnvVarConfig::unset("TOKEN").is_secret(true));
    for (config, field, message) in [
        (named("  "), "name", "Name is required"),
        (McpConfig::npm("a", " "), "package.identifier", "Package identifier required"),
        (no_address, "transport", "Transport required"),
        (no_value, "env_vars.TOKEN", "Missing required credentials: TOKEN"),
    ] {
        assert_eq!(assert_wrong(&config, field), message);
    }
}

#[test]
fn certificates_and_a_proxy_are_for_servers_over_http_and_part_of_what_is_approved() {
    let config = changed(web(), |config| {
        config.ca_file = Some("/ca.pem".into());
        config.client_certificate = Some("/client.pem".into());
        config.proxy = Some("http://proxy:3128".into());
    });
    config.validate().unwrap();
    assert_ne!(config.hash(), web().hash(), "others could read along");
    let shown =
        mcpwire_config::launch::preview(&config, &mcpwire_config::secrets::EnvSecrets::from_fn(|_| None)).to_string();
    assert!(
        ["ca_file /ca.pem", "client_certificate /client.pem", "proxy http://proxy:3128"]
            .iter()
            .all(|part| shown.contains(part)),
        "{shown}"
    );
    assert_eq!(McpConfig::from_json(&config.to_json()).unwrap(), config);

    for (field, wrong) in [
        ("proxy", changed(config, |config| config.proxy = Some("http://user:password@proxy".into()))),
        ("ca_file", changed(web(), |config| config.ca_file = Some("ca.pem".into()))),
        ("client_key", changed(web(), |config| config.client_key = Some("/key.pem".into()))),
        ("ca_file", changed(server(), |config| config.ca_file = Some("/ca.pem".into()))),
        ("proxy", changed(server(), |config| config.proxy = Some("http://proxy".into()))),
    ] {
        assert_wrong(&wrong, field);
    }
}

#[test]
fn what_is_missing_in_a_file_is_named() {
    let package = r#""package":{"package_type":"npm","identifier":"a"}"#;
    let transport = r#""transport":{"type":"stdio"}"#;
    let nameless = r#""package":{"package_type":"npm"}"#;
    for (text, field, message) in [
        (format!("{{{package},{transport}}}"), "name", "Name is required"),
        (format!(r#"{{"name":"a",{nameless},{transport}}}"#), "package.identifier", "Package identifier required"),
        (format!(r#"{{"name":"a",{package}}}"#), "transport", "Transport required"),
    ] {
        let error = McpConfig::from_json(&serde_json::from_str(&text).unwrap()).unwrap_err();
        assert_eq!((error.field(), error.message()), (field, message));
    }
    let mut value = server().to_json();
    value["timeouts"] = serde_json::json!({"call_ms": "soon"});
    assert_eq!(McpConfig::from_json(&value).unwrap_err().field(), "timeouts");
}

#[test]
fn a_configuration_survives_a_round_trip_and_unknown_members_are_kept() {
    let mut config = McpConfig::docker("a", "img").env(EnvVarConfig::value("A", "b")).args(["{x}"]);
    config.source = McpSource::Official { name: "a/b".into(), version: "1".into() };
    config.timeouts.call = Some(Duration::from_millis(1500));
    config.idle = Some(Duration::from_secs(5));
    config.tools.allow = Some(vec!["t".into()]);
    config.origin = Origin::Imported { from: "zed".into() };
    config.other.insert("x-mine".into(), serde_json::json!({"a": [1.5, null]}));
    let value = config.to_json();
    assert_eq!(value["timeouts"]["call_ms"], 1500);
    assert_eq!(McpConfig::from_json(&value).unwrap(), config);
    let short = r#"{"id":"67e55044-10b1-426f-9247-bb680e5fe0c8","name":"a","env_vars":{"A":"b"},"args":null,
        "package":{"package_type":"binary","identifier":"x"},"transport":{"type":"stdio"}}"#;
    let config = McpConfig::from_json(&serde_json::from_str(short).unwrap()).unwrap();
    assert_eq!(config.env_vars["A"], EnvVarConfig::value("A", "b"));
    assert!(config.enabled);
}

#[test]
fn names_that_nobody_sees_are_none() {
    for name in ["", " ", "\u{a0}", "\u{200b}", "\t\n", "\0", "\u{3000}\u{feff}"] {
        assert_eq!(assert_wrong(&named(name), "name"), "Name is required", "{name:?}");
    }
}

#[test]
fn addresses_that_are_none() {
    for url in
        ["ftp://a", "http://u:p@a/", "https://", "a", "http://a:b", "http://a b", "http:///x", "http://a\r\nX: y"]
    {
        let message = assert_wrong(&McpConfig::http("a", url), "transport");
        assert!(!message.contains("u:p"), "{message}");
    }
    McpConfig::http("a", "https://{host}:{port}/mcp?x={key}")
        .variable(EnvVarConfig::value("host", "a"))
        .variable(EnvVarConfig::value("port", "1"))
        .variable(EnvVarConfig::value("key", "b"))
        .validate()
        .unwrap();
}

#[test]
fn what_is_wrong_is_named_by_its_field() {
    let http = McpTransport::Http { url: "http://a".into() };
    let mut given_twice = EnvVarConfig::secret("A", SecretRef::stored(server().id, "A").unwrap());
    given_twice.value = Some("x".into());
    let value = EnvVarConfig::value;
    for (config, field) in vec![
        (named("a\u{1b}[31m"), "name"),
        (over(http, McpConfig::docker("a", "img")), "transport"),
        (over(McpTransport::Stdio, web()), "transport"),
        (McpConfig::http("a", "http://a/${X}"), "transport"),
        (server().env(value("", "x")), "env_vars."),
        (server().env(value("A=B", "x")), "env_vars.A=B"),
        (server().env(value("A\0", "x")), "env_vars.A\0"),
        (server().env(value("A", "x\0y")), "env_vars.A"),
        (server().env(given_twice), "env_vars.A"),
        (web().header(value("A B", "x")), "headers.A B"),
        (web().header(value("A", "x\r\nB: y")), "headers.A"),
        (web().env(value("A", "x")), "env_vars"),
        (server().header(value("A", "x")), "headers"),
        (server().args(["a\0"]), "args.0"),
    ] {
        assert_wrong(&config, field);
    }
    let unreplaced = assert_wrong(&server().env(value("A", "x ${TOKEN}")), "env_vars.A");
    assert!(unreplaced.contains("env:TOKEN"), "{unreplaced}");
}

#[test]
fn choices_and_formats_of_the_registry_hold() {
    let of = |format| spec(|spec| spec.format = format);
    let choice = spec(|spec| spec.choices = vec!["a".into(), "b".into()]);
    for (spec, good, bad) in [
        (choice, "b", "c"),
        (of(InputFormat::Number), "-1.5e3", "1x"),
        (of(InputFormat::Number), "0", "inf"),
        (of(InputFormat::Number), "7", "NaN"),
        (of(InputFormat::Boolean), "true", "TRUE"),
        (of(InputFormat::Filepath), "/a b", " "),
    ] {
        server().env(EnvVarConfig::value("A", good).spec(spec.clone())).validate().unwrap();
        let message = assert_wrong(&server().env(EnvVarConfig::value("A", bad).spec(spec)), "env_vars.A");
        assert!(!message.contains(bad) || bad == " ", "{message}");
    }
}

#[test]
fn what_the_registry_fixes_cannot_be_another() {
    let fixed = || spec(|spec| spec.value = Some("fixed".into()));
    server().env(EnvVarConfig::unset("A").spec(fixed())).validate().unwrap();
    assert_wrong(&server().env(EnvVarConfig::value("A", "other").spec(fixed())), "env_vars.A");
    assert_wrong(&server().env(EnvVarConfig::secret("A", "env:A").spec(fixed())), "env_vars.A");
}

#[test]
fn mc_nt4_a_required_variable_of_the_registry_blocks_saving() {
    let required = || spec(|spec| spec.is_required = true);
    let with = |value: EnvVarConfig| server().env(value.spec(required()));
    let absent = || EnvVarConfig::unset("KEY");
    assert_eq!(assert_wrong(&with(absent()), "env_vars.KEY"), "Missing required credentials: KEY");
    assert_wrong(&with(EnvVarConfig::value("KEY", "")), "env_vars.KEY");
    assert_eq!(with(absent()).check_required_values().unwrap_err().field(), "env_vars.KEY");
    with(EnvVarConfig::value("KEY", "x")).validate().unwrap();
    server().env(absent().spec(EnvVarSpec::default())).validate().expect("it is not required");

    let directory = tempfile::TempDir::new().unwrap();
    let store = mcpwire_config::store::Store::new(directory.path().join("servers.json"));
    assert_eq!(store.create(&with(absent())).unwrap_err().code(), ErrorCode::ValidationError);
    assert!(!store.path().exists());
}

#[test]
fn secrets_are_where_references_can_point() {
    for reference in ["../../etc/passwd", "mcp_../x#A", "hunter2"] {
        let message = assert_wrong(&server().env(EnvVarConfig::secret("A", reference)), "env_vars.A");
        assert!(!message.contains("hunter2"), "{message}");
    }
    let of_another = SecretRef::stored(Uuid::new_v4(), "A").unwrap();
    assert_wrong(&server().env(EnvVarConfig::secret("A", of_another)), "env_vars.A");
}

#[test]
fn packages_are_named_as_packages_are() {
    for (kind, good, bad) in [
        (McpPackageType::Npm, "@scope/name@1.2.3", "--eval=x"),
        (McpPackageType::Npm, "name", "a b"),
        (McpPackageType::Pypi, "name[extra]==1.0", "name; x"),
        (McpPackageType::Docker, "host:5000/a/b:tag", "-v/:/host"),
        (McpPackageType::Docker, "a@sha256:0123456789abcdef", "a$b"),
        (McpPackageType::Binary, "C:\\Program Files\\a.exe", "a\0b"),
    ] {
        let mut config = server();
        config.package.package_type = kind;
        config.package.identifier = good.into();
        config.validate().unwrap_or_else(|error| panic!("{good}: {error}"));
        config.package.identifier = bad.into();
        assert_wrong(&config, "package.identifier");
    }
    let package = |identifier: &str, version: Option<&str>, hint: Option<&str>| {
        changed(McpConfig::npm("a", identifier), |config| {
            config.package.version = version.map(str::to_owned);
            config.package.runtime_hint = hint.map(str::to_owned);
        })
    };
    package("b", None, Some("/opt/bin/npx")).validate().unwrap();
    assert_wrong(&package("b@1", Some("2"), None), "package.version");
    assert_wrong(&package("b", Some("1 --eval"), None), "package.version");
    assert_wrong(&package("b", None, Some("sh")), "package.runtime_hint");
}

#[test]
fn a_registry_may_not_change_what_programs_load() {
    for name in ["LD_PRELOAD", "NODE_OPTIONS", "path", "DYLD_INSERT_LIBRARIES", "PYTHONPATH"] {
        let mut config = server().env(EnvVarConfig::value(name, "x"));
        config.validate().expect("the user may");
        config.origin = Origin::Registry;
        assert_wrong(&config, &format!("env_vars.{name}"));
    }
    let mut config = McpConfig::npm("a", "b");
    config.origin = Origin::Registry;
    config.package.runtime_hint = Some("/tmp/npx".into());
    assert_wrong(&config, "package.runtime_hint");
}

#[test]
fn a_secret_in_an_argument_is_refused_unless_it_is_allowed() {
    let mut config = server().args(["--token", "{token}"]).variable(EnvVarConfig::secret("token", "env:T"));
    assert_wrong(&config, "args.1");
    config.secrets_in_args = true;
    config.validate().unwrap();
}

#[test]
fn all_problems_are_found_and_none_shows_a_value() {
    let mut config = server().env(EnvVarConfig::value("A", "hunter2\0")).args(["hunter2\0"]);
    config.name = String::new();
    config.timeouts.call = Some(Duration::ZERO);
    let problems = config.problems();
    let fields: Vec<&str> = problems.iter().map(mcpwire_config::HubError::field).collect();
    assert_eq!(fields, ["name", "env_vars.A", "args.0", "timeouts.call_ms"]);
    assert!(!format!("{problems:?} {:?}", config.env_vars).contains("hunter2"));
}
