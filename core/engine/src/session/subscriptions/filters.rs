//! The intersection of subscription filters.

use alloc::string::String;
use alloc::vec::Vec;

use mcpwire_types::SubscriptionFilter;

/// Returns a filter with the changes, resources and tasks that both filters contain. Its resources and tasks are in the
/// order of `wanted`.
pub(super) fn intersection(wanted: &SubscriptionFilter, granted: &SubscriptionFilter) -> SubscriptionFilter {
    let mut both = lists_in_both(wanted, granted);
    both.resource_subscriptions = in_both(&wanted.resource_subscriptions, &granted.resource_subscriptions);
    both.task_ids = in_both(&wanted.task_ids, &granted.task_ids);
    both
}

/// Returns a filter that contains only list changes (of tools, prompts and resources): those that both filters contain.
pub(super) fn lists_in_both(one: &SubscriptionFilter, other: &SubscriptionFilter) -> SubscriptionFilter {
    let mut both = SubscriptionFilter::default();
    both.tools_list_changed = one.tools_list_changed && other.tools_list_changed;
    both.prompts_list_changed = one.prompts_list_changed && other.prompts_list_changed;
    both.resources_list_changed = one.resources_list_changed && other.resources_list_changed;
    both
}

fn in_both(one: &[String], other: &[String]) -> Vec<String> {
    one.iter().filter(|entry| other.contains(entry)).cloned().collect()
}
