//! State machines that every client needs: they request all pages of a list, list the tools, and call a tool.
//!
//! A state machine sends its requests through [`Calls`](crate::Calls). Each [`poll`](ToolCall::poll) returns what its
//! adapter has to do next: wait for a reply, read the bytes that have arrived, or use the result. A blocking adapter
//! polls in a loop. An async adapter polls under its lock. It releases the lock before it passes a reply to the state
//! machine, which decodes the reply.
//!
//! | file | content |
//! |---|---|
//! | `step` | [`Step`]: what the adapter has to do next |
//! | `page_walk`, `pages` | [`PageWalk`]: requests all pages of a list |
//! | `tool_list` | [`ToolList`]: the tools of a server, and whether the list is fresh |
//! | `tool_listing` | [`ToolListing`]: requests the list of tools, and stores it |
//! | `known_tools` | [`KnownTools`]: the stored list, and the tools that searches have found |
//! | `tool_search` | [`ToolSearch`]: searches the server's list for one tool, without storing the list |
//! | `tool_call` | [`ToolCall`]: calls a tool, and searches for the tool first if necessary |

mod known_tools;
mod page_walk;
mod pages;
mod step;
mod tool_call;
mod tool_list;
mod tool_listing;
mod tool_search;

pub use known_tools::KnownTools;
pub use page_walk::PageWalk;
pub use pages::Pages;
pub use step::{RequestError, Step};
pub use tool_call::ToolCall;
pub use tool_list::{CacheHints, ToolList};
pub use tool_listing::ToolListing;
pub use tool_search::{SearchProgress, ToolSearch};
