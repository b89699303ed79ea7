//! What a client wants to be told of, and what the server agrees to.

use mcpwire_core::SubscriptionFilter;
use mcpwire_core::internal::{SubscriptionsAcknowledged, SubscriptionsListenResult};
use proptest::collection::vec;
use proptest::prelude::*;

use super::{complete, extra, meta, text};

pub(crate) fn subscription_filter() -> impl Strategy<Value = SubscriptionFilter> {
    made!(SubscriptionFilter {
        tools_list_changed: any::<bool>(),
        prompts_list_changed: any::<bool>(),
        resources_list_changed: any::<bool>(),
        resource_subscriptions: vec(text(), 0..3),
        task_ids: vec(text(), 0..3),
        extra: extra(),
    })
}

pub(crate) fn subscriptions_acknowledged() -> impl Strategy<Value = SubscriptionsAcknowledged> {
    made!(SubscriptionsAcknowledged { notifications: subscription_filter(), meta: meta(), extra: extra() })
}

pub(crate) fn subscriptions_listen_result() -> impl Strategy<Value = SubscriptionsListenResult> {
    made!(SubscriptionsListenResult { result_type: complete(), meta: meta(), extra: extra() })
}
