//! Commands, environments and addresses that result from configurations and secrets.

use std::time::Duration;

use mcpwire_config::config::{EnvVarConfig, EnvVarSpec, InputFormat, McpConfig, Origin};
use mcpwire_config::launch::{Instance, Launch, Shown, preview};
use mcpwire_config::secrets::{SecretRef, SecretStore, Secrets};
use mcpwire_config::{ErrorCode, ErrorKind, HubError};
use tempfile::TempDir;

use crate::{secrets_in, variables};

/// Creates a store of secrets in a new directory, with this environment.
struct Fixture {
    _directory: TempDir,
    secrets: Secrets,
}

fn with_env(env: &[(&str, &str)]) -> Fixture {
    let directory = TempDir::new().unwrap();
    let secrets = secrets_in(&directory, env);
    Fixture { _directory: directory, secrets }
}

fn launch(config: &McpConfig, fixture: &Fixture) -> Result<Launch, HubError> {
    let instance = Instance { generation: 3, host: "17-42".into(), is_first: true };
    Launch::compose(config, &fixture.secrets, &instance)
}

fn argv(launch: &Launch) -> Vec<&str> {
    std::iter::once(&launch.def.command).chain(&launch.def.args).map(String::as_str).collect()
}

#[track_caller]
fn contains_all(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn mc_t1_each_package_is_started_by_its_command() {
    let none = with_env(&[]);
    let mut versioned = McpConfig::npm("a", "@s/p").args(["x"]);
    versioned.package.version = Some("1.2.3".into());
    let mut bun = McpConfig::npm("a", "p");
    bun.package.runtime_hint = Some("bunx".into());
    let mut pipx = McpConfig::pypi("a", "p");
    pipx.package.runtime_hint = Some("pipx".into());
    pipx.package.version = Some("2".into());
    for (config, expected) in [
        (versioned, vec!["npx", "-y", "@s/p@1.2.3", "x"]),
        (McpConfig::npm("a", "@s/p@1").args(["$(x)", "a b"]), vec!["npx", "-y", "@s/p@1", "$(x)", "a b"]),
        (bun, vec!["bunx", "p"]),
        (McpConfig::pypi("a", "p@1"), vec!["uvx", "p@1"]),
        (pipx, vec!["pipx", "run", "p==2"]),
        (McpConfig::binary("a", "/x/y").args(["z"]), vec!["/x/y", "z"]),
    ] {
        assert_eq!(argv(&launch(&config, &none).unwrap()), expected);
    }
    let http = launch(&McpConfig::http("a", "http://a/mcp"), &none).unwrap();
    assert_eq!((http.def.url.as_deref(), http.def.command.as_str()), (Some("http://a/mcp"), ""));
}

#[test]
fn a_container_is_owned_and_its_command_holds_no_values() {
    let fixture = with_env(&[("TOKEN", "hunter22")]);
    let mut config = McpConfig::docker("a", "img:1")
        .args(["serve"])
        .env(EnvVarConfig::secret("TOKEN", "env:TOKEN"))
        .env(EnvVarConfig::value("MODE", "fast"));
    config.runtime_args = vec!["-v".into(), "/a:/b".into()];
    let launch = launch(&config, &fixture).unwrap();
    let id = config.id.to_string();
    let name = format!("mcp-{}-1742-3", &id[..8]);
    let label = format!("app.mcp.id={id}");
    let expected = format!(
        "docker run --rm -i --init --name {name} --label {label} --label app.mcp.host=17-42 -e MODE -e TOKEN -v /a:/b img:1 serve"
    );
    assert_eq!(argv(&launch).join(" "), expected);
    assert_eq!(launch.def.env["TOKEN"], "hunter22");
    assert!(launch.def.inherit_env.iter().any(|name| name == "DOCKER_HOST"));
    let container = launch.container.as_ref().unwrap();
    assert_eq!(container.remove_command(), ["docker", "rm", "-f", &name]);
    assert_eq!(container.stop_command(), ["docker", "stop", "-t", "1", &name]);
    assert!(!format!("{launch:?} {config:?} {}", preview(&config, &fixture.secrets)).contains("hunter22"));
}

#[test]
fn mc_t6_variables_are_set_and_nothing_else_is_passed_on() {
    let fixture = with_env(&[("HOME_DIR", "/home/me"), ("AWS_SECRET_ACCESS_KEY", "hunter22")]);
    let mut config = McpConfig::binary("a", "a")
        .args(["--dir={dir}", r#"{"json":1}"#])
        .env(EnvVarConfig::value("PLAIN", "a b"))
        .env(EnvVarConfig::value("EMPTY", ""))
        .env(EnvVarConfig::value("MADE", "{dir}/x"))
        .variable(EnvVarConfig::secret("dir", "env:HOME_DIR").is_secret(false));
    config.inherit_env = vec!["PROXY".into()];
    let launch = launch(&config, &fixture).unwrap();
    assert_eq!(argv(&launch), ["a", "--dir=/home/me", r#"{"json":1}"#]);
    let mut env = launch.def.env.clone();
    let mark = env.remove(mcpwire_config::launch::MARK).unwrap();
    assert_eq!(mark, format!("{}.3.17-42", config.id));
    let expected = [("EMPTY", ""), ("MADE", "/home/me/x"), ("PLAIN", "a b")];
    assert_eq!(env, variables(expected));
    assert_eq!(launch.def.inherit_env, ["PROXY"]);
    assert_eq!(launch.def.env_policy, mcpwire_client::EnvPolicy::AllowList, "case 25: the rest stays with the hub");
}

#[test]
fn mc_t7_secrets_come_from_the_store_and_are_redacted() {
    let fixture = with_env(&[("TOKEN", "from-env-22")]);
    let config = McpConfig::binary("a", "a");
    let reference = SecretRef::stored(config.id, "KEY").unwrap();
    fixture.secrets.set(&reference, &"from-file-11".into()).unwrap();
    let config = config
        .env(EnvVarConfig::secret("KEY", &reference))
        .env(EnvVarConfig::secret("TOKEN", "env:TOKEN"))
        .env(EnvVarConfig::value("PLAIN", "visible"));
    let launch = launch(&config, &fixture).unwrap();
    assert_eq!((launch.def.env["KEY"].as_str(), launch.def.env["TOKEN"].as_str()), ("from-file-11", "from-env-22"));
    assert_eq!(launch.redactor.redact("from-file-11, from-env-22, visible"), "[secret], [secret], visible");
}

#[test]
fn missing_and_empty_secrets_are_all_named_and_nothing_is_composed() {
    let fixture = with_env(&[("EMPTY", "")]);
    let config = McpConfig::binary("a", "a");
    let reference = SecretRef::stored(config.id, "KEY").unwrap();
    let config = config
        .env(EnvVarConfig::secret("B_KEY", reference))
        .env(EnvVarConfig::secret("A_TOKEN", "env:EMPTY"))
        .env(EnvVarConfig::secret("OPTIONAL", "env:ABSENT").spec(EnvVarSpec::default()));
    let error = launch(&config, &fixture).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::MissingValue, "env_vars.A_TOKEN"));
    assert_eq!(error.message(), "Missing required credentials: A_TOKEN, B_KEY");
    let missing = Launch::missing(&config, &fixture.secrets).unwrap();
    assert_eq!(missing, ["env_vars.A_TOKEN", "env_vars.B_KEY"]);
}

#[test]
fn headers_are_made_of_secrets() {
    let fixture = with_env(&[("T", "hunter22")]);
    let config = McpConfig::http("a", "https://{tenant}.example.com/mcp")
        .header(EnvVarConfig::value("Authorization", "Bearer {token}"))
        .variable(EnvVarConfig::value("tenant", "blue"))
        .variable(EnvVarConfig::secret("token", "env:T"));
    let composed = launch(&config, &fixture).unwrap();
    assert_eq!(composed.def.url.as_deref(), Some("https://blue.example.com/mcp"));
    assert_eq!(composed.def.headers["Authorization"], "Bearer hunter22");
    assert_eq!(composed.redactor.redact("got hunter22"), "got [secret]");
    let error = launch(&config, &with_env(&[])).unwrap_err();
    assert_eq!(error.field(), "variables.token");
    let error = launch(&config, &with_env(&[("T", "a\r\nX: b")])).unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::ValidationError, "headers.Authorization"));
}

#[test]
fn resolved_values_are_held_against_the_registry_and_not_shown() {
    let mut spec = EnvVarSpec::default();
    spec.format = InputFormat::Number;
    let config = McpConfig::binary("a", "a").env(EnvVarConfig::secret("PORT", "env:P").spec(spec));
    let error = launch(&config, &with_env(&[("P", "hunter22")])).unwrap_err();
    assert_eq!(error.field(), "env_vars.PORT");
    assert!(!error.message().contains("hunter22"));
    launch(&config, &with_env(&[("P", "8080")])).unwrap();
}

#[test]
fn packages_get_longer_for_their_first_start() {
    let compose = |config: &McpConfig, is_first| {
        let instance = Instance { is_first, ..Instance::default() };
        Launch::compose(config, &with_env(&[]).secrets, &instance).unwrap().start_timeout.as_secs()
    };
    let mut own = McpConfig::npm("a", "b");
    own.timeouts.start = Some(Duration::from_secs(5));
    for (config, first, later) in [
        (McpConfig::npm("a", "b"), 180, 60),
        (McpConfig::pypi("a", "b"), 180, 60),
        (McpConfig::docker("a", "b"), 180, 60),
        (McpConfig::binary("a", "/usr/bin/npx"), 180, 60),
        (McpConfig::binary("a", "b"), 60, 60),
        (McpConfig::http("a", "http://b"), 60, 60),
        (own, 5, 5),
    ] {
        assert_eq!((compose(&config, true), compose(&config, false)), (first, later), "{config:?}");
    }
}

#[test]
fn what_others_wrote_needs_consent_and_again_when_it_changes() {
    let none = with_env(&[]);
    let mut config = McpConfig::npm("a", "b");
    config.origin = Origin::Imported { from: "cursor".into() };
    let error = launch(&config, &none).unwrap_err();
    assert_eq!((error.code(), error.field()), (ErrorCode::Conflict, "consent"));
    assert!(error.message().contains("-y b"), "it shows what would be started: {error}");
    config.give_consent(&preview(&config, &none.secrets));
    launch(&config, &none).unwrap();
    config.name = "other".into();
    config.enabled = false;
    launch(&config, &none).expect("that changes nothing");
    config.args.push("--more".into());
    assert_eq!(launch(&config, &none).unwrap_err().field(), "consent");
}

#[test]
fn a_preview_shows_all_of_the_command_and_no_secrets() {
    let mut config = McpConfig::npm("a", "b@1")
        .args(["x y", "it's", "--dir={dir}", "\u{202e}gnp", "\u{1b}[2K", &"long".repeat(500)])
        .env(EnvVarConfig::value("NODE_OPTIONS", "--require x"))
        .env(EnvVarConfig::value("LITERAL", "hunter22").is_secret(true))
        .env(EnvVarConfig::secret("TOKEN", "env:TOKEN"))
        .variable(EnvVarConfig::secret("dir", "env:DIR").is_secret(false));
    config.cwd = Some("/w d".into());
    let shown = preview(&config, &with_env(&[]).secrets);
    assert_eq!(shown.env[0], ("LITERAL".into(), Shown::Secret));
    assert!(shown.hash.starts_with(&config.hash()));
    let text = shown.to_string();
    contains_all(
        &text,
        &[
            "-y b@1 'x y' 'it'\\''s' --dir=<env:DIR>",
            "u{202e}",
            "u{1b}",
            &"long".repeat(500),
            "in '/w d'",
            "with NODE_OPTIONS='--require x'",
            "with TOKEN=<env:TOKEN>",
            "gives the variable TOKEN of this machine to the process of the server",
            "with LITERAL=<secret>",
        ],
    );
    assert!(!text.contains("hunter22") && !text.contains('\u{1b}') && !text.contains('\u{202e}'));
}

/// Returns an imported server with one argument `{x}`, whose value is the environment variable `X` or else `payload`.
fn with_default(is_secret: bool) -> McpConfig {
    let mut spec = EnvVarSpec::default();
    spec.default = Some("payload".into());
    let mut config = McpConfig::binary("a", "sh").args(["-c", "{x}"]);
    config = config.variable(EnvVarConfig::secret("x", "env:X").is_secret(is_secret).spec(spec));
    config.secrets_in_args = true;
    config.origin = Origin::Imported { from: "cursor".into() };
    config
}

#[test]
fn a_preview_shows_the_default_that_runs() {
    for is_secret in [false, true] {
        let mut config = with_default(is_secret);
        let none = with_env(&[]);
        let shown = preview(&config, &none.secrets);
        assert_eq!(shown.command, ["sh", "-c", "payload"], "{shown}");
        config.give_consent(&shown);
        assert_eq!(argv(&launch(&config, &none).unwrap()), shown.command);
    }
    let set = with_env(&[("X", "echo")]);
    assert_eq!(preview(&with_default(false), &set.secrets).command, ["sh", "-c", "echo"]);
    assert_eq!(preview(&with_default(true), &set.secrets).command, ["sh", "-c", "<env:X>"]);
}

#[test]
fn a_changed_environment_needs_approval_again() {
    for is_secret in [false, true] {
        let (set, none) = (with_env(&[("X", "echo")]), with_env(&[]));
        let mut config = with_default(is_secret);
        config.give_consent(&preview(&config, &set.secrets));
        launch(&config, &set).unwrap();
        let error = launch(&config, &none).unwrap_err();
        assert_eq!(error.field(), "consent");
        assert!(
            error.message().contains("again: since the last one, X changed") && error.message().contains("payload")
        );
    }
}

#[test]
fn a_preview_names_who_gets_the_variables_of_this_machine() {
    let with = with_env(&[("HOST", "good.example"), ("AWS_SECRET_ACCESS_KEY", "hunter22"), ("CI_TOKEN", "hunter33")]);
    let mut spec = EnvVarSpec::default();
    spec.default = Some("evil.example".into());
    let mut config = McpConfig::http("a", "https://{host}/mcp")
        .variable(EnvVarConfig::secret("host", "env:HOST").is_secret(false).spec(spec))
        .header(EnvVarConfig::secret("X-Key", "env:CI_TOKEN"));
    config.oauth.client_id = Some("client".into());
    config.oauth.client_secret = Some(EnvVarConfig::secret("client_secret", "env:AWS_SECRET_ACCESS_KEY"));
    let shown = preview(&config, &with.secrets);
    assert_eq!(shown.url.as_deref(), Some("https://good.example/mcp"));
    let text = shown.to_string();
    contains_all(
        &text,
        &[
            "oauth.client_secret <env:AWS_SECRET_ACCESS_KEY>",
            "variable AWS_SECRET_ACCESS_KEY of this machine to the authorization server that good.example names",
            "variable CI_TOKEN of this machine to good.example",
        ],
    );
    assert!(!text.contains("hunter"), "{text}");
    assert_eq!(preview(&config, &with_env(&[]).secrets).url.as_deref(), Some("https://evil.example/mcp"));
}

#[test]
fn values_that_load_code_are_shown() {
    let with = with_env(&[("NODE_ARGS", "--require /tmp/sk-0123456789abcdef.js")]);
    for name in ["PYTHONSTARTUP", "NODE_OPTIONS", "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "PERL5OPT", "GIT_SSH_COMMAND"]
    {
        let code = "sk-0123456789abcdef.py";
        let value = EnvVarConfig::value(name, code).is_secret(true);
        let shown = preview(&McpConfig::binary("a", "b").env(value), &with.secrets).to_string();
        assert!(shown.contains(&format!("{name}={code}")), "{shown}");
    }
    let config = McpConfig::binary("a", "b").env(EnvVarConfig::secret("NODE_OPTIONS", "env:NODE_ARGS"));
    assert!(preview(&config, &with.secrets).to_string().contains("/tmp/sk-0123456789abcdef.js"));
}

#[test]
fn invisible_characters_in_a_preview_are_escaped() {
    for c in ['\u{3164}', '\u{115f}', '\u{2800}', '\u{fe0f}', '\u{ad}', '\u{34f}', '\u{ffa0}', '\u{e0100}', '\u{200d}']
    {
        let shown = preview(&McpConfig::binary("a", "b").args([format!("x{c}y")]), &with_env(&[]).secrets).to_string();
        assert!(shown.contains(&format!("x{}y", c.escape_unicode())), "{shown}");
    }
}
