//! Internal part of [mcpwire](https://docs.rs/mcpwire); its API may change in any release.
//!
//! Text as the protocol needs it: [`json`], [`url`], and text of servers that is safe to show to a person. Performs no
//! I/O, and knows neither methods nor connections.

#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod json;
mod macros;
mod printable;
pub mod url;

pub use printable::{BOM, Seconds, excerpt, excerpt_up_to, is_invisible, printable};
