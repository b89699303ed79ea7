//! Formats results and tasks of tool calls, contents of resources, and log messages.

use std::io::{self, Write};

use mcpwire_tokio::protocol::{CallToolResult, ContentBlock, LogMessage, ResourceContents, Task, ToolText, printable};
use owo_colors::OwoColorize;

use super::{Layout, size};
use crate::save::Saved;
use crate::text;
use crate::time::local;

/// Writes the result of a tool call: its text, and one line for each binary content block.
///
/// Structured content is written only if the result contains no text, because servers repeat structured content as text.
pub(crate) fn result(out: &mut impl Write, result: &CallToolResult) -> io::Result<()> {
    if result.content.is_empty()
        && let ToolText::RawJson(json) = result.text()
    {
        return writeln!(out, "{}", text::pretty_json(json));
    }
    for block in &result.content {
        self::block(out, block)?;
    }
    let has_text = result.content.iter().any(|block| matches!(block, ContentBlock::Text(_)));
    match &result.structured_content {
        Some(structured) if !has_text => writeln!(out, "{}", text::pretty_json(structured.get())),
        _ => Ok(()),
    }
}

/// Writes one content block of a tool result or of a prompt message.
pub(super) fn block(out: &mut impl Write, block: &ContentBlock) -> io::Result<()> {
    match block {
        ContentBlock::Text(content) => paragraph(out, &content.text),
        ContentBlock::Image(image) => named(out, "image", &[&image.mime_type], Some(decoded(&image.data))),
        ContentBlock::Audio(audio) => named(out, "audio", &[&audio.mime_type], Some(decoded(&audio.data))),
        ContentBlock::ResourceLink(link) => {
            let mime_type = link.mime_type.as_deref().unwrap_or_default();
            named(out, "resource link", &[&link.name, &link.uri, mime_type], link.size)
        }
        ContentBlock::Resource(embedded) => resource(out, &embedded.resource),
        ContentBlock::Unknown(unknown) => {
            let length = unknown.raw.get().len() as u64;
            named(out, "unknown content", &[&unknown.kind], Some(length))
        }
        _ => named(out, "unknown content", &[], None),
    }
}

/// Writes the contents of a resource: texts in full, and one line for each binary content.
pub(crate) fn contents(out: &mut impl Write, contents: &[ResourceContents]) -> io::Result<()> {
    match contents {
        [ResourceContents { text: Some(text), .. }] => paragraph(out, text),
        contents => contents.iter().try_for_each(|content| resource(out, content)),
    }
}

/// Returns the line that reports a saved file, such as `saved out/image.png (image/png, 12.3 KiB)`.
pub(crate) fn saved_line(saved: &Saved) -> String {
    let mut facts = text::short(&saved.mime_type, LONGEST_FACT);
    if !facts.is_empty() {
        facts.push_str(", ");
    }
    format!("saved {} ({facts}{})", text::line(&saved.path.display().to_string()), size(saved.length))
}

/// Writes a line with the URI, media type and size of a resource, and then the text of the resource, if it has text.
fn resource(out: &mut impl Write, resource: &ResourceContents) -> io::Result<()> {
    let length = match (&resource.text, &resource.blob) {
        (Some(text), _) => Some(text.len() as u64),
        (None, Some(blob)) => Some(decoded(blob)),
        (None, None) => None,
    };
    let mime_type = resource.mime_type.as_deref().unwrap_or_default();
    named(out, "resource", &[&resource.uri, mime_type], length)?;
    resource.text.as_deref().map_or(Ok(()), |text| paragraph(out, text))
}

/// Writes a text without control characters. Adds a line break if the text does not end with a line break.
fn paragraph(out: &mut impl Write, text: &str) -> io::Result<()> {
    write!(out, "{}", printable(text))?;
    if text.ends_with('\n') { Ok(()) } else { writeln!(out) }
}

/// Writes a line that describes a content block, such as `[image: image/png, 12.3 KiB]`.
fn named(out: &mut impl Write, kind: &str, facts: &[&str], length: Option<u64>) -> io::Result<()> {
    let facts = facts.iter().map(|fact| text::short(fact, LONGEST_FACT));
    let facts = facts.chain(length.map(size)).filter(|fact| !fact.is_empty()).collect::<Vec<_>>();
    let separator = if facts.is_empty() { "" } else { ": " };
    writeln!(out, "[{kind}{separator}{}]", facts.join(", "))
}

/// Maximum length of a name, URI or media type in the description of content, in characters. Longer texts are cut.
const LONGEST_FACT: usize = 300;

/// Returns the number of bytes that a base64 text encodes, without decoding the text.
fn decoded(base64: &str) -> u64 {
    let padding = base64.bytes().rev().take_while(|byte| *byte == b'=').count();
    (base64.len() - padding) as u64 * 3 / 4
}

/// Writes the status of a task, without the result of the task.
pub(crate) fn task(out: &mut impl Write, task: &Task, layout: Layout) -> io::Result<()> {
    writeln!(out, "{} {}", text::line(&task.task_id).bold(), text::line(task.status.as_str()))?;
    if let Some(message) = task.status_message.as_deref() {
        layout.lines(out, message, 2)?;
    }
    for (name, time) in [("created", &task.created_at), ("updated", &task.last_updated_at)] {
        if let Some(time) = time {
            let time = local(time).unwrap_or_else(|| text::line(time));
            writeln!(out, "  {} {time}", name.dimmed())?;
        }
    }
    if let Some(ttl) = task.ttl() {
        writeln!(out, "  {} {} s", "kept for".dimmed(), ttl.as_secs_f64())?;
    }
    if let Some(error) = &task.error {
        writeln!(out, "  {} {}", "error".dimmed(), text::json_for_terminals(error.get()))?;
    }
    Ok(())
}

/// Returns the status of a task as one line of text.
pub(crate) fn task_line(task: &Task) -> String {
    let mut line = format!("task {}: {}", text::line(&task.task_id), text::line(task.status.as_str()));
    if let Some(message) = task.status_message.as_deref().filter(|message| !message.is_empty()) {
        line.push_str(", ");
        line.push_str(&text::line(message));
    }
    line
}

/// Maximum length of a printed log message or notification, in characters. The trace file (`--trace FILE`) contains the whole
/// message.
pub(crate) const LONGEST_MESSAGE: usize = 2_000;

/// Returns a log message of a server as one line of text: the logger, if there is one, and the text.
pub(crate) fn log_message(message: &LogMessage) -> String {
    let logger = message.logger.as_deref().map(|logger| format!("{}: ", text::line(logger))).unwrap_or_default();
    logger + &text::short(&message.text(), LONGEST_MESSAGE)
}
