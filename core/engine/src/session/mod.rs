//! The protocol logic that does not depend on the transport. Input and output are complete messages.
//!
//! A [`Session`] consists of parts. A part is a struct with private state. Its methods receive the `Link`, and use only the
//! parts below it in this table. No part imports the session.
//!
//! | file | content |
//! |---|---|
//! | `session` | [`Session`]: owns the parts, opens and closes the connection |
//! | `receive` | passes the messages of the server to the parts |
//! | `over_http` | what only the HTTP transport needs |
//! | `calls` | [`Calls`]: the methods with which an embedder sends messages |
//! | `connection` | the state of the connection, with the result of the handshake, and its opening with the deadlines |
//! | `handshake` | the state table of the handshake |
//! | `subscriptions` | notifications of changes |
//! | `caller_requests` | the requests of callers, from the call to the reply |
//! | `response_cache` | cached responses |
//! | `input_required`, `tasks` | what happens to requests for which the server requires input, and to calls that become tasks |
//! | `waiting` | what callers' requests wait for beside their responses; consists of the next three |
//! | `paused`, `tasks/call` | the requests that wait for input; the calls that wait for a task |
//! | `server_requests` | requests of the server, and the answers to them |
//! | `link` | what all parts work with: the pending requests, the messages to send, the events, the time |
//! | `requests` | the table of requests without a response, with their deadlines |
//! | `outbox` | the messages to send, and what each of them is |

mod caller_requests;
mod calls;
mod config;
mod connection;
mod error;
mod event;
mod handshake;
mod input_required;
mod link;
mod meta;
#[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP takes single messages"))]
mod outbox;
#[cfg(feature = "http")]
mod over_http;
mod paused;
mod prepared;
mod receive;
mod request_options;
mod requests;
mod response_cache;
mod server_request_kind;
mod server_requests;
#[expect(clippy::module_inception, reason = "the type is called like the module")]
mod session;
mod subscriptions;
mod tasks;
mod ticket;
mod waiting;

pub use calls::Calls;
pub use config::{Config, Negotiate};
pub use connection::Phase;
pub use error::{CallError, CloseReason, ConnectError, Deadline, InputError, SendError, TaskError};
#[cfg(feature = "http")]
pub(crate) use error::{RequestFault, is_reading};
pub use event::{ClientRequest, Event, MessageSummary, Notification, SentRequest, ServerRequest};
pub use handshake::ServerInfo;
pub use link::Stats;
pub(crate) use outbox::Outbox;
#[cfg(feature = "http")]
pub(crate) use outbox::{OutgoingKind, OutgoingRequest};
pub use prepared::{Prepared, PreparedRequest};
pub use request_options::{RequestOptions, Tag, TaskMode};
pub use server_request_kind::ServerRequestKind;
pub use session::Session;
pub use subscriptions::{ResubscribePolicy, SubscribeOptions, SubscriptionEnd, SubscriptionEvent};
pub use ticket::{Reply, RequestKey, ServerRequestId, SubscriptionKey, Ticket};
