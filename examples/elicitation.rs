//! A server that asks the user something in the middle of a call.
//!
//! ```text
//! cargo run --example elicitation
//! ```
//!
//! The name of a user comes from the first argument; without one, the user is not there.

mod demo;

use std::env;
use std::error::Error;

use mcpwire_blocking::protocol::{ElicitForm, ElicitResult, RpcError, printable};
use mcpwire_blocking::{ConnectOptions, HandlerContext, McpClient};

fn main() -> Result<(), Box<dyn Error>> {
    // The handler also declares to the server that the user can be asked. `on_url_elicitation` is for URLs to visit.
    let options = ConnectOptions::default().on_elicitation(ask);

    let mut client = McpClient::connect_with(&demo::server(), options)?;
    client.initialize()?;
    println!("{}", client.call_tool("greet", ()).call()?.text());
    client.shutdown()?;
    Ok(())
}

/// A real program shows the form: who asks, what for, each field with its title, and a way to say no.
async fn ask(form: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
    println!("{} asks: {}", context.server(), printable(&form.message));
    for (field, is_required) in form.requested_schema.fields() {
        println!("  {}{}", printable(field.display_name()), if is_required { " (required)" } else { "" });
    }
    let Some(name) = env::args().nth(1) else { return Ok(ElicitResult::cancel()) };
    // What is left out takes its default; an answer that does not fit the form is not sent.
    Ok(ElicitResult::accept(&[("first_name", name)])?)
}
