//! Prints the spans and histograms of a call, a failed call, and a re-established HTTP session.
//!
//! ```text
//! cargo run --example telemetry
//! ```
//!
//! A real program sets global providers with its exporters, and uses `mcpwire::opentelemetry::observer()`.

mod demo;

use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use mcpwire::blocking::McpClient;
use mcpwire::opentelemetry::OpenTelemetry;
use mcpwire::{ConnectOptions, McpServerDef};
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData, ResourceMetrics, ScopeMetrics};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let (spans, metrics) = (InMemorySpanExporter::default(), InMemoryMetricExporter::default());
    let tracers = SdkTracerProvider::builder().with_simple_exporter(spans.clone()).build();
    let meters = SdkMeterProvider::builder().with_reader(PeriodicReader::builder(metrics.clone()).build()).build();
    let options = ConnectOptions::default().observer(OpenTelemetry::new(&tracers, &meters));

    let mut client = McpClient::connect_and_initialize_with(&demo::server(), options.clone())?;
    println!("2 + 40 = {}", client.call_tool("add", json!({"a": 2, "b": 40})).send()?.text());
    if let Err(error) = client.request_raw("vendor/none", None) {
        println!("{error}");
    }
    client.shutdown()?;

    let mut client = McpClient::connect_and_initialize_with(&forgetful_server()?, options)?;
    println!("after a new session: {}", client.call_tool("echo", ()).send()?.text());
    client.shutdown()?;

    for span in spans.get_finished_spans()? {
        println!("\nspan `{}`, {:?}, {:?}", span.name, span.span_kind, span.status);
        span.attributes.iter().for_each(|attribute| println!("  {} = {}", attribute.key, attribute.value));
        span.events.iter().for_each(|event| println!("  event `{}`", event.name));
    }
    meters.force_flush()?;
    let exported = metrics.get_finished_metrics()?;
    for metric in exported.iter().flat_map(ResourceMetrics::scope_metrics).flat_map(ScopeMetrics::metrics) {
        let AggregatedMetrics::F64(MetricData::Histogram(histogram)) = metric.data() else { continue };
        println!("\nhistogram `{}` in {}", metric.name(), metric.unit());
        for point in histogram.data_points() {
            let attributes = point.attributes().map(|attribute| format!("{}={}", attribute.key, attribute.value));
            println!("  {} values, {:.4} s: {}", point.count(), point.sum(), attributes.collect::<Vec<_>>().join(", "));
        }
    }
    Ok(())
}

/// Starts an HTTP server that ends its session before the first call.
fn forgetful_server() -> Result<McpServerDef, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    thread::spawn(move || {
        let mut calls = 0;
        for stream in listener.incoming().flatten() {
            let _ = answer(stream, &mut calls);
        }
    });
    Ok(McpServerDef::http(url))
}

/// Responds to one HTTP request, and closes the connection.
fn answer(stream: TcpStream, calls: &mut u32) -> Result<(), Box<dyn Error>> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let line = line.trim().to_ascii_lowercase();
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let request = serde_json::from_slice::<Value>(&body).unwrap_or_default();
    let (status, result) = match request["method"].as_str() {
        Some("initialize") => {
            let info = json!({"name": "forgetful", "version": "1"});
            let capabilities = json!({"tools": {}});
            (200, json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info}))
        }
        Some("tools/list") => (200, json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})),
        Some("tools/call") => {
            *calls += 1;
            let content = json!({"content": [{"type": "text", "text": "hello"}]});
            (if *calls == 1 { 404 } else { 200 }, content)
        }
        Some(method) if method.starts_with("notifications/") => (202, Value::Null),
        Some(_) => (400, Value::Null),
        None => (405, Value::Null),
    };
    let body = match (status, &request["id"]) {
        (200, id) => json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string(),
        _ => String::new(),
    };
    let response = format!(
        "HTTP/1.1 {status} -\r\nContent-Type: application/json\r\nMcp-Session-Id: s\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    // With one write: the system would hold the second one back until the client has acknowledged the first.
    reader.get_mut().write_all(response.as_bytes())?;
    Ok(())
}
