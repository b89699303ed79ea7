//! [`ToolClient`]: the trait of all clients that list and call tools.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::future::ready;

use mcpwire_types::{CallToolResult, Json, Tool};

use crate::{BoxFuture, CallOptions, ToolError, unless_cancelled};

/// A client that lists and calls the tools of one or several servers. Agent frameworks use this trait instead of a
/// concrete client.
///
/// The trait is object-safe: use `&dyn ToolClient` or `Arc<dyn ToolClient>`. Any number of calls can run concurrently.
/// Dropping the future of a call cancels the call.
pub trait ToolClient: Send + Sync {
    /// Returns all tools that can be called. Tools with invalid definitions are omitted.
    ///
    /// # Errors
    /// If the server does not return a list. A client for several servers instead omits the tools of unavailable
    /// servers.
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>>;

    /// Calls the tool named `name`, which must be a name from [`Self::list_tools`]. `arguments` is a JSON object.
    ///
    /// # Errors
    /// If the call has no result. A tool that ran and failed is not an error. Its result then has
    /// [`is_error`](CallToolResult::is_error) set, and the text describes the failure for the model.
    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>>;

    /// Returns the name of the server that runs the tools, which wrappers of this client use in their own errors.
    /// `None`, the default, if there are several servers or the name is not known.
    fn server_name(&self) -> Option<&str> {
        None
    }

    /// Calls the tool named `name`, like [`Self::call_tool`], but with options such as a timeout.
    ///
    /// The clients and the hub of mcpwire support all options. The default implementation supports only options that
    /// need neither a clock nor the connection:
    ///
    /// | option | default implementation |
    /// |---|---|
    /// | [`cancel_when`](CallOptions::cancel_when) | drops the future of [`Self::call_tool`] when the signal completes |
    /// | [`on_progress`](CallOptions::on_progress) | never calls the callback |
    /// | [`timeout`](CallOptions::timeout), [`total_timeout`](CallOptions::total_timeout), [`meta`](CallOptions::meta) | fails with [`ErrorKind::Usage`](crate::ErrorKind::Usage), without calling the tool |
    ///
    /// # Errors
    /// Those of [`Self::call_tool`]. Also [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) if the cancellation
    /// signal completes, and [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the client does not support an option.
    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        mut options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        let cancel = options.take_cancel();
        // Servers need not report progress, so callers cannot rely on the callback.
        drop(options.take_on_progress());
        match options.check_all_taken(name) {
            Ok(()) => unless_cancelled(self.server_name(), name, cancel, self.call_tool(name, arguments)),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }
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

            fn server_name(&self) -> Option<&str> {
                (**self).server_name()
            }

            fn call_tool_with<'a>(
                &'a self,
                name: &'a str,
                arguments: &'a Json,
                options: CallOptions<'a>,
            ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
                (**self).call_tool_with(name, arguments, options)
            }
        }
    )* };
}

impl_for_pointers!(&T, Box<T>, Arc<T>);
