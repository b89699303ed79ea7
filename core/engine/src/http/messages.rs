//! Moves messages from the session to HTTP exchanges, and from exchanges to the session.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;

use super::command::ExchangeId;
use super::request::{Purpose, Request};
use super::response::StreamItem;
use super::transport::Transport;
use crate::rpc::{Received, peer_error};
use crate::session::{OutgoingKind, RequestFault};

/// Maximum length in bytes of a request message of which the engine keeps a copy, to send the request again if
/// necessary: 1 MiB.
///
/// Tool arguments are rarely longer than a few KiB, and requests are rarely sent again.
const MAX_STORED_MESSAGE: usize = 1 << 20;

/// Moves the messages of the session to the send queues, and abandons requests whose callers no longer wait.
///
/// Drops a `notifications/cancelled` message if its request was never sent. Drops all of these messages for modern
/// servers (from revision 2026-07-28), because the end of the HTTP exchange cancels the request.
pub(super) fn sort_messages(transport: &mut Transport) {
    let mut never_sent = BTreeSet::new();
    while let Some(next) = transport.session.outbox_mut().next() {
        match next.kind {
            OutgoingKind::Request(request) => {
                if transport.session.waits_for(request.id) {
                    transport.queue.add_request(Request::new(request, next.message));
                } else {
                    never_sent.insert(request.id);
                }
            }
            OutgoingKind::Abandoned(id) | OutgoingKind::Cancelled(id) => {
                if transport.give_up(id) {
                    never_sent.insert(id);
                }
                let has_message = matches!(next.kind, OutgoingKind::Cancelled(_)) && !transport.endpoint.is_modern();
                if has_message && !never_sent.contains(&id) {
                    transport.queue.add_notification("notifications/cancelled".into(), next.message);
                }
            }
            OutgoingKind::Notification(method) => transport.queue.add_notification(method, next.message),
            OutgoingKind::Answer => transport.queue.add_answer(&next.message),
        }
    }
}

/// Starts the HTTP exchange that sends `request`.
pub(super) fn post_request(mut request: Request, transport: &mut Transport) {
    if request.message.is_none() {
        return;
    }
    if request.was_resent {
        transport.session.report_retry(request.id);
    }
    let mut head = transport.endpoint.post_request(&transport.settings, &request);
    head.headers.extend(request.header_params.iter().cloned());
    let message = request.message.take().unwrap_or_default();
    let is_modern_call = transport.endpoint.is_modern() && request.is_tool_call();
    let may_be_resent = is_modern_call || transport.endpoint.session_id.is_some();
    if request.is_initialize() || (may_be_resent && message.len() <= MAX_STORED_MESSAGE) {
        request.message = Some(message.clone());
    }
    let is_http_sse = transport.endpoint.is_http_sse();
    let purpose = if is_http_sse { Purpose::RequestOverSse(request) } else { Purpose::Request(request) };
    transport.exchanges.start(purpose, head, message);
}

/// Starts the HTTP exchange that sends a notification with this method, or an answer to a server request, which has no
/// method.
pub(super) fn post_message(method: Option<String>, message: Vec<u8>, transport: &mut Transport) {
    let id = transport.post(Purpose::Message(method), message);
    let deadline = transport.now() + transport.session.config().request_timeout;
    transport.exchanges.set_message_deadline(id, deadline);
}

/// Sends a `GET` request for each broken event stream whose delay is over, so that the server resumes the stream.
pub(super) fn resume_streams(transport: &mut Transport) {
    let now = transport.now();
    let is_due = |request: &Request| request.resume.reopened_at.is_some_and(|at| at <= now);
    while let Some(at) = transport.broken_streams.iter().position(is_due) {
        let request = transport.broken_streams.swap_remove(at);
        if transport.session.waits_for(request.id) {
            transport.session.report_retry(request.id);
            let head = transport.endpoint.get(&transport.settings, request.resume.last_event_id());
            transport.exchanges.start(Purpose::Request(request), head, Vec::new());
        }
    }
}

/// Passes a message from the server to the session. `from` is the exchange in which the message arrived.
pub(super) fn receive(from: ExchangeId, message: Received<Vec<u8>>, transport: &mut Transport) {
    limit_answers(transport);
    transport.session.receive(message);
    transport.inbox.push_front((from, StreamItem::MessageHandled));
}

/// Tells the session how many bytes of answers to server requests it may write now.
///
/// This is [`Settings::max_queued_answers`](super::Settings::max_queued_answers) minus the size of the answers that
/// wait to be sent.
pub(super) fn limit_answers(transport: &mut Transport) {
    sort_messages(transport);
    let room = transport.settings.max_queued_answers.saturating_sub(transport.queue.answer_bytes());
    transport.session.outbox_mut().limit_answers(room);
}

/// Handles a message that exceeds the size limit. `head` is the beginning of the message.
///
/// The JSON-RPC request to which the message responds fails. If `head` shows neither which request that is nor that the
/// message is not a response, the request of the HTTP exchange fails, if there is one.
pub(super) fn receive_overlong(from: ExchangeId, head: &[u8], transport: &mut Transport) {
    let Some(exchange) = transport.exchanges.get(from) else { return };
    let (is_body, request) = (exchange.response.is_ignored(), exchange.purpose.request());
    let head = Received::new(head);
    match request {
        Some(id) if is_body || (head.response().is_none() && !head.has_method()) => {
            let limit = transport.session.config().max_message;
            transport.session.fail(id, RequestFault::Invalid(peer_error::too_long(limit, head.message)));
            if is_body {
                transport.abort(from);
            }
        }
        _ => transport.session.receive_overlong(&head),
    }
}

/// If no caller waits for a response on the event stream of the exchange `from` any more, schedules the abort of that
/// exchange.
pub(super) fn close_if_answered(from: ExchangeId, transport: &mut Transport) {
    let Some(exchange) = transport.exchanges.get(from) else { return };
    let Purpose::Request(request) = &exchange.purpose else { return };
    if exchange.response.is_event_stream() && !transport.session.waits_for(request.id) {
        transport.exchanges.close_later(from, transport.now());
    }
}
