//! The protocol logic that does not depend on the transport. Input and output are complete messages.
//!
//! A [`Session`] consists of components. A component is a struct with private state. Its methods receive a `Context`,
//! and use only the components below it in this table. No component imports the session.
//!
//! | file | content |
//! |---|---|
//! | `router` | [`Session`]: owns the components, opens and closes the connection |
//! | `parts` | the components borrowed together: forwards messages and deadlines to them |
//! | `calls` | [`Calls`]: the methods with which an embedder sends messages |
//! | `connection` | the state of the connection, with the result of the handshake |
//! | `opening`, `handshake` | open the connection; the state table of the handshake |
//! | `requests` | the table of requests without a response, with their deadlines |
//! | `caller_requests` | the requests of callers, from the call to the reply; uses the next three |
//! | `response_cache` | cached responses |
//! | `input_required` | requests for which the server requires input |
//! | `tasks` | calls that have become tasks |
//! | `server_requests` | requests of the server, and the answers to them |
//! | `subscriptions` | notifications of changes |
//! | `incoming` | reads notifications, JSON-RPC batches and overlong messages |
//! | `context` | the state that all components share |

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
mod tag;
mod tasks;
mod ticket;

pub use calls::Calls;
pub use config::{Config, Negotiate, RequestOptions, TaskMode};
pub use connection::Phase;
#[cfg(feature = "http")]
pub(crate) use error::RequestFault;
#[cfg(feature = "http")]
pub(crate) use error::is_reading;
pub use error::{CallError, CloseReason, ConnectError, Deadline, InputError, SendError, TaskError};
pub use event::{ClientRequest, Event, MessageSummary, Notification, SentRequest, ServerRequest};
pub use prepared::{Prepared, PreparedRequest};
pub use request_keys::{RequestKey, ServerRequestId, SubscriptionKey};
pub use router::Session;
pub use server_info::ServerInfo;
pub use server_request_kind::ServerRequestKind;
pub use stats::Stats;
pub use subscriptions::{ResubscribePolicy, SubscribeOptions, SubscriptionEnd, SubscriptionEvent};
pub use tag::Tag;
pub use ticket::{Reply, Ticket};
