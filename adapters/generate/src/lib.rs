//! Generates a Rust module for the tools of a [Model Context Protocol](https://modelcontextprotocol.io) server: a function for each
//! tool, the type of its arguments, and the type of its result if the tool has an output schema.
//!
//! ```no_run
//! # mod calc { pub mod add { pub struct Arguments { pub a: f64, pub b: f64 } pub struct Output { pub sum: f64 } }
//! # pub async fn add(_: &(), _: &add::Arguments) -> Result<add::Output, std::fmt::Error> { unreachable!() } }
//! # async fn run(client: &()) -> Result<(), std::fmt::Error> {
//! use calc::add; // The function, and the module with its types.
//!
//! let output = add(client, &add::Arguments { a: 2.0, b: 40.0 }).await?;
//! assert_eq!(output.sum, 42.0);
//! # Ok(())
//! # }
//! ```
//!
//! The functions take any `ToolClient` of the crate `mcpwire-tool-client`: the async clients of `mcpwire`, its hub, or a client in a
//! test. The generated code needs that crate (or `mcpwire` with the feature `tool-client`), `serde` with `derive`, and `serde_json`.
//!
//! # From the command line
//!
//! ```sh
//! mcpwire generate rust --out src/calc.rs -- npx -y some-mcp-server
//! mcpwire generate rust --check src/calc.rs -- npx -y some-mcp-server
//! ```
//!
//! The second command fails if the server has other tools than the module, and names them.
//!
//! # In a build script
//!
//! A build needs neither the server nor a network: save the list of tools once, and generate the module from the file.
//!
//! ```sh
//! mcpwire tools --json -- npx -y some-mcp-server > tools/calc.json
//! cargo add --build mcpwire-generate
//! ```
//!
//! ```no_run
//! // build.rs
//! fn main() -> Result<(), mcpwire_generate::Error> {
//!     mcpwire_generate::compile_tools("tools/calc.json")?;
//!     Ok(())
//! }
//! ```
//!
//! ```ignore
//! // src/main.rs
//! mod calc {
//!     include!(concat!(env!("OUT_DIR"), "/calc.rs"));
//! }
//! ```
//!
//! # What the code looks like
//!
//! | in the server | in Rust |
//! |---|---|
//! | tool `add` | function `add`, module `add` with `NAME`, `Arguments`, `Output`, and `call_with` for calls with options |
//! | tool without arguments | a function without arguments |
//! | tool without output schema | the function returns the `CallToolResult` |
//! | required, optional property | field, `Option` field. A field that is `None` is not sent, so that the default of the server applies |
//! | text with listed values | enum |
//! | alternatives | enum, if the JSON type or a property with a constant value tells them apart |
//! | nested object | struct |
//! | result with `isError` | `Err` with the kind `Tool` |
//! | result that the output schema does not allow | `Err` with the kind `Protocol`, and the place of the difference |
//!
//! Patterns, ranges and lengths are documentation: the server checks them. A part of a schema that has no equivalent in Rust becomes
//! `serde_json::Value` or a map, and its documentation says why. One tool never affects another. References in schemas are never
//! fetched, and texts of the server are only shown: they cannot add code, links or tests to the documentation.

#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod build_script;
mod docs;
mod error;
mod fingerprint;
mod module;
mod names;
mod schema;
mod types;

pub use build_script::{compile_module, compile_tools};
pub use error::Error;
pub use fingerprint::{Changes, changes};
pub use mcpwire_types as protocol;
pub use module::{Generated, Module, Untyped};

/// Compiles the example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
