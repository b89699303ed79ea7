//! Subscriptions: the changes of which a client asks to be notified (2026-07-28, basic/patterns/subscriptions).

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::object::object;
use crate::json::Json;

object! {
    /// The changes of which a client asks to be notified, or of which the server agrees to notify it (`SubscriptionFilter`).
    ///
    /// ```
    /// use mcpwire_core::SubscriptionFilter;
    ///
    /// let filter = SubscriptionFilter::new().tools().resource("file:///project/config.json");
    /// assert!(filter.tools_list_changed && !filter.prompts_list_changed);
    /// ```
    pub struct SubscriptionFilter("an object") {
        /// Changes of the list of tools.
        or_default tools_list_changed: bool = "toolsListChanged",
        /// Changes of the list of prompts.
        or_default prompts_list_changed: bool = "promptsListChanged",
        /// Changes of the list of resources.
        or_default resources_list_changed: bool = "resourcesListChanged",
        /// URIs of resources: changes of each resource, and of the resources within it.
        or_default resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// Ids of tasks: changes of their status (extension `io.modelcontextprotocol/tasks`, "Task Status Notifications"). They come
        /// as [`Notification::TaskStatus`](crate::Notification::TaskStatus).
        or_default task_ids: Vec<String> = "taskIds",
    }
}

impl SubscriptionFilter {
    /// A filter without any changes.
    pub fn new() -> Self {
        SubscriptionFilter::default()
    }

    /// Adds changes of the list of tools.
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// Adds changes of the list of prompts.
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// Adds changes of the list of resources.
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// Adds changes of the resource with this URI.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }

    /// Adds changes of the status of the task with this id.
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.push(id.into());
        self
    }

    /// Returns whether the filter has no changes.
    pub fn is_empty(&self) -> bool {
        !self.has_lists() && self.resource_subscriptions.is_empty() && self.task_ids.is_empty()
    }

    /// Returns whether the filter has changes of a list.
    pub(crate) fn has_lists(&self) -> bool {
        self.tools_list_changed || self.prompts_list_changed || self.resources_list_changed
    }
}

/// Parameters of `subscriptions/listen` (`SubscriptionsListenRequestParams`).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SubscriptionsListenParams<'a> {
    /// The changes to be notified of.
    pub notifications: &'a SubscriptionFilter,
}

object! {
    /// Result of `subscriptions/listen`, which ends the subscription (2026-07-28, basic/patterns/subscriptions, "Graceful
    /// Closure").
    pub struct SubscriptionsListenResult("an object") {
        /// The type of the result: `complete`.
        optional result_type: String = "resultType",
        /// Metadata: the id of the subscription.
        optional meta: Json = "_meta",
    }
}

object! {
    /// Parameters of `notifications/subscriptions/acknowledged`: the changes of which the server agrees to notify the client
    /// (2026-07-28, basic/patterns/subscriptions, "Acknowledgment").
    pub struct SubscriptionsAcknowledged("an object") {
        /// The changes that the client will be notified of, a part of those that it asked for.
        always notifications: SubscriptionFilter = "notifications",
        /// Metadata: the id of the subscription.
        optional meta: Json = "_meta",
    }
}
