//! How a task stands.

use std::io::{self, Write};

use mcpwire_blocking::protocol::Task;
use owo_colors::OwoColorize;

use super::Layout;
use crate::text;

/// Writes how a task stands. Its result is for `mcpwire task result`.
pub(crate) fn task(out: &mut impl Write, task: &Task, layout: Layout) -> io::Result<()> {
    writeln!(out, "{} {}", text::line(&task.task_id).bold(), text::line(task.status.as_str()))?;
    if let Some(message) = task.status_message.as_deref() {
        layout.lines(out, message, 2)?;
    }
    for (name, time) in [("created", &task.created_at), ("updated", &task.last_updated_at)] {
        if let Some(time) = time {
            writeln!(out, "  {} {}", name.dimmed(), text::line(time))?;
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
