//! Reads notifications, JSON-RPC batches, and the ids of overlong messages.

use alloc::string::ToString;
use alloc::vec::Vec;
use core::ops::Range;

use super::event::Notification;
use crate::rpc::decode;
use crate::rpc::received::last_id;
use mcpwire_types::json::from_json::FromJson;
use mcpwire_types::json::scan;
use mcpwire_types::{ElicitationComplete, LogMessage, Progress, ResourceUpdated, Task};

pub(super) enum ServerNotification {
    Progress(Progress),
    /// `notifications/cancelled`: the server cancels one of its requests, or ends a subscription.
    Cancelled,
    TaskStatus(Task),
    Other(Notification),
}

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

/// Returns the JSON-RPC id of a response that is too long to receive. `tail` is the end of the message.
///
/// Returns `None` if `tail` does not contain the id. Servers may send the id after the result.
pub(super) fn overlong_end_id(tail: &[u8]) -> Option<u64> {
    last_id(tail)?.number()
}

/// Iterates over the messages of a JSON-RPC batch, which is a JSON array.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// Offset in `bytes` from which to read the next element.
    at: usize,
    /// Whether the batch contained an object so far. A batch without objects is an invalid message.
    pub(super) has_messages: bool,
}

impl Batch {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Batch { bytes, at: 0, has_messages: false }
    }

    /// Returns the position in `bytes` of the next JSON object in the batch, or `None` at the end of the batch. Skips
    /// elements that are not objects.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_an_overlong_response_has_an_id_only_at_the_top() {
        for (tail, id) in [
            (r#"xx"},"id":7}"#, Some(7)),
            (r#"xx"},"jsonrpc":"2.0","id":7}"#, Some(7)),
            (r#"xx"}, "id" : 7 , "jsonrpc":"2.0" } "#, Some(7)),
            (r#""a":1,"id":8}}"#, None),
            (r#"{"a":1,"id":8}]}"#, None),
            (r#"text, \"id\":8}"}"#, None),
        ] {
            assert_eq!(overlong_end_id(tail.as_bytes()), id, "{tail}");
        }
    }
}
