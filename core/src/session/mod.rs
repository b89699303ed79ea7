//! The protocol's behaviour, on whole messages, without knowing what carries them.
//!
//! | file | what it does |
//! |---|---|
//! | `config` | what the embedder decides: who we are, limits, deadlines |
//! | `handshake` | the opening in both eras: one state table |
//! | `inflight` | which request waits for which answer |
//! | `timers` | which deadline comes next |
//! | `engine` | [`Session`]: takes messages in, gives events and messages out |
//! | `event`, `ticket`, `error` | what comes out of it |

mod config;
mod engine;
mod error;
mod event;
mod handshake;
mod inflight;
mod ticket;
mod timers;

pub use config::{Config, Negotiate, RequestOptions};
pub use engine::{Phase, ServerInfo, Session, Stats};
pub use error::{CallError, Closed, ConnectError, Deadline, SendError};
pub use event::{Event, Message, Notification};
pub use ticket::{Reply, RequestKey, Ticket};
