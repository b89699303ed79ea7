//! What every client does, as machines over [`Calls`](crate::Calls): walk the pages of a list, keep the list of tools, find a tool, call it.
//!
//! A machine sends its requests itself, and says after each [`poll`](ToolCall::poll) what its adapter has to do: wait for a reply,
//! read what has arrived, or take the result. An adapter of any kind fits: a blocking one loops, an async one polls under its
//! lock and hands the reply in outside of it, where it is read.
//!
//! | file | what it does |
//! |---|---|
//! | `step` | [`Step`]: what a machine says to its adapter |
//! | `page_walk`, `pages` | [`PageWalk`]: a list that comes in pages |
//! | `tool_list` | [`ToolList`]: the tools of a server, and whether the list still holds |
//! | `tool_listing` | [`ToolListing`]: lists the tools, and keeps the list |
//! | `known_tools` | [`KnownTools`]: what is known of the tools when one is called |
//! | `tool_search` | [`ToolSearch`]: looks for one tool without keeping the list |
//! | `tool_call` | [`ToolCall`]: calls a tool, with what has to be known before and after |

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
pub use tool_search::{Searched, ToolSearch};
