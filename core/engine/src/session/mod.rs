//! The protocol on whole messages, whatever transport carries them.
//!
//! A [`Session`] consists of parts. A part is a struct with private state. It works with a `Context` and with the parts below
//! it, and never imports the session.
//!
//! | file | content |
//! |---|---|
//! | `router` | [`Session`]: owns the parts, opens and closes the connection |
//! | `parts` | the parts borrowed together: routes messages and deadlines to them |
//! | `calls` | [`Calls`]: everything that an embedder asks of a connection |
//! | `connection` | the state of the connection, and what was negotiated |
//! | `opening`, `handshake` | open the connection; the state table of both eras |
//! | `requests` | the table of requests without a response, with their deadlines |
//! | `caller_requests` | the life of a caller's request, from the call to the reply; uses the next three |
//! | `response_cache` | cached responses |
//! | `input_required` | requests for which the server needs input |
//! | `tasks` | calls that have become tasks |
//! | `server_requests` | requests of the server, and their answers |
//! | `subscriptions` | notifications of changes |
//! | `incoming` | reads notifications, JSON-RPC batches and overlong messages |
//! | `context` | what all parts share |

mod answered_methods;
mod caller_requests;
mod calls;
mod config;
mod connection;
mod context;
mod error;
mod event;
mod handshake;
mod incoming;
mod input_required;
mod json_objects;
mod opening;
mod parts;
mod prepared;
mod protocol_fields;
mod request_keys;
mod requests;
mod response_cache;
mod retry_params;
mod router;
mod server_info;
mod server_request_kind;
mod server_requests;
mod stats;
mod subscriptions;
mod tasks;
mod ticket;

pub use calls::Calls;
pub use config::{Config, Negotiate, RequestOptions, TaskMode};
pub use connection::Phase;
#[cfg(feature = "http")]
pub(crate) use error::RequestFault;
pub use error::{CallError, CloseReason, ConnectError, Deadline, InputError, SendError, TaskError};
pub(crate) use event::Message;
pub use event::{Event, Notification, ServerRequest};
pub use prepared::{Prepared, PreparedRequest};
pub use request_keys::{RequestKey, ServerRequestId, SubscriptionKey};
pub use router::Session;
pub use server_info::ServerInfo;
pub use server_request_kind::ServerRequestKind;
pub use stats::Stats;
pub use subscriptions::{ResubscribePolicy, SubscribeOptions, SubscriptionEnd, SubscriptionEvent};
pub use ticket::{Reply, Ticket};
