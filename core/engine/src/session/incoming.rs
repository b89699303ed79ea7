//! Reads what the server sends without expecting an answer, and takes arrays of messages apart.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::event::Notification;
use crate::json::from_json::FromJson;
use crate::json::scan;
use crate::rpc::decode;
use crate::types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

/// A notification of the server, read.
pub(super) enum Incoming {
    /// Progress of a request.
    Progress(Progress),
    /// The server cancels a request of its own, or a subscription.
    Cancelled,
    /// The status of a task.
    TaskStatus(Task),
    /// Everything else, as it is reported.
    Other(Notification),
}

/// Reads a notification. Returns `None` if its parameters cannot be read.
pub(super) fn read(method: &str, message: &[u8]) -> Option<Incoming> {
    let notification = match method {
        "notifications/progress" => return params(message).map(Incoming::Progress),
        "notifications/cancelled" => return Some(Incoming::Cancelled),
        "notifications/tasks/status" | "notifications/tasks" => return params(message).map(Incoming::TaskStatus),
        "notifications/message" => Notification::Log(params::<LogMessage>(message)?),
        "notifications/tools/list_changed" => Notification::ToolsChanged,
        "notifications/prompts/list_changed" => Notification::PromptsChanged,
        "notifications/resources/list_changed" => Notification::ResourcesChanged,
        "notifications/elicitation/complete" => {
            Notification::ElicitationComplete(params::<ElicitationComplete>(message)?)
        }
        "notifications/resources/updated" => match params::<ResourceUpdated>(message) {
            Some(updated) => Notification::ResourceUpdated(updated),
            None => other(method, message)?,
        },
        _ => other(method, message)?,
    };
    Some(Incoming::Other(notification))
}

#[inline(never)]
fn other(method: &str, message: &[u8]) -> Option<Notification> {
    let params = decode::params(message)?.ok();
    Some(Notification::Other { method: method.to_string(), params })
}

fn params<P: FromJson>(message: &[u8]) -> Option<P> {
    decode::params(message)?.ok()
}

/// An array of messages that is taken apart as its events are polled.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    at: usize,
    /// Whether one of the elements was an object.
    pub(super) has_messages: bool,
}

impl Batch {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Batch { bytes, at: 0, has_messages: false }
    }

    /// Returns the place of the next element that is an object.
    pub(super) fn next_message(&mut self) -> Option<Range<usize>> {
        while let Some(element) = scan::next_element(&self.bytes, &mut self.at) {
            if self.bytes[element.clone()].first() == Some(&b'{') {
                self.has_messages = true;
                return Some(element);
            }
        }
        None
    }
}
