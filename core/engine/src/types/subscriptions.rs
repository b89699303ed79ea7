//! Subscriptions: what a client wants to be told of, and what the server agrees to (2026-07-28, basic/patterns/subscriptions).

use alloc::string::String;
use alloc::vec::Vec;

use serde::Serialize;

use super::object::object;
use crate::json::Json;

object! {
    /// The kinds of change that a client wants to be told of, or that a server agreed to tell (`SubscriptionFilter`).
    ///
    /// ```
    /// use mcpwire_core::SubscriptionFilter;
    ///
    /// let filter = SubscriptionFilter::new().tools().resource("file:///project/config.json");
    /// assert!(filter.tools_list_changed && !filter.prompts_list_changed);
    /// ```
    pub struct SubscriptionFilter("an object") {
        /// That the list of tools has changed.
        or_default tools_list_changed: bool = "toolsListChanged",
        /// That the list of prompts has changed.
        or_default prompts_list_changed: bool = "promptsListChanged",
        /// That the list of resources has changed.
        or_default resources_list_changed: bool = "resourcesListChanged",
        /// That one of these resources has changed, or one that lies within it: their addresses.
        or_default resource_subscriptions: Vec<String> = "resourceSubscriptions",
        /// How these tasks stand: their ids (extension `io.modelcontextprotocol/tasks`, "Task Status Notifications"). It is told
        /// as [`Notification::TaskStatus`](crate::Notification::TaskStatus), besides being asked for.
        or_default task_ids: Vec<String> = "taskIds",
    }
}

impl SubscriptionFilter {
    /// Nothing at all.
    pub fn new() -> Self {
        SubscriptionFilter::default()
    }

    /// And changes of the list of tools.
    pub fn tools(mut self) -> Self {
        self.tools_list_changed = true;
        self
    }

    /// And changes of the list of prompts.
    pub fn prompts(mut self) -> Self {
        self.prompts_list_changed = true;
        self
    }

    /// And changes of the list of resources.
    pub fn resources(mut self) -> Self {
        self.resources_list_changed = true;
        self
    }

    /// And changes of this resource.
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resource_subscriptions.push(uri.into());
        self
    }

    /// And how this task stands.
    pub fn task(mut self, id: impl Into<String>) -> Self {
        self.task_ids.push(id.into());
        self
    }

    /// Whether nothing is wanted.
    pub fn is_empty(&self) -> bool {
        !self.has_lists() && self.resource_subscriptions.is_empty() && self.task_ids.is_empty()
    }

    /// Whether changes of a list are wanted.
    pub(crate) fn has_lists(&self) -> bool {
        self.tools_list_changed || self.prompts_list_changed || self.resources_list_changed
    }
}

/// Parameters of `subscriptions/listen` (`SubscriptionsListenRequestParams`).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SubscriptionsListenParams<'a> {
    /// What is wanted.
    pub notifications: &'a SubscriptionFilter,
}

object! {
    /// The end of a subscription, as the server's answer to `subscriptions/listen` says it (2026-07-28,
    /// basic/patterns/subscriptions, "Graceful Closure").
    pub struct SubscriptionsListenResult("an object") {
        /// `complete`.
        optional result_type: String = "resultType",
        /// Metadata: the id of the subscription.
        optional meta: Json = "_meta",
    }
}

object! {
    /// What the server agreed to: what `notifications/subscriptions/acknowledged` carries (2026-07-28,
    /// basic/patterns/subscriptions, "Acknowledgment").
    pub struct SubscriptionsAcknowledged("an object") {
        /// The part of what was wanted that will be told.
        or_blank notifications: SubscriptionFilter = "notifications",
        /// Metadata: the id of the subscription.
        optional meta: Json = "_meta",
    }
}
