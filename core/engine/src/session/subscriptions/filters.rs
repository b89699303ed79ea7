//! The intersection of subscription filters.

use alloc::string::String;
use alloc::vec::Vec;

use crate::types::SubscriptionFilter;

/// Returns a filter with the changes, resources and tasks that both filters contain, in the order of `wanted`.
pub(super) fn intersection(wanted: &SubscriptionFilter, granted: &SubscriptionFilter) -> SubscriptionFilter {
    SubscriptionFilter {
        resource_subscriptions: in_both(&wanted.resource_subscriptions, &granted.resource_subscriptions),
        task_ids: in_both(&wanted.task_ids, &granted.task_ids),
        ..lists_in_both(wanted, granted)
    }
}

/// Returns a filter with the list changes (tools, prompts, resources) that both filters contain. Other members are
/// empty.
pub(super) fn lists_in_both(one: &SubscriptionFilter, other: &SubscriptionFilter) -> SubscriptionFilter {
    SubscriptionFilter {
        tools_list_changed: one.tools_list_changed && other.tools_list_changed,
        prompts_list_changed: one.prompts_list_changed && other.prompts_list_changed,
        resources_list_changed: one.resources_list_changed && other.resources_list_changed,
        ..SubscriptionFilter::default()
    }
}

fn in_both(one: &[String], other: &[String]) -> Vec<String> {
    one.iter().filter(|entry| other.contains(entry)).cloned().collect()
}
