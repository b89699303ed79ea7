//! Subscriptions: a client requests notifications about changes. Specification: basic/patterns/subscriptions.

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use mcpwire_text::json::Json;
use mcpwire_text::object;
use mcpwire_text::result;

object! {
    /// The change notifications that a client requests with `subscriptions/listen`, or that the server agrees to send
    /// (`SubscriptionFilter`).
    ///
    /// ```
    /// # mod mcpwire { pub mod types { pub use mcpwire_types::SubscriptionFilter; } }
    /// use mcpwire::types::SubscriptionFilter;
    ///
    /// let filter = SubscriptionFilter::new().tools().resource("file:///project/config.json");
    /// assert!(filter.tools_list_changed && !filter.prompts_list_changed);
    /// ```
    pub struct SubscriptionFilter("an object") {
        /// Whether the server should report changes of its list of tools.
        or_default tools_list_changed: bool = "toolsListChanged",
        /// Whether the server should report changes of its list of prompts.
        or_default prompts_list_changed: bool = "promptsListChanged",
        /// Whether the server should report changes of its list of resources.
        or_default resources_list_changed: bool = "resourcesListChanged",
        /// URIs of the resources whose changes the server should report. The server also reports changes of their
        /// sub-resources.
        or_default resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// Ids of the tasks whose status changes the server should report (tasks extension).
        ///
        /// The session passes each report to the application as
        /// `Notification::TaskStatus`. Specification: extension
        /// `io.modelcontextprotocol/tasks`, "Task Status Notifications".
        or_default task_ids: Vec<String> = "taskIds",
    }
}

impl SubscriptionFilter {
    /// Creates an empty filter, which requests no notifications.
    pub fn new() -> Self {
        SubscriptionFilter::default()
    }

    /// Adds notifications about changes of the server's list of tools to the filter.
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// Adds notifications about changes of the server's list of prompts to the filter.
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Adds notifications about changes of the server's list of resources to the filter.
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// Adds notifications about changes of the resource with this URI to the filter. A filter can contain several
    /// resources.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }

    /// Adds notifications about status changes of the task with this id to the filter. A filter can contain several
    /// tasks.
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.push(id.into());
        self
    }

    /// Returns whether the filter requests no notifications at all.
    pub fn is_empty(&self) -> bool {
        let lists = self.tools_list_changed || self.prompts_list_changed || self.resources_list_changed;
        !lists && self.resource_subscriptions.is_empty() && self.task_ids.is_empty()
    }
}

/// Parameters of `subscriptions/listen`, which opens a subscription to change notifications.
#[derive(Clone, Copy, Debug, Serialize)]
#[doc(alias("subscriptions/listen", "SubscriptionsListenRequest", "SubscriptionsListenRequestParams"))]
pub struct SubscriptionsListenParams<'a> {
    /// The notifications that the server should send.
    pub notifications: &'a SubscriptionFilter,
}

result! {
    /// Result of `subscriptions/listen`, which the server sends when it ends the subscription.
    ///
    /// Specification: basic/patterns/subscriptions, "Graceful Closure".
    #[doc(alias("subscriptions/listen", "SubscriptionsListenResultResponse"))]
    pub struct SubscriptionsListenResult {}
}

object! {
    /// Parameters of `notifications/subscriptions/acknowledged`: the notifications that the server agrees to send for a
    /// subscription.
    ///
    /// Specification: basic/patterns/subscriptions, "Acknowledgment".
    #[doc(alias = "notifications/subscriptions/acknowledged")]
    #[doc(alias("SubscriptionsAcknowledgedNotification", "SubscriptionsAcknowledgedNotificationParams"))]
    pub struct SubscriptionsAcknowledged("an object") {
        /// The notifications that the server agrees to send: a subset of those that the client requested.
        always notifications: SubscriptionFilter = "notifications",
        /// Additional metadata of the notification (`_meta`). It contains the id of the subscription.
        optional meta: Json = "_meta",
    }
}
