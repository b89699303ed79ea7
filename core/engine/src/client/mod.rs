//! State machines that every client needs: one request, all pages of a list, the list of tools, a tool call, and others.
//!
//! Each implements [`Operation`], and sends its requests through [`Calls`](crate::Calls). Each
//! [`poll`](Operation::poll) returns what its adapter has to do next: wait for a reply, read the bytes that have arrived, or use the result. A blocking adapter
//! polls in a loop. An async adapter polls under its lock. It releases the lock before it passes a reply to the state
//! machine, which decodes the reply.
//!
//! | file | content |
//! |---|---|
//! | `operation` | [`Operation`]: the interface of the state machines. [`Step`]: what the adapter has to do next |
//! | `client_state` | [`ClientState`]: what a client remembers between operations. [`OpeningOutcome`]: how the opening ended |
//! | `single_request` | [`SingleRequest`], [`PingServer`], [`SetLogLevel`]: one request |
//! | `subscription_reader` | [`SubscriptionReader`]: reads the events of a subscription |
//! | `pages` | [`PageWalk`]: requests all pages of a list. [`ToolListing`]: requests the list of tools, and stores it |
//! | `tool_list` | [`ToolList`]: the tools of a server, and whether the list is fresh |
//! | `known_tools` | [`KnownTools`]: the stored list, and the tools that searches have found. [`ToolSearch`]: such a search |
//! | `tool_call` | [`ToolCall`]: calls a tool, and searches for the tool first if necessary |

mod client_state;
mod known_tools;
mod operation;
mod pages;
mod single_request;
mod subscription_reader;
mod tool_call;
mod tool_list;

pub use client_state::{ClientState, OpeningOutcome};
pub use known_tools::{KnownTools, SearchProgress, ToolSearch};
pub use operation::{Operation, RequestError, Step};
pub use pages::{PageWalk, ToolListing};
pub use single_request::{PingServer, SetLogLevel, SingleRequest, send_complete};
pub use subscription_reader::{SubscriptionPoll, SubscriptionReader};
pub use tool_call::ToolCall;
pub use tool_list::{CacheHints, ToolList};
