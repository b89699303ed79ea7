//! Reads notifications, JSON-RPC batches, and the ids of overlong messages.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::event::Notification;
use crate::json::from_json::FromJson;
use crate::json::scan;
use crate::rpc::decode;
use crate::rpc::peek::{MessageClass, peek};
use crate::types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

/// A notification of the server.
pub(super) enum ServerNotification {
    Progress(Progress),
    /// `notifications/cancelled`, by which the server cancels its own request or a subscription.
    Cancelled,
    TaskStatus(Task),
    /// A notification that the session reports without handling it first.
    Other(Notification),
}

/// Reads a notification. Returns `None` if the parameters cannot be read.
pub(super) fn read(method: &str, message: &[u8]) -> Option<ServerNotification> {
    let notification = match method {
        "notifications/progress" => return params(message).map(ServerNotification::Progress),
        "notifications/cancelled" => return Some(ServerNotification::Cancelled),
        "notifications/tasks/status" | "notifications/tasks" => {
            return params(message).map(ServerNotification::TaskStatus);
        }
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
    Some(ServerNotification::Other(notification))
}

#[inline(never)]
fn other(method: &str, message: &[u8]) -> Option<Notification> {
    let params = decode::params(message)?.ok();
    Some(Notification::Other { method: method.to_string(), params })
}

fn params<P: FromJson>(message: &[u8]) -> Option<P> {
    decode::params(message)?.ok()
}

/// Returns the id of the request that an overlong message responds to, from the beginning of the message.
pub(super) fn overlong_id(head: &[u8]) -> Option<u64> {
    match peek(head) {
        MessageClass::Response { id } => id.number(),
        _ => None,
    }
}

/// Returns the possible ids of the request that an overlong message responds to, from the end of the message.
pub(super) fn overlong_end_ids(tail: &[u8]) -> impl Iterator<Item = u64> {
    let last = memchr::memrchr(b',', tail);
    let second_last = last.and_then(|last| memchr::memrchr(b',', &tail[..last]).or(Some(last)));
    [second_last, last].into_iter().flatten().filter_map(|from| {
        // The members after the comma may be those after the result. Complete them to a short message.
        let mut message = Vec::from(&b"{\"result\":0"[..]);
        message.extend_from_slice(&tail[from..]);
        overlong_id(&message)
    })
}

/// A JSON-RPC batch, whose messages are read one by one.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// The offset of the next element in `bytes`.
    at: usize,
    /// Whether one of the elements so far was an object.
    pub(super) has_messages: bool,
}

impl Batch {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Batch { bytes, at: 0, has_messages: false }
    }

    /// Returns the range of the next element that is an object.
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
