//! Formats tools, with one line for each parameter.

use std::io::{self, Write};

use mcpwire_tokio::protocol::{InvalidItem, Tool};
use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::Layout;
use super::signature::{self, Parameter, Signature};
use crate::text;

/// Maximum length of the name or title of a tool, in characters. Longer texts are cut.
const LONGEST_NAME: usize = 200;

/// Writes the tools of a list, and then the entries of the list that could not be read.
pub(crate) fn tools(out: &mut impl Write, tools: &[Tool], rejected: &[InvalidItem], layout: Layout) -> io::Result<()> {
    for (at, tool) in tools.iter().enumerate() {
        if at > 0 {
            writeln!(out)?;
        }
        self::tool(out, tool, layout)?;
    }
    if tools.is_empty() {
        writeln!(out, "No tools.")?;
    }
    super::rejected(out, rejected)
}

/// Writes the name, title, description and parameters of a tool, and the type of its result.
pub(crate) fn tool(out: &mut impl Write, tool: &Tool, layout: Layout) -> io::Result<()> {
    let name = text::short(&tool.name, LONGEST_NAME);
    let title = text::short(tool.display_name(), LONGEST_NAME);
    // A title that only repeats the name in another spelling, such as `Add` for `add`, is left out.
    let plain = |text: &str| text.to_lowercase().replace(['_', '-', '.', ' '], "");
    if plain(&title) == plain(&name) {
        writeln!(out, "{}", name.bold().cyan())?;
    } else {
        writeln!(out, "{}  {}", name.bold().cyan(), title.dimmed())?;
    }
    if let Some(issue) = tool.name_issue() {
        writeln!(out, "  {}", format!("note: {issue}").yellow())?;
    }
    if let Some(description) = &tool.description {
        layout.lines(out, description, 2)?;
    }
    let signature = Signature::of(tool.input_schema.get());
    for parameter in &signature.parameters {
        self::parameter(out, parameter, layout)?;
    }
    if let Some(note) = &signature.note {
        writeln!(out, "    {note}")?;
    } else if signature.parameters.is_empty() {
        writeln!(out, "    {}", "no arguments".dimmed())?;
    }
    if let Some(schema) = &tool.output_schema {
        const BELOW: usize = 8;
        let kind = signature::kind_of(schema.get());
        let mut lines = text::wrap(&kind, layout.width, "    returns ".len(), BELOW).into_iter();
        writeln!(out, "    {} {}", "returns".dimmed(), lines.next().unwrap_or_default())?;
        lines.try_for_each(|line| writeln!(out, "{:BELOW$}{line}", ""))?;
    }
    Ok(())
}

/// Writes a line about one parameter of a tool, such as `name?: kind = default  description`. A long description is wrapped
/// below the line.
fn parameter(out: &mut impl Write, parameter: &Parameter, layout: Layout) -> io::Result<()> {
    const INDENT: usize = 4;
    const BELOW: usize = 8;
    let mark = if parameter.optional { "?" } else { "" };
    let default = parameter.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
    write!(out, "{:INDENT$}{}{}: {}{}", "", parameter.name.green(), mark.dimmed(), parameter.kind, default.dimmed())?;
    let Some(description) = &parameter.description else {
        return writeln!(out);
    };
    let head = INDENT + parameter.name.width() + mark.len() + 2 + parameter.kind.width() + default.width();
    let mut lines = text::wrap(description, layout.width, head + 2, BELOW).into_iter();
    match lines.next() {
        Some(first) if !first.is_empty() => writeln!(out, "  {}", first.dimmed())?,
        _ => writeln!(out)?,
    }
    lines.try_for_each(|line| writeln!(out, "{:BELOW$}{}", "", line.dimmed()))
}
