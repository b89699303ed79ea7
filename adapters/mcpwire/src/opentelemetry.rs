//! Connects mcpwire's clients to OpenTelemetry: spans, histograms, and the trace context of requests.
//!
//! ```
//! use mcpwire::ConnectOptions;
//!
//! let options = ConnectOptions::default().observer(mcpwire::opentelemetry::observer());
//! ```
//!
//! A program needs only this line and its own setup of OpenTelemetry: it sets its global providers before it connects.
//! [`OpenTelemetry::new`] takes other providers.
//!
//! # Spans
//!
//! Each request is a span of kind `CLIENT`, a child of the span that is current where the request is sent. Names and
//! attributes are those of the [semantic conventions for MCP][conventions] (status: development). Values of arguments and
//! results are never recorded.
//!
//! With the layer of `tracing-opentelemetry`, spans of the `tracing` crate are parents, too.
//!
//! # Trace context
//!
//! Each request carries `traceparent`, `tracestate` and `baggage` in its `_meta` (2026-07-28, basic, "OpenTelemetry trace
//! context"). Earlier servers ignore these members. The program's propagator sets `tracestate` and `baggage`
//! ([`set_text_map_propagator`](https://docs.rs/opentelemetry/latest/opentelemetry/global/fn.set_text_map_propagator.html)).
//!
//! * A tool call carries the trace context of its client span, so the server's spans are children of that span. If the client does not
//!   send the call, the span ends with the error type `not_sent`.
//! * Other requests carry the trace context of the caller's span, because the cache may have the response: the client span is created
//!   only when a request was sent. The client span and the server's spans are siblings.
//!
//! To send the trace context without spans, use [`trace_source`] instead of [`observer`].
//!
//! # Histograms
//!
//! | name | unit | measures |
//! |---|---|---|
//! | `mcp.client.operation.duration` | s | each request, from sending it to its end |
//! | `mcp.client.session.duration` | s | each connection; over HTTP, each session |
//!
//! [conventions]: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md

#[doc(inline)]
pub use mcpwire_opentelemetry::*;
