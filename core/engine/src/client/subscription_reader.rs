//! [`SubscriptionReader`]: reads the events of one subscription.

use crate::session::{
    CallError, Calls, SendError, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionKey,
};
use crate::time::Timestamp;
use mcpwire_types::SubscriptionFilter;

const METHOD: &str = "subscriptions/listen";

/// Reads the events of one subscription, and keeps its acknowledgment and its end.
#[derive(Debug)]
pub struct SubscriptionReader {
    key: SubscriptionKey,
    acknowledged: SubscriptionFilter,
    end: Option<SubscriptionEnd>,
}

/// What a subscription has to read.
#[derive(Debug)]
pub enum SubscriptionPoll {
    /// The next event.
    Event(SubscriptionEvent),
    /// The subscription has ended, and all events were read.
    Ended,
    /// No event has arrived. The session reports [`Event::Subscription`](crate::Event::Subscription) for the next one.
    Pending,
}

impl SubscriptionReader {
    /// Subscribes.
    ///
    /// # Errors
    /// Returns an error and sends nothing in the cases that [`Calls::subscribe`] lists.
    pub fn subscribe(
        wanted: &SubscriptionFilter,
        options: &SubscribeOptions,
        calls: &mut Calls<'_>,
        now: Timestamp,
    ) -> Result<Self, SendError> {
        let key = calls.subscribe(wanted, options, now)?;
        Ok(SubscriptionReader { key, acknowledged: SubscriptionFilter::new(), end: None })
    }

    /// Returns the key of the subscription.
    pub fn key(&self) -> SubscriptionKey {
        self.key
    }

    /// Returns what the server has agreed to report.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Returns how the subscription ended, or `None` if it has not ended or not all events were read.
    pub fn end(&self) -> Option<&SubscriptionEnd> {
        self.end.as_ref()
    }

    /// Reads the next event.
    pub fn poll(&mut self, calls: &mut Calls<'_>) -> SubscriptionPoll {
        if self.end.is_some() {
            return SubscriptionPoll::Ended;
        }
        match calls.poll_subscription(self.key) {
            None => SubscriptionPoll::Pending,
            Some(SubscriptionEvent::Ended(end)) => {
                self.end = Some(end);
                SubscriptionPoll::Ended
            }
            Some(event) => {
                if let SubscriptionEvent::Acknowledged(filter) = &event {
                    self.acknowledged = filter.clone();
                }
                SubscriptionPoll::Event(event)
            }
        }
    }

    /// Returns the error of a subscription that has ended before its acknowledgment.
    ///
    /// Returns `None` if the server has ended it gracefully, because it agreed to report nothing: that is no error.
    pub fn opening_error(&self) -> Option<CallError> {
        match self.end.as_ref()? {
            SubscriptionEnd::Failed(error) => Some((**error).clone()),
            SubscriptionEnd::Dropped(reason) => {
                Some(CallError::Closed { method: METHOD.into(), reason: reason.clone() })
            }
            SubscriptionEnd::ByClient => Some(Self::cancelled()),
            SubscriptionEnd::ByServer => None,
        }
    }

    /// Returns the error of a wait for an event that the program has cancelled.
    pub fn cancelled() -> CallError {
        CallError::Cancelled { method: METHOD.into() }
    }
}
