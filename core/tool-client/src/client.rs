//! [`ToolClient`]: lists and calls the tools of a server, or of many servers.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::future::Future;
use core::pin::Pin;

use mcpwire_types::{CallToolResult, Json, Tool};

use crate::ToolError;

/// A boxed future, as returned by the methods of [`ToolClient`].
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A client that lists and calls tools.
///
/// The trait is object-safe: use `&dyn ToolClient` or `Arc<dyn ToolClient>`. Any number of calls can run concurrently. Dropping
/// the future of a call cancels the call.
pub trait ToolClient: Send + Sync {
    /// Lists all tools that can be called. The list omits invalid tools.
    ///
    /// # Errors
    /// If the server does not return a list. A client of several servers omits the tools of unavailable servers instead.
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>>;

    /// Calls the tool named `name`, which must be a name from [`Self::list_tools`]. `arguments` is a JSON object.
    ///
    /// # Errors
    /// If the call has no result. A tool that ran and failed is not an error: its result has
    /// [`is_error`](CallToolResult::is_error) set, and its text describes the failure for the model.
    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>>;
}

macro_rules! impl_for_pointers {
    ($($Pointer:ty),*) => { $(
        impl<T: ToolClient + ?Sized> ToolClient for $Pointer {
            fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
                (**self).list_tools()
            }

            fn call_tool<'a>(
                &'a self,
                name: &'a str,
                arguments: &'a Json,
            ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
                (**self).call_tool(name, arguments)
            }
        }
    )* };
}

impl_for_pointers!(&T, Box<T>, Arc<T>);
