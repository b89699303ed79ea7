//! Shows the progress of a call, and limits its time.

use std::time::Duration;

use mcpwire::async_std::open;
use mcpwire::{Error, ErrorKind, McpServerDef};

pub(crate) async fn run(def: &McpServerDef) -> Result<(), Error> {
    let client = open(def).await?;
    // Each progress notification restarts the timeout, and never the total timeout.
    let result = client
        .call_tool("slow", [("seconds", 0.5)])
        .timeout(Duration::from_secs(10))
        .total_timeout(Duration::from_secs(60))
        .on_progress(|progress| println!("{} of {:?}", progress.progress, progress.total))
        .send()
        .await?;
    println!("{}", result.text());

    // A call that times out is cancelled on the server.
    let result = client.call_tool("slow", [("seconds", 60)]).timeout(Duration::from_millis(100)).send().await;
    if let Err(error) = result {
        println!("{error}");
        assert_eq!(error.kind(), ErrorKind::Timeout);
    }
    client.shutdown().await?;
    Ok(())
}
