//! The macro `running_task` defines `RunningTask`, a handle to a task on the server, and `TaskOrResult` for each client.

/// Defines `RunningTask`, a handle to a task that a server executes, and `TaskOrResult`, the outcome of a tool call.
///
/// The word before `RunningTask` selects `async` or `blocking` methods. The generic parameter is the runtime of an async client,
/// or the lifetime of a borrowed client. The attributes contain an example for the documentation.
///
/// The client needs the methods `request`, `caller_options` and `run_reporting`.
#[doc(hidden)]
#[macro_export]
macro_rules! running_task {
    ($(#[$example:meta])* async RunningTask<$generic:tt> { client: $Client:ty }) => {
        $crate::running_task! {
            @define [async] [.await] $generic [$Client] [$(#[$example])*]
            ///
            /// # Cancel safety
            /// Dropping the future before its end does not affect the task. The method can be called again to continue to wait.
        }
    };
    ($(#[$example:meta])* blocking RunningTask<$generic:tt> { client: $Client:ty }) => {
        $crate::running_task! { @define [] [] $generic [$Client] [$(#[$example])*] }
    };
    (
        @define [$($async:tt)?] [$($await:tt)*] $generic:tt [$Client:ty] [$(#[$example:meta])*]
        $(#[$cancel_safety:meta])*
    ) => {
        /// The outcome of a tool call: its result, or a handle to the task that the server has created for the call.
        pub enum TaskOrResult<$generic> {
            /// The server has returned the result without creating a task.
            Done(Box<$crate::protocol::CallToolResult>),
            /// The server executes the call as a task, which may still be running.
            Task(RunningTask<$generic>),
        }

        impl<$generic> TaskOrResult<$generic> {
            /// Returns the result of the call. If the server has created a task, waits for the result of the task.
            pub $($async)? fn wait(self) -> Result<$crate::protocol::CallToolResult, $crate::Error> {
                match self {
                    TaskOrResult::Done(result) => Ok(*result),
                    TaskOrResult::Task(mut task) => task.wait()$($await)*,
                }
            }

            /// Returns the handle of the task, which a program can store to resume the task later. `None` if there is no task.
            pub fn handle(&self) -> Option<&$crate::protocol::TaskHandle> {
                match self {
                    TaskOrResult::Done(_) => None,
                    TaskOrResult::Task(task) => Some(task.handle()),
                }
            }

            /// Returns the task, or the result of the call as `Err` if there is no task.
            pub fn into_task(self) -> Result<RunningTask<$generic>, $crate::protocol::CallToolResult> {
                match self {
                    TaskOrResult::Done(result) => Err(*result),
                    TaskOrResult::Task(task) => Ok(task),
                }
            }
        }

        impl<$generic> ::std::fmt::Debug for TaskOrResult<$generic> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                match self {
                    TaskOrResult::Done(result) => f.debug_tuple("Done").field(result).finish(),
                    TaskOrResult::Task(task) => f.debug_tuple("Task").field(task).finish(),
                }
            }
        }

        /// A handle to a task that a server executes, to wait for its result or to cancel it.
        ///
        /// Dropping this value does not affect the task, and neither does a wait that times out. A program that stores the
        /// [`TaskHandle`](crate::protocol::TaskHandle) can wait for the task later, over this connection or another connection.
        ///
        $(#[$example])*
        pub struct RunningTask<$generic> {
            client: $Client,
            handle: $crate::protocol::TaskHandle,
            options: $crate::protocol::RequestOptions,
        }

        impl<$generic> RunningTask<$generic> {
            fn new(client: $Client, handle: $crate::protocol::TaskHandle) -> Self {
                RunningTask { client, handle, options: $crate::protocol::RequestOptions::new() }
            }

            /// Returns the id that the server has given to the task.
            pub fn id(&self) -> &str {
                &self.handle.task_id
            }

            /// Returns the handle of the task. A program can store it, and pass it to [`McpClient::task`] later. The handle is
            /// updated with each status of the task.
            pub fn handle(&self) -> &$crate::protocol::TaskHandle {
                &self.handle
            }

            /// Converts the task to its handle, for a program that stores the handle.
            pub fn into_handle(self) -> $crate::protocol::TaskHandle {
                self.handle
            }

            $crate::option_setters! {
                /// Sets the timeout of each request about the task, such as a request for its status.
                fn timeout(timeout: ::std::time::Duration);

                /// Sets the maximum time that [`RunningTask::wait`] waits for the end of the task.
                fn total_timeout(timeout: ::std::time::Duration);
            }

            /// Requests the current status of the task from the server.
            #[doc(alias = "tasks/get")]
            pub $($async)? fn status(&mut self) -> Result<$crate::protocol::Task, $crate::Error> {
                let params = $crate::protocol::TaskParams { task_id: &self.handle.task_id };
                let task = self.client.request::<$crate::protocol::GetTask>(&params, &self.options)$($await)*?;
                self.handle.update(&task);
                Ok(task)
            }

            /// Waits for the result of the task, which is the result of the tool call.
            ///
            /// The client polls the task at the interval that the server suggests. If the task requires input, the program's
            /// handlers provide it.
            ///
            /// # Errors
            /// If the task has failed or was cancelled, if its status cannot be requested, or if it does not end in time.
            $(#[$cancel_safety])*
            #[doc(alias = "tasks/result")]
            pub $($async)? fn wait(&mut self) -> Result<$crate::protocol::CallToolResult, $crate::Error> {
                self.wait_with(|_| {})$($await)*
            }

            /// Waits for the result of the task, and calls `on_status` whenever the status of the task has changed.
            ///
            /// # Errors
            /// The same as for [`RunningTask::wait`].
            $(#[$cancel_safety])*
            #[doc(alias = "tasks/result")]
            pub $($async)? fn wait_with(
                &mut self,
                mut on_status: impl FnMut(&$crate::protocol::Task),
            ) -> Result<$crate::protocol::CallToolResult, $crate::Error> {
                let options = self.client.caller_options(&self.options);
                let followed = self.handle.clone();
                let send = |calls: &mut $crate::protocol::Calls<'_>, now| calls.follow_task(&followed, &options, now);
                let follow = $crate::protocol::internal::SingleRequest::new(send);
                let handle = &mut self.handle;
                let mut on_report = |report: &$crate::protocol::Notification| {
                    if let $crate::protocol::Notification::TaskStatus { task, .. } = report {
                        handle.update(task);
                        on_status(task);
                    }
                };
                self.client.run_reporting(follow, &mut on_report)$($await)*
            }

            /// Asks the server to cancel the task. The server may need time for this, or may complete the task nevertheless.
            #[doc(alias = "tasks/cancel")]
            pub $($async)? fn cancel(&mut self) -> Result<(), $crate::Error> {
                let params = $crate::protocol::TaskParams { task_id: &self.handle.task_id };
                let cancelled = self.client.request::<$crate::protocol::CancelTask>(&params, &self.options)$($await)*;
                cancelled.map(drop)
            }

            /// Sends the input that the task requires (from revision 2026-07-28). `input_responses` is an object that contains an
            /// answer for each name in [`Task::input_requests`](crate::protocol::Task::input_requests).
            ///
            /// [`RunningTask::wait`] does this automatically. In earlier revisions, the server sends a request to the client
            /// instead.
            #[doc(alias = "tasks/update")]
            pub $($async)? fn update(&mut self, input_responses: &$crate::protocol::Json) -> Result<(), $crate::Error> {
                let params = $crate::protocol::UpdateTaskParams { task_id: &self.handle.task_id, input_responses };
                let updated = self.client.request::<$crate::protocol::UpdateTask>(&params, &self.options)$($await)*;
                updated.map(drop)
            }
        }

        impl<$generic> ::std::fmt::Debug for RunningTask<$generic> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.debug_struct("RunningTask").field("handle", &self.handle).finish_non_exhaustive()
            }
        }
    };
}
