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
//! | `client_state` | [`ClientState`]: what a client remembers between operations |
//! | `single_request` | [`SingleRequest`], [`PingServer`], [`SetLogLevel`]: one request |
//! | `opening` | [`OpeningOutcome`]: how the opening of a connection ended |
//! | `subscription_reader` | [`SubscriptionReader`]: reads the events of a subscription |
//! | `page_walk`, `pages` | [`PageWalk`]: requests all pages of a list |
//! | `tool_list` | [`ToolList`]: the tools of a server, and whether the list is fresh |
//! | `tool_listing` | [`ToolListing`]: requests the list of tools, and stores it |
//! | `known_tools` | [`KnownTools`]: the stored list, and the tools that searches have found |
//! | `tool_search` | [`ToolSearch`]: searches the server's list for one tool, without storing the list |
//! | `tool_call` | [`ToolCall`]: calls a tool, and searches for the tool first if necessary |

mod client_state;
mod known_tools;
mod opening;
mod operation;
mod page_walk;
mod pages;
mod single_request;
mod subscription_reader;
mod tool_call;
mod tool_list;
mod tool_listing;
mod tool_search;

pub use client_state::ClientState;
pub use known_tools::KnownTools;
pub use opening::OpeningOutcome;
pub use operation::{Operation, RequestError, Step};
pub use page_walk::PageWalk;
pub use single_request::{PingServer, SetLogLevel, SingleRequest, send_complete};
pub use subscription_reader::{SubscriptionPoll, SubscriptionReader};
pub use tool_call::ToolCall;
pub use tool_list::{CacheHints, ToolList};
pub use tool_listing::ToolListing;
pub use tool_search::{SearchProgress, ToolSearch};
