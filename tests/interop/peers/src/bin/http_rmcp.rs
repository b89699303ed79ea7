//! `http_rmcp URL N TOGETHER`: calls `echo` N times by HTTP, so many together, and says what that took. Stock settings.

#[path = "../took.rs"]
mod took;

use std::error::Error;

use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use took::{Took, task};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (url, n, together) = task()?;
    let client = ().serve(StreamableHttpClientTransport::from_uri(url)).await?;
    let arguments = serde_json::json!({"message": "x".repeat(64)}).as_object().cloned().unwrap_or_default();
    let call = CallToolRequestParams::new("echo").with_arguments(arguments);
    client.call_tool(call.clone()).await?;
    let took = Took::begin();
    for _ in 0..n / together {
        let mut pending = Vec::with_capacity(together);
        for _ in 0..together {
            let (peer, call) = (client.peer().clone(), call.clone());
            pending.push(tokio::spawn(async move { peer.call_tool(call).await.map(|_| ()) }));
        }
        for one in pending {
            one.await??;
        }
    }
    took.say(n);
    client.cancel().await?;
    Ok(())
}
