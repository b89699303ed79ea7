//! An MCP server that wants a login, and its authorization server, over real HTTP on this machine. For tests and trials by hand.

mod arguments;
mod deviations;

use std::env;
use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::thread;

use mcpwire_testkit::authorization::{AuthorizationServer, Endpoint, ProtectedServer};

use self::arguments::{Arguments, USAGE};

fn main() -> ExitCode {
    let arguments = match Arguments::parse(env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("{error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let (authorization, server) = (&arguments.authorization, &arguments.server);
    let own_origin = if arguments.is_same_origin { None } else { Some(authorization.serve(arguments.port)?) };
    let _serving = (own_origin, server.serve(arguments.server_port)?);
    println!("server {}", server.url());
    println!("authorization {}", authorization.issuer());
    println!("device {}", authorization.endpoint(Endpoint::DevicePage));
    io::stdout().flush()?;
    for line in io::stdin().lock().lines() {
        println!("{}", obey(&line?, authorization, server));
        io::stdout().flush()?;
    }
    // Without a terminal or a pipe that commands come from, the servers go on.
    loop {
        thread::park();
    }
}

/// Does what a line of standard input says. Returns what to print.
fn obey(line: &str, authorization: &AuthorizationServer, server: &ProtectedServer) -> String {
    let (command, argument) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
    match command {
        "revoke-access-tokens" => authorization.revoke_access_tokens(),
        "revoke-logins" => authorization.revoke_logins(),
        "forget-clients" => authorization.forget_clients(),
        "renew-nonces" => {
            authorization.renew_dpop_nonce();
            server.renew_dpop_nonce();
        }
        "conform" => {
            authorization.conform();
            server.conform();
        }
        "deviate" => match deviations::deviate(argument, authorization, server) {
            Ok(()) => {}
            Err(error) => return format!("error: {error}"),
        },
        "requests" => {
            let count = |endpoint| authorization.requests_to(endpoint).len();
            return format!(
                "registrations {} logins {} tokens {} revocations {} reused {} server {}",
                count(Endpoint::Registration),
                count(Endpoint::Authorization),
                count(Endpoint::Token),
                count(Endpoint::Revocation),
                authorization.reused_refresh_tokens(),
                server.requests().len()
            );
        }
        _ => return format!("error: unknown command `{command}`"),
    }
    "ok".into()
}
