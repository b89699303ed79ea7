//! A client for the tests of this crate.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::future::{Future, pending};
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use std::sync::Mutex;

use mcpwire_types::{CallToolResult, Json, Tool};

use crate::{BoxFuture, ToolClient, ToolError};

/// A client for tests. Each of its tools returns its own name, which is also its description.
pub(crate) struct FakeClient {
    tools: Vec<Tool>,
    called: Mutex<Vec<String>>,
    /// Whether requests never complete, to test their cancellation.
    pub(crate) is_slow: bool,
    pub(crate) server: Option<&'static str>,
}

impl FakeClient {
    pub(crate) fn new<const N: usize>(names: [&str; N]) -> Self {
        let tools = names.map(|name| Tool::new(name, Json::default()).with_description(name)).into();
        FakeClient { tools, called: Mutex::default(), is_slow: false, server: None }
    }

    /// Returns the names of all tools that were called, in order.
    pub(crate) fn called(&self) -> Vec<String> {
        self.called.lock().unwrap().clone()
    }
}

impl ToolClient for FakeClient {
    fn server_name(&self) -> Option<&str> {
        self.server
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async { if self.is_slow { pending().await } else { Ok(self.tools.clone()) } })
    }

    fn call_tool<'a>(&'a self, name: &'a str, _: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move {
            self.called.lock().unwrap().push(name.into());
            if self.is_slow { pending().await } else { Ok(CallToolResult::success(name)) }
        })
    }
}

/// Polls a future without a runtime, and returns its output. Panics if the future is still pending after 100 polls.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..100 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
    panic!("the future is still pending");
}

/// Returns the names of the tools that a client lists.
pub(crate) fn names(client: &dyn ToolClient) -> Vec<String> {
    block_on(client.list_tools()).unwrap().into_iter().map(|tool| tool.name).collect()
}
