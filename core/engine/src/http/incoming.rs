//! Passes received messages to the session.

use alloc::vec::Vec;

use super::command::ExchangeId;
use super::context::Context;
use super::outgoing::sort_messages;
use super::purpose::Purpose;
use super::response::StreamItem;
use crate::rpc::{PeerError, Received};
use crate::session::RequestFault;

/// Passes a message from the server to the session. `from` is the exchange in which the message arrived.
pub(super) fn receive(from: ExchangeId, message: Received<Vec<u8>>, context: &mut Context) {
    limit_answers(context);
    context.session.receive(message);
    context.inbox.push_front(StreamItem::MessageHandled { from });
}

/// Tells the session how many bytes of answers to server requests it may write now.
///
/// This is [`Settings::max_queued_answers`](super::Settings::max_queued_answers) minus the size of the answers that
/// wait to be sent.
pub(super) fn limit_answers(context: &mut Context) {
    sort_messages(context);
    let room = context.settings.max_queued_answers.saturating_sub(context.queue.answer_bytes());
    context.session.outbox_mut().limit_answers(room);
}

/// Handles a message that exceeds the size limit. `head` is the beginning of the message.
///
/// The JSON-RPC request to which the message responds fails. If `head` does not show which request that is, the request
/// of the HTTP exchange fails, if there is one.
pub(super) fn receive_overlong(from: ExchangeId, head: &[u8], context: &mut Context) {
    let Some(exchange) = context.exchanges.get(from) else { return };
    let (is_body, request) = (exchange.response.is_ignored(), exchange.purpose.request());
    let head = Received::new(head);
    match request {
        Some(id) if is_body || head.response().is_none() => {
            let limit = context.session.config().max_message;
            context.fail(id, RequestFault::Invalid(PeerError::too_long(limit, head.message)));
            if is_body {
                context.abort(from);
            }
        }
        _ => context.session.receive_overlong(&head),
    }
}

/// If no caller waits for a response on the event stream of the exchange `from` any more, schedules the abort of that
/// exchange.
pub(super) fn close_if_answered(from: ExchangeId, context: &mut Context) {
    let Some(exchange) = context.exchanges.get(from) else { return };
    let Purpose::Request(request) = &exchange.purpose else { return };
    if exchange.response.is_event_stream() && !context.session.waits_for(request.id) {
        context.exchanges.close_later(from, context.now());
    }
}
