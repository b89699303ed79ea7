//! The tokio client, on a current-thread runtime of its own.

use mcpwire_tokio::protocol::{CallTool, CallToolParams, ContentBlock, RequestOptions};
use mcpwire_tokio::{ConnectOptions, McpClient};
use tokio::runtime::{Builder, Runtime};

use crate::{Client, Echo, config, server};

pub(crate) struct OnTokio {
    client: McpClient,
    runtime: Runtime,
}

impl Client for OnTokio {
    fn open(flags: &[&str]) -> Self {
        let runtime = Builder::new_current_thread().enable_all().build().expect("it starts");
        let client = runtime.block_on(async {
            let client =
                McpClient::connect_with(&server(flags), ConnectOptions::new(config())).expect("the server starts");
            client.initialize().await.expect("the connection opens");
            client
        });
        Self { client, runtime }
    }

    fn echo(&mut self, calls: usize, bytes: usize) -> usize {
        let (options, arguments) = (RequestOptions::new(), Echo::new(bytes));
        let params = CallToolParams { name: "echo", arguments: &arguments };
        self.runtime.block_on(async {
            let under_way: Vec<_> =
                (0..calls).map(|_| self.client.begin::<CallTool>(&params, &options).expect("it is sent")).collect();
            let mut len = 0;
            for call in under_way {
                let result = call.await.expect("it answers");
                len = result.content.first().and_then(ContentBlock::as_text).map_or(0, str::len);
            }
            len
        })
    }

    fn list(&mut self) -> usize {
        self.runtime.block_on(self.client.list_tools()).expect("it lists").len()
    }
}
