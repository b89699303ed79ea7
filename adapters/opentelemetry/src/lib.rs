//! Internal part of [mcpwire](https://docs.rs/mcpwire), used through its feature `opentelemetry`; its API may change in any release.
//!
//! Connects mcpwire's clients to OpenTelemetry: records spans and histograms of requests, and sends the trace context to servers.
//! The documentation of the module `mcpwire::opentelemetry` lists the spans and histograms.
//!
//! ```
//! # mod mcpwire { pub use mcpwire_blocking::ConnectOptions; pub mod opentelemetry { pub use
//! # mcpwire_opentelemetry::observer; } }
//! use mcpwire::ConnectOptions;
//!
//! let options = ConnectOptions::default().observer(mcpwire::opentelemetry::observer());
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod attributes;
mod observer;
mod propagation;

pub use observer::{OpenTelemetry, observer};
pub use propagation::{current, trace_context, trace_source};
