//! Sorts the messages of the session, and starts the HTTP exchanges that carry them.

use alloc::borrow::Cow;
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

use super::context::Context;
use super::purpose::Purpose;
use super::request::Request;
use super::send_queue::PostedMessage;
use crate::session::OutgoingKind;

/// Maximum length in bytes of a request message of which the engine keeps a copy, to send the request again if
/// necessary: 1 MiB.
///
/// Tool arguments are rarely longer than a few KiB, and requests are rarely sent again.
const MAX_STORED_MESSAGE: usize = 1 << 20;

/// Moves the messages of the session to the send queues, and abandons requests whose callers no longer wait.
///
/// Drops a `notifications/cancelled` message if its request was never sent. Drops all of these messages for modern
/// servers (from revision 2026-07-28), because the end of the HTTP exchange cancels the request.
pub(super) fn sort_messages(context: &mut Context) {
    let mut never_sent = BTreeSet::new();
    while let Some(next) = context.session.outbox_mut().next() {
        match next.kind {
            OutgoingKind::Request(request) => {
                if context.session.waits_for(request.id) {
                    context.queue.add_request(Request::new(request, next.message));
                } else {
                    never_sent.insert(request.id);
                }
            }
            OutgoingKind::Abandoned(id) => {
                if context.give_up(id) {
                    never_sent.insert(id);
                }
            }
            OutgoingKind::Cancelled(id) => {
                if context.give_up(id) {
                    never_sent.insert(id);
                }
                if !context.endpoint.is_modern() && !never_sent.contains(&id) {
                    context.queue.add_notification("notifications/cancelled".into(), next.message);
                }
            }
            OutgoingKind::Notification(method) => context.queue.add_notification(method, next.message),
            OutgoingKind::Answer => context.queue.add_answer(&next.message),
        }
    }
}

/// Starts the HTTP exchange that sends `request`.
pub(super) fn post_request(mut request: Request, context: &mut Context) {
    if request.message.is_none() {
        return;
    }
    if request.was_resent {
        context.session.report_retry(request.id);
    }
    let mut head = context.endpoint.post_request(&context.settings, &request);
    let params = request.header_params.iter();
    head.headers.extend(params.map(|(name, value)| (Cow::Owned(name.clone()), value.clone())));
    let message = request.message.take().unwrap_or_default();
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
pub(super) fn post_message(posted: PostedMessage, message: Vec<u8>, context: &mut Context) {
    let id = context.post(Purpose::Message(posted), message);
    let deadline = context.now() + context.session.config().request_timeout;
    context.exchanges.set_message_deadline(id, deadline);
}

/// Sends a `GET` request for each broken event stream whose delay is over, so that the server resumes the stream.
pub(super) fn resume_streams(context: &mut Context) {
    while let Some(request) = context.broken_streams.next_due(context.now()) {
        if context.session.waits_for(request.id) {
            context.session.report_retry(request.id);
            let head = context.endpoint.get(&context.settings, request.resume.last_event_id());
            context.start(Purpose::Request(request), head, Vec::new());
        }
    }
}
