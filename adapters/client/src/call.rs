//! The macro `call_builder` defines the builder `Call` of each client. [`ReportCallbacks`] has the callbacks of a tool call.

use mcpwire_core::{Notification, Progress, Task};

/// Defines the builder `Call`, with which a program sets the options and callbacks of a tool call and sends it.
///
/// The word before `Call` selects `async` or `blocking` methods. The attributes contain more documentation and `must_use`.
///
/// The crate of the client adds the methods that send the call. One of them is `run`, which returns the client and the result.
/// The client needs the field `connection` with the method `error`, and the methods `check_output` and `task`.
///
/// This is a macro, because only the crate of a type can add methods to the type, and each client has its own `Call`.
#[doc(hidden)]
#[macro_export]
macro_rules! call_builder {
    (
        $(#[$attribute:meta])*
        async Call<$($generic:tt),+> { client: $Client:ty, callbacks: ReportCallbacks<$c:lifetime> } -> $TaskOrResult:ty
    ) => {
        $crate::call_builder! {
            @define [async] [.await] [$($generic),+] [$Client] $c [$TaskOrResult] $(#[$attribute])*
        }
    };
    (
        $(#[$attribute:meta])*
        blocking Call<$($generic:tt),+> { client: $Client:ty, callbacks: ReportCallbacks<$c:lifetime> } -> $TaskOrResult:ty
    ) => {
        $crate::call_builder! {
            @define [] [] [$($generic),+] [$Client] $c [$TaskOrResult] $(#[$attribute])*
        }
    };
    (
        @define [$($async:tt)?] [$($await:tt)*] [$($generic:tt),+] [$Client:ty] $c:lifetime [$TaskOrResult:ty]
        $(#[$attribute:meta])*
    ) => {
        /// A tool call that was not sent yet: its arguments, options and callbacks. Created by [`McpClient::call_tool`].
        ///
        $(#[$attribute])*
        pub struct Call<$($generic),+> {
            client: $Client,
            name: ::std::sync::Arc<str>,
            /// The serialized tool name and arguments, or the error with which their serialization failed.
            request: Result<
                $crate::protocol::internal::Prepared<$crate::protocol::CallTool>,
                $crate::protocol::SendError,
            >,
            options: $crate::protocol::RequestOptions,
            callbacks: $crate::ReportCallbacks<$c>,
        }

        impl<$($generic),+> Call<$($generic),+> {
            fn new(client: $Client, name: &str, arguments: &impl ::serde::Serialize) -> Self {
                let params = $crate::protocol::CallToolParams { name, arguments };
                Call {
                    client,
                    name: name.into(),
                    request: $crate::protocol::internal::Prepared::new(&params),
                    options: $crate::protocol::RequestOptions::new(),
                    callbacks: $crate::ReportCallbacks::default(),
                }
            }

            /// Replaces all options of the request. The callbacks of the call remain.
            pub fn options(mut self, options: $crate::protocol::RequestOptions) -> Self {
                let wants_progress = self.callbacks.on_progress.is_some();
                self.options = if wants_progress { options.progress() } else { options };
                self
            }

            $crate::option_setters! {
                /// Sets the maximum time that the call waits for a response or for the next progress notification. The default is
                /// [`Config::request_timeout`](crate::protocol::Config::request_timeout).
                fn timeout(timeout: ::std::time::Duration);

                /// Sets the maximum total duration of the call, even if the server reports progress. The default is
                /// [`Config::total_timeout`](crate::protocol::Config::total_timeout).
                fn total_timeout(timeout: ::std::time::Duration);
            }

            /// Asks the server to report progress, and calls `f` with each report. Each report restarts the timeout.
            ///
            /// The task or thread that waits for the call runs `f`.
            #[doc(alias = "notifications/progress")]
            pub fn on_progress(mut self, f: impl FnMut(&$crate::protocol::Progress) + Send + $c) -> Self {
                self.options = self.options.progress();
                self.callbacks.on_progress = Some(Box::new(f));
                self
            }

            /// Calls `f` whenever the status of the task changes, if the server executes the call as a task.
            ///
            /// The task or thread of this program that waits for the call runs `f`.
            #[doc(alias = "notifications/tasks/status")]
            pub fn on_status(mut self, f: impl FnMut(&$crate::protocol::Task) + Send + $c) -> Self {
                self.callbacks.on_status = Some(Box::new(f));
                self
            }

            /// Allows the server to execute the call as a task, and waits for the result of the task.
            ///
            /// In revision 2025-11-25, the client requests a task if the tool supports tasks. To get a handle to the task instead
            /// of its result, use [`Call::as_task`].
            pub fn follow_task(mut self) -> Self {
                self.options = self.options.task($crate::protocol::TaskMode::Follow);
                self
            }

            $crate::option_setters! {
                /// Sets how long the server should keep the task and its result after it has created the task (revision
                /// 2025-11-25).
                fn task_ttl(ttl: ::std::time::Duration);

                /// Adds members to the `_meta` of the request. `meta` must be a JSON object.
                fn meta(meta: $crate::protocol::Json);

                /// Sends the call to the server even if the client's cache contains a fresh response.
                fn fresh();

                /// Lets the client send the call again if the server ends the HTTP session before it responds. The server may
                /// then execute the call twice.
                fn repeatable();
            }

            /// Sends the call, waits for its result, and decodes the structured content of the result.
            ///
            /// # Errors
            /// In addition to the errors of a call: [`CallError::Structured`](crate::protocol::CallError::Structured) if the tool
            /// failed, or if the structured content is missing or does not match `T`.
            #[doc(alias = "structuredContent")]
            pub $($async)? fn structured<T: ::serde::de::DeserializeOwned>(self) -> Result<T, $crate::Error> {
                let tool = ::std::sync::Arc::clone(&self.name);
                let (client, result) = self.run::<$crate::protocol::CallTool>()$($await)*?;
                client.check_output(&tool, &result)?;
                result.structured().map_err(|error| {
                    let error = error.of_tool(&*tool).into();
                    client.connection.error($crate::protocol::CallError::Structured { error })
                })
            }

            /// Sends the call, and returns the task that the server creates for the call. If the server creates no task, returns
            /// the result.
            ///
            /// The callbacks of this call end when the server responds. [`RunningTask::wait_with`] reports the status of the
            /// task.
            pub $($async)? fn as_task(mut self) -> Result<$TaskOrResult, $crate::Error> {
                let tool = ::std::sync::Arc::clone(&self.name);
                self.options = self.options.task($crate::protocol::TaskMode::Handle);
                let (client, outcome) = self.run::<$crate::protocol::CallToolAsTask>()$($await)*?;
                Ok(match outcome {
                    $crate::protocol::CallToolOutcome::Done(result) => {
                        client.check_output(&tool, &result)?;
                        TaskOrResult::Done(Box::new(result))
                    }
                    $crate::protocol::CallToolOutcome::Task(created) => TaskOrResult::Task(client.task(created.handle())),
                })
            }
        }

        impl<$($generic),+> ::std::fmt::Debug for Call<$($generic),+> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("Call").field("tool", &self.name).field("options", &self.options).finish_non_exhaustive()
            }
        }
    };
}

type Callback<'c, T> = Box<dyn FnMut(&T) + Send + 'c>;

/// The callbacks of a tool call for its progress and for the status of its task. They may borrow data with the lifetime `'c`.
#[derive(Default)]
pub struct ReportCallbacks<'c> {
    /// Receives the progress notifications of the call. `None` if the program wants none.
    pub on_progress: Option<Callback<'c, Progress>>,
    /// Receives the status of the call's task whenever the status changes. `None` if the program does not want it.
    pub on_status: Option<Callback<'c, Task>>,
}

impl ReportCallbacks<'_> {
    /// Returns whether the program has set no callback for the call.
    pub fn is_empty(&self) -> bool {
        self.on_progress.is_none() && self.on_status.is_none()
    }

    /// Passes a progress notification or a task status of the call to its callback. Ignores other notifications.
    pub fn call(&mut self, report: &Notification) {
        match report {
            Notification::Progress { progress, .. } => self.on_progress.iter_mut().for_each(|f| f(progress)),
            Notification::TaskStatus { task, .. } => self.on_status.iter_mut().for_each(|f| f(task)),
            _ => {}
        }
    }
}
