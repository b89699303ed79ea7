//! The protocol's behaviour, on whole messages, without knowing what carries them.
//!
//! | file | what it does |
//! |---|---|
//! | `config` | what the embedder decides: who we are, limits, deadlines |
//! | `handshake` | the opening in both eras: one state table |
//! | `inflight` | which request waits for which answer |
//! | `timers` | which deadline comes next |
//! | `engine` | [`Session`]: takes requests, gives events and deadlines |
//! | `ends` | what ends them, and the session |
//! | `inbound` | what it does with what the server sends |
//! | `asks` | what the server asks of the client |
//! | `rounds` | requests that take more than one round, as the server wants input first |
//! | `requested` | the same as types, and the rule of what may be asked |
//! | `subscriptions` | what the server tells of changes, for those who asked for it |
//! | `caching` | what is kept of the server's answers |
//! | `tasks` | calls that have become tasks, which it follows |
//! | `carried` | what it is told where each request has a carrier of its own (HTTP) |
//! | `opening` | what it does to open the connection |
//! | `log_level` | from which level on servers send log messages, in both eras |
//! | `prepared` | parameters that are text already |
//! | `event`, `ticket`, `error`, `closed`, `server` | what comes out of it |

mod asks;
mod caching;
#[cfg(feature = "http")]
mod carried;
mod closed;
mod config;
mod ends;
mod engine;
mod error;
mod event;
mod handshake;
mod inbound;
mod inflight;
mod log_level;
mod opening;
mod prepared;
mod requested;
mod rounds;
mod server;
mod subscriptions;
mod task_fault;
mod tasks;
mod ticket;
mod timers;

pub use asks::{Ask, AskKey};
#[cfg(feature = "http")]
pub(crate) use carried::Fault;
pub use closed::{Closed, ConnectError};
pub use config::{Config, Negotiate, RequestOptions, TaskMode};
pub use engine::Session;
pub use error::{CallError, Deadline, InputError, SendError};
pub use event::{Event, Message, Notification};
pub use prepared::{Prepared, PreparedRequest};
pub use requested::AskRequest;
pub use server::{Phase, ServerInfo, Stats};
pub use subscriptions::{Relisten, Reopen, SubscribeOptions, SubscriptionEnd, SubscriptionEvent, SubscriptionKey};
pub use task_fault::TaskFault;
pub use ticket::{Reply, RequestKey, Ticket};
