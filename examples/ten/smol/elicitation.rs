//! Answers a server that asks the user for input during a call.

use mcpwire::RpcError;
use mcpwire::smol::open;
use mcpwire::types::{ElicitForm, ElicitResult, printable};
use mcpwire::{Error, HandlerContext, McpServerDef};

pub(crate) async fn run(def: &McpServerDef) -> Result<(), Error> {
    // The handler also declares to the server that the client supports elicitation.
    let client = open(def).on_elicitation(ask).await?;
    println!("{}", client.call_tool("greet", ()).send().await?.text());
    client.shutdown().await?;
    Ok(())
}

/// Handlers are `async` in every client. A real one shows the form to the user.
async fn ask(form: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
    println!("{} asks: {}", context.server(), printable(&form.message));
    // Omitted fields take their defaults. An answer that does not fit the form is not sent.
    Ok(ElicitResult::accept(&[("first_name", "Ada")])?)
}
