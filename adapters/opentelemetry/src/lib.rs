//! Connects mcpwire's clients to OpenTelemetry: spans, histograms, and the trace context of requests.
//!
//! ```
//! use mcpwire_blocking::ConnectOptions;
//!
//! let options = ConnectOptions::default().observer(mcpwire_opentelemetry::observer());
//! ```
//!
//! That line is all that a program adds, beside its own setup of OpenTelemetry. The async clients have the same option.
//!
//! # Spans
//!
//! Each request is a span of kind `CLIENT`, a child of the span that is current where the request is sent. Names and
//! attributes are those of the [semantic conventions for MCP][conventions] (status: development). Values of arguments and
//! results are never recorded.
//!
//! Spans of the `tracing` crate are parents too, if the program has the layer of `tracing-opentelemetry`.
//!
//! # Trace context
//!
//! Each request carries `traceparent`, `tracestate` and `baggage` in its `_meta` (2026-07-28, basic, "OpenTelemetry trace
//! context"). Earlier servers ignore them. The program's propagator decides about `tracestate` and `baggage`
//! ([`set_text_map_propagator`](opentelemetry::global::set_text_map_propagator)).
//!
//! * For a call of a tool, the trace context is that of its client span, which begins where the call is sent. The spans of
//!   the server are children of it. A call that is not sent ends its span with the error type `not_sent`.
//! * For other requests, the trace context is that of the caller's span. The cache may have the response, so the client
//!   knows only later whether there is a request, and so a span. The client span and the server's spans are siblings.
//!
//! To send the trace context without spans, use [`trace_source`] instead of [`observer`].
//!
//! # Histograms
//!
//! | name | unit | what |
//! |---|---|---|
//! | `mcp.client.operation.duration` | s | each request, from its sending to its end |
//! | `mcp.client.session.duration` | s | each connection, and over HTTP each session |
//!
//! [conventions]: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/mcp.md

mod attributes;
mod observer;
mod propagation;

pub use observer::{OpenTelemetry, observer};
pub use propagation::{current, trace_context, trace_source};
