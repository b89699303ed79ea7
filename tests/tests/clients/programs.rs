//! Programs as users write them, for each client.

use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};

use mcpwire_driver::protocol::{Json, RpcError, ServerRequest};
use mcpwire_driver::{ConnectOptions, HandlerContext, McpClient, RequestHandler};
use mcpwire_tests::asynchronous::{AsyncStd, Host, Smol, TokioCurrent, TokioMulti};
use mcpwire_tests::{server, watched};
use serde_json::json;

// The programs in `examples/ten` are the same for each client: they differ by `.await`, the import, and what is borrowed.
//
// Those of tokio are the source. After a change there, `WRITE_TEN_PROGRAMS=1 cargo test -p mcpwire-tests --test clients
// ten_programs` followed by `cargo fmt` writes the others.

const PROGRAMS: [&str; 10] = [
    "call",
    "connect",
    "elicitation",
    "errors",
    "http",
    "many_calls",
    "notifications",
    "progress",
    "resources",
    "structured",
];

/// What differs between the programs for tokio and those for another client.
struct Client {
    directory: &'static str,
    replacements: &'static [(&'static str, &'static str)],
}

const CLIENTS: [Client; 3] = [
    Client { directory: "smol", replacements: &[("mcpwire::tokio", "mcpwire::smol")] },
    Client { directory: "async_std", replacements: &[("mcpwire::tokio", "mcpwire::async_std")] },
    Client {
        directory: "blocking",
        replacements: &[
            ("mcpwire::tokio", "mcpwire::blocking"),
            // The result of a call that was begun is a future, or is waited for with the client.
            ("call.await?", "call.wait(&mut client)?"),
            // A connection that is opened is awaited, or waited for.
            ("open(def).await?", "open(def).wait()?"),
            ("on_elicitation(ask).await?", "on_elicitation(ask).wait()?"),
            ("token(token)).await?", "token(token)).wait()?"),
            ("})\n        .await?", "})\n        .wait()?"),
            // Handlers stay `async`.
            ("pub(crate) async fn", "pub(crate) fn"),
            (".await", ""),
            // Methods of the blocking client borrow it mutably.
            ("let client =", "let mut client ="),
        ],
    },
];

fn path(directory: &str, program: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/ten");
    examples.join(directory).join(format!("{program}.rs"))
}

/// Removes what a formatter may change: white space, and the order of imports.
fn unformatted(text: &str) -> String {
    let (mut imports, rest): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("use "));
    imports.sort_unstable();
    let text = [imports, rest].concat().concat();
    text.chars().filter(|c| !c.is_whitespace()).collect::<String>().replace(",)", ")")
}

#[test]
fn they_differ_by_await_and_import() {
    for program in PROGRAMS {
        let source = fs::read_to_string(path("tokio", program)).expect("it can be read");
        for client in CLIENTS {
            let expected = client.replacements.iter().fold(source.clone(), |text, (from, to)| text.replace(from, to));
            let file = path(client.directory, program);
            if env::var_os("WRITE_TEN_PROGRAMS").is_some() {
                fs::write(&file, expected).expect("it can be written");
                continue;
            }
            let text = fs::read_to_string(&file).expect("it can be read");
            assert!(
                unformatted(&text) == unformatted(&expected),
                "{} is not the program of tokio: set WRITE_TEN_PROGRAMS=1 to write it, then run `cargo fmt`",
                file.display()
            );
        }
    }
}

#[test]
fn each_program_is_run() {
    for directory in ["tokio", "smol", "async_std", "blocking"] {
        let main = fs::read_to_string(path(directory, "main")).expect("it can be read");
        for program in PROGRAMS {
            assert!(main.contains(&format!("{program}::run(")), "{directory} does not run {program}");
        }
        let files = fs::read_dir(path(directory, "main").with_file_name("")).expect("it can be read");
        assert_eq!(files.count(), PROGRAMS.len() + 1, "{directory} has a program that is not compared");
    }
}

// What a server asks for in the middle of a call is answered by the embedder.

const ANSWERED: &str = "ping: result; roots/list: result; vendor/never-heard-of: error -32601";

#[test]
fn blocking() {
    watched(|| {
        let server = server!("asks");
        let options =
            ConnectOptions::new(server.config.clone()).answer(["roots/list"], async |_, context: HandlerContext| {
                Ok(Json::parse(format!(r#"{{"roots":[],"to":"{}"}}"#, context.method())).unwrap())
            });
        let mut client = mcpwire_blocking::McpClient::connect_with(&server.def, options).expect("it starts");
        client.initialize().expect("it answers");
        assert_eq!(client.call_tool("ask", json!({})).send().expect("it answers").text().to_string(), ANSWERED);
        client.shutdown().expect("it ends");
    });
}

/// Answers after a while, from what it has.
struct Thoughtful<H>(Json, PhantomData<fn() -> H>);

impl<H: Host> RequestHandler for Thoughtful<H> {
    async fn handle(&self, request: ServerRequest, _: HandlerContext) -> Result<Json, RpcError> {
        H::sleep(Duration::from_millis(1)).await;
        assert_eq!(request.method, "roots/list");
        Ok(self.0.clone())
    }
}

fn answers<H: Host>() {
    let server = server!("asks");
    let host = H::start();
    let answer = Thoughtful::<H>(Json::parse(r#"{"roots":[]}"#).unwrap(), PhantomData);
    let options = ConnectOptions::new(server.config.clone()).answer(["roots/list"], answer);
    let client = host.enter(|| McpClient::<H::Runtime>::connect_with(&server.def, options)).expect("it starts");
    let text = host.block_on(async {
        client.initialize().await.expect("it answers");
        let result = client.call_tool("ask", json!({})).await.expect("it answers");
        client.shutdown().await.expect("it ends");
        result.text().to_string()
    });
    assert_eq!(text, ANSWERED);
}

#[test]
fn tokio_current() {
    watched(answers::<TokioCurrent>);
}

#[test]
fn tokio_multi() {
    watched(answers::<TokioMulti>);
}

#[test]
fn smol() {
    watched(answers::<Smol>);
}

#[test]
fn async_std() {
    watched(answers::<AsyncStd>);
}
