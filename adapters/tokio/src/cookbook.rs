//! Recipes: the programs that are written most.
//!
//! What most programs do, each in a few lines. All of it reads the same on smol and async-std, and, without `async` and
//! with a client that is `&mut`, in `mcpwire-blocking`.
//!
//! # Connect
//!
//! The server is a child process. Its definition may as well be read with serde, from an entry of an `mcpServers` file.
//!
//! ```no_run
//! use mcpwire_tokio::{Error, McpClient, McpServerDef};
//!
//! async fn connect() -> Result<(), Error> {
//!     let def = McpServerDef::new("npx").args(["-y", "@modelcontextprotocol/server-everything"]);
//!     let client = McpClient::connect_and_initialize(&def).await?;
//!     if let Some(server) = client.server_info() {
//!         println!("it speaks {}", server.protocol_version);
//!     }
//!     client.shutdown().await?;
//!     Ok(())
//! }
//! ```
//!
//! # List tools
//!
//! All pages. What is no tool is left out, and told.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! async fn list(client: &McpClient) -> Result<(), Error> {
//!     let tools = client.list_tools().await?;
//!     for tool in tools.iter() {
//!         println!("{}: {}", tool.name, tool.description.as_deref().unwrap_or_default());
//!     }
//!     for rejected in tools.rejected() {
//!         eprintln!("left out: {rejected:?}");
//!     }
//!     Ok(())
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new().tool("echo", |_| "hi");
//! # let client = connect(server, ConnectOptions::default()).await?;
//! # assert_eq!(client.list_tools().await?.len(), 1);
//! # list(&client).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Call a tool
//!
//! That the tool failed is a result like any other; an `Err` is a call that had no result.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! async fn echo(client: &McpClient) -> Result<String, Error> {
//!     let result = client.call_tool("echo", json!({ "message": "hi" })).await?;
//!     if result.is_error {
//!         eprintln!("the tool failed");
//!     }
//!     Ok(result.text().to_string())
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new().tool("echo", |arguments| arguments.member::<String>("message").unwrap_or_default());
//! # let client = connect(server, ConnectOptions::default()).await?;
//! # assert_eq!(echo(&client).await?, "hi");
//! # Ok(())
//! # }
//! ```
//!
//! # Repeat a call that failed
//!
//! [`Error::is_retryable`](crate::Error::is_retryable) is true only if the call cannot take effect twice.
//! [`Error::kind`](crate::Error::kind) says what else a program can do.
//!
//! ```
//! # use std::time::Duration;
//! # use mcpwire_tokio::core::CallToolResult;
//! # use mcpwire_tokio::{Error, ErrorKind, McpClient};
//! async fn call(client: &McpClient) -> Result<CallToolResult, Error> {
//!     let mut attempts = 0;
//!     loop {
//!         let error = match client.call_tool("forecast", ()).await {
//!             Ok(result) => return Ok(result),
//!             Err(error) => error,
//!         };
//!         attempts += 1;
//!         if error.kind() == ErrorKind::Unauthorized {
//!             eprintln!("log in to {} first", error.server());
//!         }
//!         if !error.is_retryable() || attempts == 3 {
//!             return Err(error);
//!         }
//!         tokio::time::sleep(error.retry_after().unwrap_or(Duration::from_secs(1))).await;
//!     }
//! }
//! ```
//!
//! # Progress
//!
//! Asked for with the call, told to the task that awaits it. Reports put off the timeout, not the total one.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! # use std::time::Duration;
//! async fn build(client: &McpClient) -> Result<(), Error> {
//!     client
//!         .call_tool("build", json!({}))
//!         .on_progress(|progress| println!("{} of {:?}", progress.progress, progress.total))
//!         .timeout(Duration::from_secs(10))
//!         .total_timeout(Duration::from_secs(600))
//!         .await?;
//!     Ok(())
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new().tool("build", |_| Answer::new().progress(1.0, 2.0).progress(2.0, 2.0).text("built"));
//! # build(&connect(server, ConnectOptions::default()).await?).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Calls in the background
//!
//! `begin` sends a call at once, and its future owns all that it needs.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! use tokio::task::JoinSet;
//!
//! async fn all(client: &McpClient) -> Result<usize, Error> {
//!     let mut calls = JoinSet::new();
//!     for number in 0..10 {
//!         calls.spawn(client.call_tool("echo", json!({"message": number.to_string()})).begin()?);
//!     }
//!     let mut length = 0;
//!     for result in calls.join_all().await {
//!         length += result?.text().as_str().len();
//!     }
//!     Ok(length)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new().tool("echo", |arguments| arguments.member::<String>("message").unwrap_or_default());
//! # assert_eq!(all(&connect(server, ConnectOptions::default()).await?).await?, 10);
//! # Ok(())
//! # }
//! ```
//!
//! # Cancel
//!
//! A call that is dropped is cancelled, and the server told: whatever ends the future ends the call.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! # use std::time::Duration;
//! async fn impatient(client: &McpClient) -> bool {
//!     let call = client.call_tool("slow", json!({}));
//!     tokio::select! {
//!         result = call => result.is_ok(),
//!         () = tokio::time::sleep(Duration::from_millis(50)) => false,
//!     }
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new().tool("slow", |_| Answer::new().wait(Duration::from_secs(3600)).text("at last"));
//! # let client = connect(server.clone(), ConnectOptions::default()).await?;
//! # assert!(!impatient(&client).await);
//! # while server.cancellations().is_empty() {
//! #     tokio::task::yield_now().await;
//! # }
//! # Ok(())
//! # }
//! ```
//!
//! # Read a resource
//!
//! Text, or bytes in base64. With the feature `base64`, `ResourceContents::bytes` decodes them.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! async fn read(client: &McpClient) -> Result<String, Error> {
//!     let result = client.read_resource("file:///notes.txt").await?;
//!     let texts = result.contents.items.into_iter().filter_map(|contents| contents.text);
//!     Ok(texts.collect())
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new().capabilities(json!({"resources": {}})).on("resources/read", |_| {
//! #     Answer::new().result(json!({"contents": [{"uri": "file:///notes.txt", "text": "a note"}]}))
//! # });
//! # assert_eq!(read(&connect(server, ConnectOptions::default()).await?).await?, "a note");
//! # Ok(())
//! # }
//! ```
//!
//! # Elicitation: let the server ask the user
//!
//! In the legacy era the server asks in the middle of a call, in the modern era it answers that it wants input and the call is sent
//! again: the program is the same. What is left out of the answer takes its default, and what does not fit the form is not sent.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! use mcpwire_tokio::HandlerContext;
//! use mcpwire_tokio::core::{ElicitForm, ElicitResult, RpcError};
//!
//! async fn ask(form: ElicitForm, context: HandlerContext) -> Result<ElicitResult, RpcError> {
//!     println!("{} asks: {}", context.server(), form.message);
//!     Ok(ElicitResult::accept(&[("name", "Ada")])?)
//! }
//!
//! fn options() -> ConnectOptions {
//!     ConnectOptions::default().on_elicitation(ask)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let form = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
//! # let mut asked = false;
//! # let server = ScriptedServer::new().tool("greet", move |_| {
//! #     let wanted = json!({"who": {"method": "elicitation/create", "params": {"message": "Who?", "requestedSchema": form}}});
//! #     match std::mem::replace(&mut asked, true) {
//! #         false => Answer::new().input_required(wanted, Some("state")),
//! #         true => Answer::new().text("hello"),
//! #     }
//! # });
//! # let client = connect(server, options()).await?;
//! # assert_eq!(client.call_tool("greet", json!({})).await?.text().to_string(), "hello");
//! # Ok(())
//! # }
//! ```
//!
//! # Sampling: let the server ask a language model
//!
//! Show the user what goes to the model; [`RpcError::USER_REJECTED`](crate::core::RpcError::USER_REJECTED) is their no.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! use mcpwire_tokio::HandlerContext;
//! use mcpwire_tokio::core::{CreateMessageParams, CreateMessageResult, RpcError};
//!
//! async fn ask_model(params: CreateMessageParams, _: HandlerContext) -> Result<CreateMessageResult, RpcError> {
//!     println!("{} messages, a system prompt: {:?}", params.messages.items.len(), params.system_prompt);
//!     Ok(CreateMessageResult::text("my-model", "Forty-two."))
//! }
//!
//! fn options() -> ConnectOptions {
//!     ConnectOptions::default().on_sampling(ask_model)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let messages = json!([{"role": "user", "content": {"type": "text", "text": "Six times seven?"}}]);
//! # let mut asked = false;
//! # let server = ScriptedServer::new().tool("think", move |_| {
//! #     let wanted = json!({"model": {"method": "sampling/createMessage", "params": {"messages": messages, "maxTokens": 10}}});
//! #     match std::mem::replace(&mut asked, true) {
//! #         false => Answer::new().input_required(wanted, None),
//! #         true => Answer::new().text("thought"),
//! #     }
//! # });
//! # let client = connect(server, options()).await?;
//! # assert_eq!(client.call_tool("think", json!({})).await?.text().to_string(), "thought");
//! # Ok(())
//! # }
//! ```
//!
//! # Subscribe
//!
//! Told twice before it is taken, a change is one; none is lost. In every revision.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! use mcpwire_tokio::core::{SubscriptionEvent, SubscriptionFilter};
//!
//! async fn watch(client: &McpClient) -> Result<Option<SubscriptionEvent>, Error> {
//!     let wanted = SubscriptionFilter::new().tools().resource("file:///notes.txt");
//!     let mut changes = client.subscribe(&wanted).await?;
//!     println!("the server agrees to {:?}", changes.acknowledged());
//!     let change = changes.next().await;
//!     changes.close();
//!     Ok(change)
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let server = ScriptedServer::new()
//! #     .capabilities(json!({"tools": {"listChanged": true}, "resources": {"subscribe": true}}))
//! #     .versions(["2025-11-25"])
//! #     .on("resources/subscribe", |_| {
//! #         let changed = json!({"uri": "file:///notes.txt"});
//! #         Answer::new().result(json!({})).notify("notifications/resources/updated", changed)
//! #     })
//! #     .on("resources/unsubscribe", |_| Answer::new().result(json!({})));
//! # let client = connect(server, ConnectOptions::default()).await?;
//! # assert!(matches!(watch(&client).await?, Some(SubscriptionEvent::ResourceUpdated { .. })));
//! # Ok(())
//! # }
//! ```
//!
//! # Tasks
//!
//! A call that outlives the connection: its handle is stored, and taken up again by whoever has it.
//!
//! ```
//! # use mcpwire_testkit::{Answer, ScriptedServer, duplex};
//! # use mcpwire_tokio::{ConnectOptions, Error, McpClient, Tokio};
//! # use serde_json::json;
//! # async fn connect(server: ScriptedServer, options: ConnectOptions) -> Result<McpClient, Error> {
//! #     let (ours, theirs) = duplex(64 * 1024);
//! #     tokio::spawn(server.serve::<Tokio>(theirs.reader, theirs.writer));
//! #     let client = McpClient::over(ours.reader, ours.writer, options);
//! #     client.initialize().await?;
//! #     Ok(client)
//! # }
//! # use mcpwire_tokio::core::TaskHandle;
//! async fn begin(client: &McpClient) -> Result<Option<TaskHandle>, Error> {
//!     let started = client.call_tool("research", json!({})).as_task().await?;
//!     Ok(started.handle().cloned()) // serde stores it; without one, the server has answered at once
//! }
//!
//! async fn finish(client: &McpClient, stored: TaskHandle) -> Result<String, Error> {
//!     Ok(client.task(stored).wait().await?.text().to_string())
//! }
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Error> {
//! # let task = |status: &str| json!({"taskId": "t1", "status": status, "createdAt": "2026-01-01T00:00:00Z",
//! #     "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": 60000, "pollInterval": 100});
//! # let definition = json!({"name": "research", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "optional"}});
//! # let server = ScriptedServer::new()
//! #     .versions(["2025-11-25"])
//! #     .capabilities(json!({"tools": {}, "tasks": {"requests": {"tools": {"call": {}}}}}))
//! #     .tool_with(definition, move |_| Answer::new().result(json!({"task": task("working")})))
//! #     .on("tasks/get", move |_| Answer::new().result(task("completed")))
//! #     .on("tasks/result", |_| Answer::new().result(json!({"content": [{"type": "text", "text": "found"}]})));
//! # let client = connect(server, ConnectOptions::default()).await?;
//! # let stored = begin(&client).await?.expect("it is a task");
//! # assert_eq!(finish(&client, stored).await?, "found");
//! # Ok(())
//! # }
//! ```
