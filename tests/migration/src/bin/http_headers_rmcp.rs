use std::collections::HashMap;

use http::{HeaderName, HeaderValue};
use rmcp::ServiceExt;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let url = std::env::args().nth(1).unwrap_or_default();
    let headers = HashMap::from([(HeaderName::from_static("x-team"), HeaderValue::from_static("blue"))]);
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .auth_header(std::env::var("TOKEN").unwrap_or_default())
        .custom_headers(headers);
    let client = ().serve(StreamableHttpClientTransport::from_config(config)).await?;

    let arguments = serde_json::json!({ "message": "hi" }).as_object().cloned().unwrap_or_default();
    let result = client.call_tool(CallToolRequestParams::new("echo").with_arguments(arguments)).await?;
    for content in &result.content {
        if let Some(text) = content.as_text() {
            println!("{}", text.text);
        }
    }
    client.cancel().await?;
    Ok(())
}
