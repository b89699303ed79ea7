//! The macro `request_methods` defines methods of `McpClient` that describe the server, or send requests and notifications.

/// Defines methods of `McpClient` that describe the server, or send requests and notifications. Use it inside of an `impl` block.
///
/// The argument selects the kind of methods: `async` functions with `&self`, or `blocking` functions with `&mut self`.
///
/// The client needs these methods:
///
/// - `server_info`: returns the description that the server has sent of itself
/// - `request`: sends a request with a method, and waits for its result
/// - `run`: runs an operation of the engine to its end
/// - `send_notification`: calls a function that passes a notification to the engine
/// - `caller_options`: adds the trace context and the observers' data to the options of a request
/// - `load_tools`: requests the tool list and stores it
/// - `tool_list`: returns the stored tool list
/// - `replace_roots`: replaces the answer to `roots/list`
#[doc(hidden)]
#[macro_export]
macro_rules! request_methods {
    (async) => {
        $crate::request_methods! {
            @define [async] [] [.await]
            ///
            /// # Cancel safety
            /// Dropping the future before its end cancels the request. The stored tool list remains unchanged.
        }
    };
    (blocking) => {
        $crate::request_methods! { @define [] [mut] [] }
    };
    (@define [$($async:tt)?] [$($mut:tt)?] [$($await:tt)*] $(#[$cancel_safety:meta])*) => {
        /// Returns the capabilities that the server has declared. `None` before the connection is open, or if the server has
        /// declared none.
        pub fn capabilities(&self) -> Option<&$crate::protocol::ServerCapabilities> {
            self.server_info()?.capabilities.as_ref()
        }

        /// Returns the negotiated protocol version. `None` before the connection is open.
        pub fn protocol_version(&self) -> Option<$crate::protocol::ProtocolVersion> {
            self.server_info().map(|server| server.protocol_version)
        }

        /// Returns whether the connection was opened. This remains `true` after the connection has ended.
        pub fn is_initialized(&self) -> bool {
            self.server_info().is_some()
        }

        /// Requests all pages of the server's tool list, and stores the list for [`McpClient::tools`].
        ///
        /// The list omits invalid tools: see [`McpClient::rejected_tools`].
        ///
        /// A modern server (from revision 2026-07-28) may declare how long its list is valid. During this time, the client
        /// answers from its cache, unless the server reports a change. To bypass the cache, use [`McpClient::list_all_with`] with
        /// [`RequestOptions::fresh`](crate::protocol::RequestOptions::fresh). [`Config::cache`](crate::protocol::Config::cache)
        /// limits the cache.
        ///
        /// # Errors
        /// If the request for a page fails, or if its response is invalid. The stored tool list remains unchanged.
        $(#[$cancel_safety])*
        #[doc(alias = "tools/list")]
        pub $($async)? fn list_tools(&$($mut)? self) -> Result<$crate::Tools, $crate::Error> {
            self.load_tools()$($await)*
        }

        /// Returns the stored tool list, without sending a request.
        ///
        /// The list is empty before the first call of [`McpClient::list_tools`]. [`McpClient::connect_and_initialize`] makes this
        /// call; [`McpClient::initialize`] does not. The list does not change by itself when the server reports a change, or
        /// after [`Event::AuthorizationChanged`](crate::protocol::Event::AuthorizationChanged). Then call
        /// [`McpClient::list_tools`] again.
        pub fn tools(&self) -> $crate::Tools {
            $crate::Tools::new(self.tool_list())
        }

        /// Returns the entries of the stored tool list that are not valid tools, each with the reason.
        pub fn rejected_tools(&self) -> Vec<$crate::protocol::InvalidItem> {
            self.tools().rejected().to_vec()
        }

        /// Returns whether the stored tool list contains a tool with this name, without sending a request.
        pub fn has_tool(&self, name: &str) -> bool {
            self.tools().get(name).is_some()
        }

        /// Returns a copy of the tool with this name from the stored tool list, or `None` if the list does not contain it.
        pub fn get_tool(&self, name: &str) -> Option<$crate::protocol::Tool> {
            self.tools().get(name).cloned()
        }

        /// Requests all pages of the server's prompt list, and returns the prompts.
        #[doc(alias = "prompts/list")]
        pub $($async)? fn list_prompts(
            &$($mut)? self,
        ) -> Result<$crate::protocol::ItemList<$crate::protocol::Prompt>, $crate::Error> {
            self.list_all::<$crate::protocol::ListPrompts>()$($await)*
        }

        /// Requests a prompt. `arguments` is an object whose members are strings.
        #[doc(alias = "prompts/get")]
        pub $($async)? fn get_prompt(
            &$($mut)? self,
            name: &str,
            arguments: impl ::serde::Serialize,
        ) -> Result<$crate::protocol::GetPromptResult, $crate::Error> {
            self.get_prompt_with(name, arguments, &$crate::protocol::RequestOptions::new())$($await)*
        }

        /// Requests a prompt, with options for the request such as a timeout.
        #[doc(alias = "prompts/get")]
        pub $($async)? fn get_prompt_with(
            &$($mut)? self,
            name: &str,
            arguments: impl ::serde::Serialize,
            options: &$crate::protocol::RequestOptions,
        ) -> Result<$crate::protocol::GetPromptResult, $crate::Error> {
            let params = $crate::protocol::GetPromptParams { name, arguments: &arguments };
            self.request::<$crate::protocol::GetPrompt>(&params, options)$($await)*
        }

        /// Requests suggestions for the value of an argument of a prompt or resource template.
        ///
        /// The client omits the `context` of `params` if the protocol version does not support it (before revision 2025-06-18).
        #[doc(alias = "completion/complete")]
        pub $($async)? fn complete(
            &$($mut)? self,
            params: &$crate::protocol::CompleteParams<'_>,
        ) -> Result<$crate::protocol::CompleteResult, $crate::Error> {
            self.complete_with(params, &$crate::protocol::RequestOptions::new())$($await)*
        }

        /// Requests suggestions for the value of an argument, with options for the request such as a timeout.
        #[doc(alias = "completion/complete")]
        pub $($async)? fn complete_with(
            &$($mut)? self,
            params: &$crate::protocol::CompleteParams<'_>,
            options: &$crate::protocol::RequestOptions,
        ) -> Result<$crate::protocol::CompleteResult, $crate::Error> {
            let options = self.caller_options(options);
            let send = |calls: &mut $crate::protocol::Calls<'_>, now| {
                $crate::protocol::internal::send_complete(params, calls, &options, now)
            };
            self.run($crate::protocol::internal::SingleRequest::new(send))$($await)*
        }

        /// Requests all pages of the server's resource list, and returns the descriptions of the resources.
        #[doc(alias = "resources/list")]
        pub $($async)? fn list_resources(
            &$($mut)? self,
        ) -> Result<$crate::protocol::ItemList<$crate::protocol::Resource>, $crate::Error> {
            self.list_all::<$crate::protocol::ListResources>()$($await)*
        }

        /// Requests all pages of the server's list of resource templates, and returns the templates.
        #[doc(alias = "resources/templates/list")]
        pub $($async)? fn list_resource_templates(
            &$($mut)? self,
        ) -> Result<$crate::protocol::ItemList<$crate::protocol::ResourceTemplate>, $crate::Error> {
            self.list_all::<$crate::protocol::ListResourceTemplates>()$($await)*
        }

        /// Reads the contents of the resource with this URI.
        #[doc(alias = "resources/read")]
        pub $($async)? fn read_resource(
            &$($mut)? self,
            uri: &str,
        ) -> Result<$crate::protocol::ReadResourceResult, $crate::Error> {
            self.read_resource_with(uri, &$crate::protocol::RequestOptions::new())$($await)*
        }

        /// Reads the contents of the resource with this URI, with options for the request such as a timeout.
        #[doc(alias = "resources/read")]
        pub $($async)? fn read_resource_with(
            &$($mut)? self,
            uri: &str,
            options: &$crate::protocol::RequestOptions,
        ) -> Result<$crate::protocol::ReadResourceResult, $crate::Error> {
            let params = $crate::protocol::ReadResourceParams { uri };
            self.request::<$crate::protocol::ReadResource>(&params, options)$($await)*
        }

        /// Subscribes to updates of a resource on a legacy server (up to revision 2025-11-25).
        ///
        /// The updates are among the [`McpClient::notifications`]. To subscribe on servers of any revision, use
        /// [`McpClient::subscribe`].
        #[doc(alias = "resources/subscribe")]
        pub $($async)? fn subscribe_resource(&$($mut)? self, uri: &str) -> Result<(), $crate::Error> {
            let (params, options) =
                ($crate::protocol::internal::SubscribeParams { uri }, $crate::protocol::RequestOptions::new());
            self.request::<$crate::protocol::internal::Subscribe>(&params, &options)$($await)*.map(drop)
        }

        /// Ends the subscription to updates of a resource on a legacy server (up to revision 2025-11-25).
        #[doc(alias = "resources/unsubscribe")]
        pub $($async)? fn unsubscribe_resource(&$($mut)? self, uri: &str) -> Result<(), $crate::Error> {
            let (params, options) =
                ($crate::protocol::internal::UnsubscribeParams { uri }, $crate::protocol::RequestOptions::new());
            self.request::<$crate::protocol::internal::Unsubscribe>(&params, &options)$($await)*.map(drop)
        }

        /// Requests all pages of the server's task list, and returns the tasks (revision 2025-11-25).
        #[doc(alias = "tasks/list")]
        pub $($async)? fn list_tasks(
            &$($mut)? self,
        ) -> Result<$crate::protocol::ItemList<$crate::protocol::Task>, $crate::Error> {
            self.list_all::<$crate::protocol::ListTasks>()$($await)*
        }

        /// Sends a request with any method, and returns its result unchanged, as JSON. For methods of extensions.
        #[doc(alias = "send_raw")]
        pub $($async)? fn request_raw(
            &$($mut)? self,
            method: &str,
            params: Option<&$crate::protocol::Json>,
        ) -> Result<$crate::protocol::Json, $crate::Error> {
            self.request_raw_with(method, params, &$crate::protocol::RequestOptions::new())$($await)*
        }

        /// Sends a request with any method, as `request_raw` does, with options for the request such as a timeout.
        pub $($async)? fn request_raw_with(
            &$($mut)? self,
            method: &str,
            params: Option<&$crate::protocol::Json>,
            options: &$crate::protocol::RequestOptions,
        ) -> Result<$crate::protocol::Json, $crate::Error> {
            let options = self.caller_options(options);
            let send = |calls: &mut $crate::protocol::Calls<'_>, now| calls.request_raw(method, params, &options, now);
            self.run($crate::protocol::internal::SingleRequest::new(send))$($await)*
        }

        /// Sends a notification with any method. For methods of extensions.
        ///
        /// This returns before the notification is written.
        #[doc(alias = "send_notification")]
        pub fn notify_raw(
            &$($mut)? self,
            method: &str,
            params: Option<&$crate::protocol::Json>,
        ) -> Result<(), $crate::Error> {
            self.send_notification(|calls, now| calls.notify_raw(method, params, now))
        }

        /// Replaces the root directories in the answer to `roots/list`. Notifies a legacy server (up to revision 2025-11-25) if
        /// the client has declared `roots.listChanged`.
        #[doc(alias = "notifications/roots/list_changed")]
        pub fn set_roots(
            &$($mut)? self,
            roots: impl IntoIterator<Item = $crate::protocol::Root>,
        ) -> Result<(), $crate::Error> {
            self.replace_roots(roots.into_iter().collect());
            self.send_notification(|calls, now| calls.notify_roots_changed(now))
        }

        /// Sets the minimum level of the log messages that the server sends.
        ///
        /// For a legacy server (up to revision 2025-11-25), this sends `logging/setLevel`. For a modern server, it sends nothing,
        /// but each further request contains the level.
        ///
        /// # Errors
        /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) if the server does not declare the capability `logging`, because it then
        /// sends no log messages. Also for the level [`LoggingLevel::Other`](crate::protocol::LoggingLevel::Other) with a modern
        /// server, because that server would refuse each request with such a level.
        #[doc(alias = "logging/setLevel")]
        pub $($async)? fn set_log_level(&$($mut)? self, level: &$crate::protocol::LoggingLevel) -> Result<(), $crate::Error> {
            let options = self.caller_options(&$crate::protocol::RequestOptions::new());
            self.run($crate::protocol::internal::SetLogLevel::new(level, &options))$($await)*
        }

        /// Sends a request to check that the server still responds, and waits for the response.
        ///
        /// This sends `ping` to a legacy server (up to revision 2025-11-25), and `server/discover` to a modern server, because
        /// revision 2026-07-28 has no `ping`.
        #[doc(alias = "server/discover")]
        pub $($async)? fn ping(&$($mut)? self) -> Result<(), $crate::Error> {
            let options = self.caller_options(&$crate::protocol::RequestOptions::new());
            self.run($crate::protocol::internal::PingServer::new(&options))$($await)*
        }

        /// Requests all pages of a list, such as [`ListTools`](crate::protocol::ListTools).
        pub $($async)? fn list_all<M>(
            &$($mut)? self,
        ) -> Result<$crate::protocol::ItemList<<M::Result as $crate::protocol::PagedList>::Item>, $crate::Error>
        where
            M: $crate::protocol::Method<Result: $crate::protocol::PagedList>,
            for<'a> $crate::protocol::ListParams<'a>: $crate::protocol::Params<M>,
        {
            self.list_all_with::<M>(&$crate::protocol::RequestOptions::new())$($await)*
        }

        /// Requests all pages of a list, with options for each request.
        ///
        /// [`RequestOptions::fresh`](crate::protocol::RequestOptions::fresh) bypasses the client's cache.
        /// [`RequestOptions::total_timeout`](crate::protocol::RequestOptions::total_timeout) limits the time for all pages
        /// together.
        pub $($async)? fn list_all_with<M>(
            &$($mut)? self,
            options: &$crate::protocol::RequestOptions,
        ) -> Result<$crate::protocol::ItemList<<M::Result as $crate::protocol::PagedList>::Item>, $crate::Error>
        where
            M: $crate::protocol::Method<Result: $crate::protocol::PagedList>,
            for<'a> $crate::protocol::ListParams<'a>: $crate::protocol::Params<M>,
        {
            let options = self.caller_options(options);
            self.run($crate::protocol::internal::PageWalk::<M>::new(options))$($await)*
        }
    };
}
