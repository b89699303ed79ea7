//! Secrets: a unique one in each place of a configuration where one may stand, and each output of the hub searched for it.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::thread;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcpwire_hub::Hub;
use mcpwire_hub::config::{EnvVarConfig, McpConfig};
use mcpwire_hub::import::{ImportOptions, import};
use mcpwire_hub::launch::{Instance, Launch};
use mcpwire_hub::secrets::{EnvSecrets, SecretRef, Secrets};
use mcpwire_hub::service::{Events, HubOptions};
use mcpwire_hub::store::Store;
use serde_json::json;

use crate::server::MODE;
use crate::{Place, call, server, soon};

/// Part of each secret. It needs no escapes.
const UNIQUE: &str = "Zq7xWv";

/// Returns a secret for a kind of place, with characters that JSON and addresses escape.
fn secret(kind: &str) -> String {
    format!("{kind}-{UNIQUE}/é\"+end")
}

fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(byte.into());
        } else {
            write!(encoded, "%{byte:02x}").unwrap();
        }
        encoded
    })
}

/// Returns the ways in which a server may repeat a secret.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![
        secret.to_owned(),
        percent_encoded(secret),
        json!(secret).to_string(),
        json!(secret).to_string().replace('é', "\\u00e9").replace('/', "\\/"),
        STANDARD.encode(secret),
    ];
    if let Some((user, password)) = secret.split_once(':') {
        forms.extend([password.to_owned(), STANDARD.encode(format!("{user}:{password}"))]);
    }
    forms
}

/// The texts that no output may contain.
struct Leaks(Vec<String>);

impl Leaks {
    fn of(secrets: &[String]) -> Self {
        let encoded = secrets.iter().flat_map(|secret| forms(secret)).map(|form| form.trim_end_matches('=').to_owned());
        Leaks(encoded.chain([UNIQUE.to_owned()]).collect())
    }

    #[track_caller]
    fn assert_none_in(&self, outputs: &[String]) {
        for output in outputs {
            for leak in &self.0 {
                assert!(!output.contains(leak.as_str()), "`{leak}` is in {output}");
            }
        }
    }
}

/// Adds the texts of all files, except for the secrets and the configuration file, which contain secrets.
fn add_files(directory: &Path, outputs: &mut Vec<String>) {
    for entry in fs::read_dir(directory).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && name != "secrets" {
            add_files(&path, outputs);
        } else if path.is_file() && !name.starts_with("servers.json") {
            outputs.push(String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned());
        }
    }
}

/// Returns everything that the hub shows of a server, and what it has written. Ends the hub, because a running one replaces its
/// files while they are read.
async fn outputs_of(place: &Place, hub: &Hub, config: &McpConfig, events: &mut Events) -> Vec<String> {
    let id = config.id;
    let preview = hub.preview_command(id).unwrap();
    let launch = Launch::compose(config, &*hub.secrets(), &Instance::default()).unwrap();
    let mut outputs = vec![
        format!("{:?} {:?}", hub.status(id), hub.status_detail(id)),
        serde_json::to_string(&hub.status_detail(id)).unwrap(),
        hub.logs(id).join("\n"),
        format!("{hub:?}"),
        format!("{:?} {:?} {:?}", hub.list(), config.package, config.transport),
        format!("{:?} {:?}", launch, launch.redactor),
    ];
    // Users see and approve arguments, as everybody on the machine can see those of the process.
    outputs.push(format!("{:?} {:?} {:?}", preview.env, preview.headers, preview.url));
    while let Some(event) = events.try_next() {
        outputs.push(format!("{event:?}"));
    }
    soon(hub.shutdown_all()).await.unwrap();
    add_files(place.path(), &mut outputs);
    outputs
}

#[tokio::test]
async fn no_output_contains_a_secret_of_a_process() {
    let place = Place::new();
    let kinds = ["plain_env", "marked_env", "stored_env", "inherited", "option", "option_with_value", "variable"];
    let mut secrets: Vec<String> = kinds.map(secret).into();
    let database = format!("me:{UNIQUE}:pw");
    let key = format!("-----BEGIN KEY-----\nMIIEvQ{UNIQUE}0BADANBgkq\n-----END KEY-----");
    secrets.extend([database.clone(), key.clone()]);
    let [plain, marked, stored, inherited, option, with_value, variable, ..] = &secrets[..] else { unreachable!() };

    let program = std::env::current_exe().unwrap().to_string_lossy().into_owned();
    let serve = "exec \"$0\" server::serve --exact --nocapture --test-threads=1";
    let mut config = McpConfig::binary("a", "/bin/sh").args(["-c", serve, &program]).args([
        "--token",
        option,
        &format!("--api-key={with_value}"),
        "{SECRET}",
    ]);
    let reference = |name: &str| SecretRef::stored(config.id, name).unwrap();
    let (in_store, in_key, in_variable) = (reference("STORED"), reference("PEM"), reference("SECRET"));
    let mut is_marked = EnvVarConfig::value("MARKED", marked);
    is_marked.is_secret = true;
    config = config
        .env(EnvVarConfig::value(MODE, "good"))
        .env(EnvVarConfig::value("API_TOKEN", plain))
        .env(is_marked)
        .env(EnvVarConfig::secret("STORED", &in_store))
        .env(EnvVarConfig::secret("PEM", &in_key))
        .env(EnvVarConfig::secret("INHERITED", "env:OF_THE_HUB"))
        .env(EnvVarConfig::value("DATABASE_URL", format!("postgres://{database}@host/db")))
        .variable(EnvVarConfig::secret("SECRET", &in_variable));
    config.secrets_in_args = true;
    let value = inherited.clone();
    let store = Secrets::in_directory(place.layout().secrets())
        .with_environment(EnvSecrets::from_fn(move |name| (name == "OF_THE_HUB").then(|| value.clone())));
    let hub = Hub::open(HubOptions::new(place.layout()).secrets(store)).await.unwrap();
    for (reference, value) in [(in_store, stored), (in_key, &key), (in_variable, variable)] {
        hub.secrets().set(&reference, &value.as_str().into()).unwrap();
    }
    hub.create(config.clone()).await.unwrap();
    let mut events = hub.events();
    soon(hub.start(config.id)).await.unwrap();

    let mut words: Vec<String> = secrets.iter().flat_map(|secret| forms(secret)).collect();
    words.push(format!("a line of the key: MIIEvQ{UNIQUE}0BADANBgkq"));
    let words = words.join(" | ");
    call(&hub, config.id, "say", json!({"words": words.replace('\n', " ")})).await.unwrap();
    let failed = call(&hub, config.id, "fail", json!({"message": words})).await.unwrap_err();
    assert!(failed.message().contains("[secret]"), "{failed}");
    let echo = call(&hub, config.id, "echo", json!({"message": words})).await.unwrap();
    assert_eq!(echo, words, "results are data, and stay as they are");
    let unknown = call(&hub, config.id, option, json!({})).await.unwrap_err();
    let crashed = call(&hub, config.id, "crash", json!({})).await.unwrap_err();

    let mut outputs = outputs_of(&place, &hub, &config, &mut events).await;
    assert!(outputs.iter().any(|output| output.contains("[secret] | [secret]")), "{outputs:?}");
    outputs.extend([&failed, &crashed].map(|error| format!("{error} {error:?} {}", json!(error))));
    // The name of the tool is the caller's, not the hub's.
    assert!(unknown.message().contains(option.as_str()));
    Leaks::of(&secrets).assert_none_in(&outputs);
}

/// Answers each request with an error that repeats its head.
fn repeat(mut stream: TcpStream, status: &str, as_json_rpc: bool) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|read| read == 1) {
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    let _ = stream.read_exact(&mut vec![0; length.unwrap_or(0)]);
    let body = if as_json_rpc {
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": head}}).to_string()
    } else {
        head
    };
    let length = body.len();
    let answer =
        format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}");
    let _ = stream.write_all(answer.as_bytes());
}

#[tokio::test]
async fn no_output_contains_a_secret_of_an_http_server() {
    for (status, as_json_rpc) in [("401 Unauthorized", false), ("500 Error", true), ("400 Bad Request", true)] {
        let place = Place::new();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                thread::spawn(move || repeat(stream, status, as_json_rpc));
            }
        });
        let [query, bearer, login, key, cookie] = ["query", "bearer", "me:login", "key", "cookie"].map(|kind| {
            // A header has no character beyond ASCII.
            secret(kind).replace('é', "e")
        });
        let url = format!("http://{address}/mcp?mode=fast&api_key={}", percent_encoded(&query));
        let config = McpConfig::http("a", url);
        let reference = SecretRef::stored(config.id, "BEARER").unwrap();
        let config = config
            .header(EnvVarConfig::value("Authorization", format!("Basic {}", STANDARD.encode(&login))))
            .header(EnvVarConfig::value("X-Api-Key", &key))
            .header(EnvVarConfig::value("Cookie", format!("theme=dark; session={cookie}")))
            .header(EnvVarConfig::secret("X-Access", &reference));
        let hub = place.hub_with([config.clone()]).await;
        hub.secrets().set(&reference, &format!("Bearer {bearer}").as_str().into()).unwrap();
        let mut events = hub.events();
        let error = soon(hub.start(config.id)).await.unwrap_err();
        let mut outputs = outputs_of(&place, &hub, &config, &mut events).await;
        outputs.push(format!("{error} {error:?} {}", json!(error)));
        let secrets = [query, bearer, login, key, cookie];
        Leaks::of(&secrets).assert_none_in(&outputs);
    }
}

#[test]
fn errors_of_files_contain_no_values() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("servers.json");
    let entry = |member: &str, value: &str| {
        format!(
            r#"{{"version": 1, "servers": [{{"id": "67e55044-10b1-426f-9247-bb680e5fe0c8", "name": "a",
            "package": {{"package_type": "binary", "identifier": "a"}}, "transport": {{"type": "stdio"}}, "{member}": {value}}}]}}"#
        )
    };
    let text = format!("\"{UNIQUE}\"");
    let texts = [
        entry("env_vars", &text),
        entry("headers", &format!("[{text}]")),
        entry("env_vars", &format!(r#"{{"A": {{"value": {text}, "is_secret": {text}}}}}"#)),
        entry("args", &text),
        entry("transport", &format!(r#""https://a/?key={UNIQUE}""#)),
        entry("args", &format!("[{text} {text}]")),
        entry("args", &format!("[{UNIQUE}]")),
        entry("args", &format!("[\"{UNIQUE}")),
        format!("{{\"version\": 1, \"servers\": [], {text}}}"),
    ];
    for text in texts {
        fs::write(&path, &text).unwrap();
        let loaded = Store::new(&path).load();
        let shown = match &loaded {
            Ok(loaded) => {
                assert_eq!(loaded.broken.len(), 1, "{text}");
                format!("{loaded:?}")
            }
            Err(error) => format!("{error} {error:?}"),
        };
        assert!(!shown.contains(UNIQUE), "{shown}");
        let text = text.replace("\"servers\"", "\"mcpServers\"");
        let imported = import(&text, &ImportOptions::default());
        assert!(!format!("{:?}", imported.map_err(|error| error.to_string())).contains(UNIQUE));
    }
}

const SECRET: &str = "hunter2-the-secret";

async fn with_secret(place: &Place, mode: &str) -> (Hub, McpConfig) {
    let config = server("a", mode);
    let reference = SecretRef::stored(config.id, "TOKEN").unwrap();
    let config =
        config.env(EnvVarConfig::secret("TOKEN", &reference)).env(EnvVarConfig::secret("LAST_WORDS", &reference));
    let hub = place.hub_with([config.clone()]).await;
    hub.secrets().set(&reference, &SECRET.into()).unwrap();
    (hub, config)
}

#[tokio::test]
async fn a_secret_in_the_last_words_of_a_start_is_not_passed_on() {
    let place = Place::new();
    let (hub, config) = with_secret(&place, "exit=5").await;
    let error = soon(hub.start(config.id)).await.unwrap_err();
    assert!(error.message().contains("code 5") && error.message().contains("[secret]"), "{error}");
    assert!(!format!("{:?}", hub.status_detail(config.id)).contains("hunter2"));
}

#[tokio::test]
async fn a_deleted_server_leaves_no_secrets_and_no_logs() {
    let place = Place::new();
    let (hub, config) = with_secret(&place, "good").await;
    soon(hub.start(config.id)).await.unwrap();
    call(&hub, config.id, "say", json!({"words": "something"})).await.unwrap();
    soon(hub.delete(config.id)).await.unwrap();
    assert!(hub.secrets().names(config.id).unwrap().is_empty());
    let layout = place.layout();
    assert!(!layout.log(config.id).exists() && !layout.catalog(config.id).exists());
    assert!(!fs::read_to_string(layout.servers()).unwrap().contains(&config.id.to_string()));
}
