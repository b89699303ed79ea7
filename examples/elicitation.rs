//! Answers a server that requests input from the user during a call.
//!
//! ```text
//! cargo run --example elicitation
//! ```
//!
//! The first argument is the name of the user. Without it, the program cancels the elicitation.

mod demo;

use std::env;
use std::error::Error;

use mcpwire::HandlerContext;
use mcpwire::RpcError;
use mcpwire::blocking::open;
use mcpwire::types::{ElicitForm, ElicitResult, printable};

fn main() -> Result<(), Box<dyn Error>> {
    // The handler also declares the capability `elicitation`. `on_url_elicitation` is for URLs to visit.
    let mut client = open(demo::server()).on_elicitation(ask).wait()?;
    println!("{}", client.call_tool("greet", ()).send()?.text());
    client.shutdown()?;
    Ok(())
}

/// A real program shows the server, the message and the fields of the form, and lets the user decline.
async fn ask(form: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
    println!("{} asks: {}", context.server(), printable(&form.message));
    for (field, is_required) in form.requested_schema.fields() {
        println!("  {}{}", printable(field.display_name()), if is_required { " (required)" } else { "" });
    }
    let Some(name) = env::args().nth(1) else { return Ok(ElicitResult::cancel()) };
    // Omitted fields take their defaults. An answer that does not fit the form is not sent.
    Ok(ElicitResult::accept(&[("first_name", name)])?)
}
