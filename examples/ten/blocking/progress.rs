//! Shows the progress of a call, and limits its time.

use std::time::Duration;

use mcpwire::blocking::open;
use mcpwire::{Error, ErrorKind, McpServerDef};

pub(crate) fn run(def: &McpServerDef) -> Result<(), Error> {
    let mut client = open(def).wait()?;
    // Each progress notification restarts the timeout, and never the total timeout.
    let result = client
        .call_tool("slow", [("seconds", 0.5)])
        .timeout(Duration::from_secs(10))
        .total_timeout(Duration::from_secs(60))
        .on_progress(|progress| println!("{} of {:?}", progress.progress, progress.total))
        .send()?;
    println!("{}", result.text());

    // A call that times out is cancelled on the server.
    let result = client.call_tool("slow", [("seconds", 60)]).timeout(Duration::from_millis(100)).send();
    if let Err(error) = result {
        println!("{error}");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
    client.shutdown()?;
    Ok(())
}
