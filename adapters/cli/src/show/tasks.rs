//! Formats the status of a task.

use std::io::{self, Write};

use mcpwire_blocking::protocol::Task;
use owo_colors::OwoColorize;

use super::Layout;
use crate::text;
use crate::time::local;

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
