//! Connects mcpwire's clients to OpenTelemetry: records spans and histograms of requests, and sends the trace context to servers.
//!
//! ```
//! use mcpwire::ConnectOptions;
//!
//! let options = ConnectOptions::default().observer(mcpwire::opentelemetry::observer());
//! ```
//!
//! A program needs only this line, and must set the global providers of OpenTelemetry before it connects. To use other providers,
//! create the observer with [`OpenTelemetry::new`].
//!
//! # Spans
//!
//! Each request is a span of kind `CLIENT`. Its parent is the span that is current where the program sends the request. The names
//! and attributes of the spans follow the [semantic conventions for MCP][conventions] (status: development). Values of arguments
//! and results are never recorded.
//!
//! With the layer of `tracing-opentelemetry`, the parent can also be a span of the `tracing` crate.
//!
//! # Trace context
//!
//! Each request carries `traceparent`, `tracestate` and `baggage` in its `_meta` (2026-07-28, basic, "OpenTelemetry trace
//! context"). Servers of earlier protocol versions ignore these members. The program's propagator sets `tracestate` and `baggage`
//! ([`set_text_map_propagator`](https://docs.rs/opentelemetry/latest/opentelemetry/global/fn.set_text_map_propagator.html)).
//!
//! * A tool call carries the trace context of its client span. The server's spans are children of the client span. If the client
//!   does not send the call, the span ends with the error type `not_sent`.
//! * Any other request carries the trace context of the caller's span. The cache may have the response, so the client span is
//!   created only after the request was sent. The client span and the server's spans are siblings.
//!
//! To send the trace context without spans, use [`trace_source`] instead of [`observer`].
//!
//! # Histograms
//!
//! | name | unit | measures |
//! |---|---|---|
//! | `mcp.client.operation.duration` | s | the time from sending a request until its response or failure |
//! | `mcp.client.session.duration` | s | the lifetime of a connection; over HTTP, of a session |
//!
//! [conventions]: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md

#[doc(inline)]
pub use mcpwire_opentelemetry::*;
