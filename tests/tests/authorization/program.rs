//! The program `authorization-server`: its switches, and its commands.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;

use mcpwire_authorization::{OAuth, OAuthBuilder};
use mcpwire_tests::authorization::AgreeingUser;
use mcpwire_tests::watched;
use mcpwire_tokio::http::HttpOptions;
use mcpwire_tokio::{ConnectOptions, McpClient, McpServerDef, Tokio};

/// The running program, which is killed when this is dropped.
struct Program {
    child: Child,
    commands: ChildStdin,
    output: BufReader<ChildStdout>,
    server: String,
}

impl Program {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_authorization-server"));
        let mut child =
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
        let commands = child.stdin.take().expect("it is a pipe");
        let output = BufReader::new(child.stdout.take().expect("it is a pipe"));
        let mut program = Program { child, commands, output, server: String::new() };
        let urls: Vec<_> = (0..3).map(|_| program.line()).collect();
        assert!(urls[1].starts_with("authorization http://127.0.0.1:"), "{urls:?}");
        urls[0].strip_prefix("server ").expect("the URL of the server").clone_into(&mut program.server);
        program
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("it writes");
        line.trim_end().to_owned()
    }

    fn command(&mut self, command: &str) -> String {
        writeln!(self.commands, "{command}").expect("it reads");
        self.line()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Connects a client whose user logs in at once, and calls a tool.
async fn call(url: &str, change: impl FnOnce(OAuthBuilder) -> OAuthBuilder) -> Result<McpClient, mcpwire_tokio::Error> {
    let runtime = Tokio::current();
    let def = McpServerDef::http(url);
    let user = AgreeingUser::new(runtime.http_client(&def).expect("there is a client"));
    let builder = change(OAuth::builder(url, "test").prompt(user));
    let oauth = builder.build(Arc::clone(&runtime), runtime.http_client(&def).expect("there is a client"));
    let client =
        McpClient::connect_with(&def, ConnectOptions::default().http(HttpOptions::default().authorizer(oauth)))?;
    client.initialize().await?;
    client.call_tool("echo", serde_json::json!({"message": "hi"})).await?;
    Ok(client)
}

#[test]
fn the_program_serves_logins_and_obeys_commands() {
    watched(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let mut program = Program::start(&["--agree", "--dpop", "--nonces", "--require", "tools/call echo=echo:run"]);
        let url = program.server.clone();
        let client = runtime.block_on(call(&url, |builder| builder.dpop(true))).expect("the user logs in");
        assert!(
            program.command("requests").starts_with("registrations 1 logins 2 tokens "),
            "one more login for the scope"
        );
        assert_eq!(program.command("revoke-access-tokens"), "ok");
        let result = runtime.block_on(async { client.call_tool("add", serde_json::json!({"a": 2, "b": 3})).await });
        assert_eq!(result.expect("the token is refreshed").text().as_str(), "5");
        assert_eq!(program.command("deviate token-type=mac"), "ok");
        assert!(program.command("deviate nonsense").starts_with("error: "));
    });
}

#[test]
fn the_program_serves_both_at_one_origin_for_old_clients() {
    watched(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let arguments =
            ["--same-origin", "--agree", "--metadata", "none", "--deviate", "no-metadata", "--deviate", "no-iss"];
        let program = Program::start(&arguments);
        runtime.block_on(call(&program.server, |builder| builder)).expect("the user logs in");
    });
}
