//! The macro `open_options` gives the builder `Open` of each client one method for each option of a connection.

/// Defines the methods of a builder `Open` that set options of the connection.
///
/// Use it inside of an `impl` block. The builder needs the fields `options: ConnectOptions`, `timeout` and `connect_timeout`.
/// This is a macro, because the blocking and the async builder are different types with the same options.
#[doc(hidden)]
#[macro_export]
macro_rules! open_options {
    () => {
        /// Replaces all options of the connection, including those that earlier methods of this builder have set.
        pub fn options(mut self, options: $crate::ConnectOptions) -> Self {
            self.options = options;
            (self.timeout, self.connect_timeout) = (None, None);
            self
        }

        /// Sets the maximum time that a request waits for a response or for the next progress notification. Default: 30 s.
        ///
        /// This takes precedence over [`McpServerDef::timeout`](crate::McpServerDef::timeout).
        pub fn timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self.timeout = Some(timeout);
            self
        }

        /// Sets the maximum time to start the server and to open the connection. Default: 60 s.
        ///
        /// This takes precedence over [`McpServerDef::connect_timeout`](crate::McpServerDef::connect_timeout).
        pub fn connect_timeout(mut self, timeout: ::std::time::Duration) -> Self {
            self.connect_timeout = Some(timeout);
            self
        }

        $crate::open_options! {
            /// Sets the name and version with which this program introduces itself to the server.
            fn client_info(name: impl Into<String>, version: impl Into<String>);
            /// Sets the protocol versions that the client accepts. Default: all versions.
            fn negotiate(negotiate: $crate::protocol::Negotiate);
            /// Sets the maximum total duration of a request, even if the server reports progress. Default: 1 h.
            fn total_timeout(timeout: ::std::time::Duration);
            /// Sets the maximum size of a received message, in bytes. Default: 64 MiB. Larger messages are discarded.
            fn max_message_bytes(bytes: usize);
            /// Sets the minimum level of the log messages that a modern server (from revision 2026-07-28) sends.
            fn log_level(level: $crate::protocol::LoggingLevel);
            /// Allows calls of tools that the server executes only as tasks. Such a call waits for the result of its task.
            fn follow_tasks();
            /// Sets how long the server's process may continue to run after each step of its shutdown.
            fn grace_periods(grace_periods: $crate::GracePeriods);
            /// Sets the options of a connection over HTTP, such as the HTTP client and the access token.
            #[cfg(feature = "http")]
            fn http(http: $crate::http::HttpOptions);
            /// Sets the callback that adds headers to each HTTP request.
            #[cfg(feature = "http")]
            fn on_request(
                f: impl Fn(&$crate::http::CallInfo, &mut $crate::http::RequestHead<'_>) + Send + Sync + 'static,
            );
            /// Sets the object or closure that starts the server, for example in a container. Default: a local process.
            fn launcher(launcher: impl $crate::Launcher);
            /// Sets the validator that checks the structured content of tool results against the tool's output schema.
            fn output_validator(validator: impl $crate::protocol::Validator + Send + Sync + 'static);
            /// Sets the callback that receives each line that the server writes to standard error.
            fn stderr(f: impl FnMut(&str) + Send + 'static);
            /// Sets the callback that receives each sent and received message, for debugging.
            fn trace(f: impl FnMut($crate::Direction, &[u8]) + Send + 'static);
            /// Sets the function that returns the trace context (W3C `traceparent`) to send in the `_meta` of a request.
            fn trace_context(source: $crate::TraceSource);
            /// Sets the object that answers requests of the server and receives its notifications.
            fn handler(handler: impl $crate::ClientHandler);
            /// Sets the handler that asks the user to fill in a form, and declares the capability `elicitation.form`.
            fn on_elicitation [
                F: Future<Output = Result<$crate::protocol::ElicitResult, $crate::protocol::RpcError>> + Send + 'static,
            ] (
                handler: impl Fn($crate::protocol::ElicitForm, $crate::HandlerContext) -> F + Send + Sync + 'static,
            );
            /// Sets the handler that asks the user to visit a URL, and declares the capability `elicitation.url`.
            fn on_url_elicitation [
                F: Future<Output = Result<$crate::protocol::ElicitAction, $crate::protocol::RpcError>> + Send + 'static,
            ] (
                handler: impl Fn($crate::protocol::ElicitUrl, $crate::HandlerContext) -> F + Send + Sync + 'static,
            );
            /// Sets the handler that generates a message with a language model, and declares the capability `sampling`.
            fn on_sampling [
                F: Future<Output = Result<$crate::protocol::CreateMessageResult, $crate::protocol::RpcError>>
                    + Send
                    + 'static,
            ] (
                handler: impl Fn($crate::protocol::CreateMessageParams, $crate::HandlerContext) -> F
                    + Send
                    + Sync
                    + 'static,
            );
            /// Sets the root directories that the server may list, and declares the capability `roots`.
            fn roots(roots: impl IntoIterator<Item = $crate::protocol::Root>);
            /// Adds a handler that answers the server's requests with these methods.
            fn answer [S: Into<String>] (
                methods: impl IntoIterator<Item = S>,
                handler: impl $crate::RequestHandler,
            );
            /// Sets the callback that is told when a handler refuses a request of the server, panics, or returns an invalid
            /// answer.
            fn on_answer_error(
                f: impl Fn(&$crate::protocol::ServerRequest, &$crate::protocol::RpcError) + Send + Sync + 'static,
            );
            /// Sets the callback that receives the notifications of the server.
            fn on_notification(f: impl FnMut(&$crate::protocol::Notification) + Send + 'static);
            /// Sets the callback that receives the beginning of each invalid message of the server.
            fn on_invalid_message(f: impl FnMut(&str) + Send + 'static);
            /// Adds an object that observes the connection and its requests, for logs, metrics and spans.
            fn observer(observer: impl $crate::Observer);
            /// Adds a callback that receives each panic in the program's handlers and callbacks.
            fn on_panic(f: impl Fn(&$crate::CallbackPanic) + Send + Sync + 'static);
        }
    };
    ($(
        $(#[$attribute:meta])*
        fn $name:ident $([$($generics:tt)*])? ($($argument:ident: $type:ty),* $(,)?);
    )*) => {
        $crate::option_setters! { $(
            $(#[$attribute])*
            #[doc = concat!("See [`ConnectOptions::", stringify!($name), "`](crate::ConnectOptions::", stringify!($name), ").")]
            fn $name $([$($generics)*])? ($($argument: $type),*);
        )* }
    };
}
