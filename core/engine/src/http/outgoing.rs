//! Sorts the messages that the session wrote, and starts the HTTP exchanges that carry them.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::context::Context;
use super::purpose::Purpose;
use super::request::Request;
use super::send_queue::MessageKind;
use crate::rpc::Received;
use crate::rpc::WireId;
use crate::rpc::received::ReceivedKind;
use mcpwire_types::json::scan::member;

/// Maximum length in bytes of a request message of which the engine keeps a copy, to send the request again if
/// necessary: 1 MiB.
///
/// Tool arguments are rarely longer than a few KiB, and requests are rarely sent again.
const MAX_STORED_MESSAGE: usize = 1 << 20;

/// Moves the messages that the session has written to the send queues, and abandons requests whose callers no longer
/// wait.
///
/// Drops a `notifications/cancelled` message if its request was never sent. Drops all of these messages for modern
/// servers (from revision 2026-07-28), because the end of the HTTP exchange cancels the request.
pub(super) fn sort_messages(context: &mut Context) {
    let mut never_sent = BTreeSet::new();
    for id in context.session.take_abandoned() {
        if context.give_up(id) {
            never_sent.insert(id);
        }
    }
    while let Some(message) = context.queue.next_unsorted() {
        match Received::new(&message[..]).kind {
            ReceivedKind::Request { id, method } => {
                let Some(id) = WireId(&message[id]).number() else { continue };
                if context.session.waits_for(id) {
                    let method = method.of(&message).into_owned().into_boxed_str();
                    let is_repeatable = context.session.is_repeatable(id);
                    context.queue.add_request(Request::new(id, method, message, is_repeatable));
                } else {
                    never_sent.insert(id);
                }
            }
            ReceivedKind::Notification { method } => {
                let method = method.of(&message).into_owned();
                if method == "notifications/cancelled"
                    && let Some(id) = cancelled_request(&message)
                {
                    let was_sent = !context.give_up(id) && !never_sent.contains(&id);
                    if context.endpoint.is_modern() || !was_sent {
                        continue;
                    }
                }
                context.queue.add_notification(method, message);
            }
            _ => context.queue.add_answer(&message),
        }
    }
}

/// Starts the HTTP exchange that sends `request`.
pub(super) fn post_request(mut request: Request, context: &mut Context) {
    let Some(message) = request.message.take() else { return };
    if request.was_resent {
        context.session.report_retry(request.id);
    }
    let mut head = context.endpoint.post(&context.settings, &request.method, &message);
    let params = request.header_params.iter();
    head.headers.extend(params.map(|(name, value)| (Cow::Owned(name.clone()), value.clone())));
    let is_modern_call = context.endpoint.is_modern() && request.is_tool_call();
    let may_be_resent = is_modern_call || context.endpoint.has_session_id();
    if request.is_initialize() || (may_be_resent && message.len() <= MAX_STORED_MESSAGE) {
        request.message = Some(message.clone());
    }
    let is_http_sse = context.endpoint.is_http_sse();
    let purpose = if is_http_sse { Purpose::RequestOverSse(request) } else { Purpose::Request(request) };
    context.start(purpose, head, message);
}

/// Starts the HTTP exchange that sends a notification or an answer to a server request.
pub(super) fn post_message(kind: MessageKind, message: Vec<u8>, context: &mut Context) {
    let head = context.endpoint.post(&context.settings, kind.method(), &message);
    let id = context.start(Purpose::Message(kind), head, message);
    let deadline = context.now + context.session.config().request_timeout;
    context.exchanges.set_message_deadline(id, deadline);
}

/// Sends a `GET` request for each broken event stream whose delay is over, so that the server resumes the stream.
pub(super) fn resume_streams(context: &mut Context) {
    while let Some(request) = context.broken_streams.next_due(context.now) {
        if context.session.waits_for(request.id) {
            context.session.report_retry(request.id);
            let head = context.endpoint.get(&context.settings, request.resume.last_event_id());
            context.start(Purpose::Request(request), head, Vec::new());
        }
    }
}

/// Returns the JSON-RPC id of the request that a `notifications/cancelled` message cancels, or `None` if the id is
/// invalid.
fn cancelled_request(message: &[u8]) -> Option<u64> {
    WireId(member(member(message, "params")?, "requestId")?).number()
}
