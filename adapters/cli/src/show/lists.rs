//! Formats lists of tools, with one line for each parameter, lists of resources and prompts, and completions.

use std::io::{self, Write};

use mcpwire_tokio::protocol::{Completion, GetPromptResult, InvalidItem, Prompt, Resource, ResourceTemplate, Tool};
use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::signature::{self, Parameter, Signature};
use super::tool_views::tool_line;
use super::{LONGEST_TOOL_NAME, Layout, result, size};
use crate::text;

/// Maximum length of a name, title or value in a list, in characters. Longer texts are cut.
const LONGEST: usize = 300;

/// Indentation of the lines below the first one of a type or a description, in columns.
const BELOW: usize = 8;

/// Writes the tools of a list, in full or with a line each, and then the entries of the list that could not be read.
pub(crate) fn tools(
    out: &mut impl Write,
    tools: &[Tool],
    rejected: &[InvalidItem],
    in_full: bool,
    layout: Layout,
) -> io::Result<()> {
    for (at, tool) in tools.iter().enumerate() {
        if !in_full {
            tool_line(out, tool, layout)?;
            continue;
        }
        if at > 0 {
            writeln!(out)?;
        }
        self::tool(out, tool, layout)?;
    }
    if tools.is_empty() {
        writeln!(out, "No tools.")?;
    }
    self::rejected(out, rejected)
}

/// Writes the name, title, description and parameters of a tool, and the type of its result.
pub(crate) fn tool(out: &mut impl Write, tool: &Tool, layout: Layout) -> io::Result<()> {
    let name = text::short(&tool.name, LONGEST_TOOL_NAME);
    let title = text::short(tool.display_name(), LONGEST_TOOL_NAME);
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
        let kind = signature::kind_of(schema.get());
        let kind = text::wrap(&kind, layout.width, "    returns ".len(), BELOW);
        writeln!(out, "    {} {kind}", "returns".dimmed())?;
    }
    Ok(())
}

/// Writes a line about one parameter of a tool, such as `name?: kind = default  description`. A long description is wrapped
/// below the line.
fn parameter(out: &mut impl Write, parameter: &Parameter, layout: Layout) -> io::Result<()> {
    const INDENT: usize = 4;
    let mark = if parameter.optional { "?" } else { "" };
    let default = parameter.default.as_ref().map(|default| format!(" = {default}")).unwrap_or_default();
    write!(out, "{:INDENT$}{}{}: {}{}", "", parameter.name.green(), mark.dimmed(), parameter.kind, default.dimmed())?;
    let Some(description) = &parameter.description else {
        return writeln!(out);
    };
    let head = INDENT + parameter.name.width() + mark.len() + 2 + parameter.kind.width() + default.width();
    let description = text::wrap(description, layout.width, head + 2, BELOW);
    let gap = if description.starts_with('\n') { "" } else { "  " };
    writeln!(out, "{gap}{}", description.dimmed())
}

/// Writes the entries of a list that could not be read. Writes nothing if `rejected` is empty.
pub(crate) fn rejected(out: &mut impl Write, rejected: &[InvalidItem]) -> io::Result<()> {
    if rejected.is_empty() {
        return Ok(());
    }
    let entries = if rejected.len() == 1 { "entry" } else { "entries" };
    writeln!(out, "\n{}", format_args!("{} {entries} of the list could not be read:", rejected.len()).yellow())?;
    rejected.iter().try_for_each(|rejected| writeln!(out, "  {}", text::line(&rejected.to_string())))
}

/// Writes the resources of a server, and then the resource templates.
pub(crate) fn resources(
    out: &mut impl Write,
    resources: &[Resource],
    templates: &[ResourceTemplate],
    layout: Layout,
) -> io::Result<()> {
    for resource in resources {
        let facts = [resource.mime_type.clone(), resource.size.map(size)];
        entry(out, &resource.uri, resource.display_name(), &facts)?;
        described(out, resource.description.as_deref(), layout)?;
    }
    for template in templates {
        entry(out, &template.uri_template, template.display_name(), std::slice::from_ref(&template.mime_type))?;
        described(out, template.description.as_deref(), layout)?;
    }
    if resources.is_empty() && templates.is_empty() {
        writeln!(out, "The server has no resources.")?;
    }
    Ok(())
}

/// Writes the prompts of a server, with one line for each argument of a prompt.
pub(crate) fn prompts(out: &mut impl Write, prompts: &[Prompt], layout: Layout) -> io::Result<()> {
    for prompt in prompts {
        entry(out, &prompt.name, prompt.title.as_deref().unwrap_or_default(), &[])?;
        described(out, prompt.description.as_deref(), layout)?;
        for argument in &prompt.arguments {
            let mark = if argument.required { "" } else { "?" };
            write!(out, "    {}{}", short(&argument.name).green(), mark.dimmed())?;
            match argument.description.as_deref().map(short) {
                Some(description) => writeln!(out, "  {}", description.dimmed())?,
                None => writeln!(out)?,
            }
        }
    }
    if prompts.is_empty() {
        writeln!(out, "The server has no prompts.")?;
    }
    Ok(())
}

/// Writes the messages of a prompt, each below a line with its role, such as `user:`.
pub(crate) fn messages(out: &mut impl Write, prompt: &GetPromptResult) -> io::Result<()> {
    for message in &prompt.messages.items {
        writeln!(out, "{}", format_args!("{}:", short(&message.role.to_string())).bold().cyan())?;
        result::block(out, &message.content)?;
    }
    Ok(())
}

/// Writes the suggested values for an argument, one per line, and whether the server has more of them.
pub(crate) fn completion(out: &mut impl Write, completion: &Completion) -> io::Result<()> {
    for value in &completion.values {
        writeln!(out, "{}", short(value))?;
    }
    let shown = completion.values.len() as u64;
    match completion.total {
        Some(total) if total > shown => writeln!(out, "{}", format_args!("({shown} of {total})").dimmed()),
        _ if completion.has_more => writeln!(out, "{}", "(there are more)".dimmed()),
        _ if shown == 0 => writeln!(out, "The server has no suggestions."),
        _ => Ok(()),
    }
}

/// Writes the first line of a list entry, such as `file:///a.rs  Title  (text/x-rust, 2.0 KiB)`.
fn entry(out: &mut impl Write, name: &str, title: &str, facts: &[Option<String>]) -> io::Result<()> {
    write!(out, "{}", short(name).bold().cyan())?;
    if !title.is_empty() && title != name {
        write!(out, "  {}", short(title))?;
    }
    let facts: Vec<String> = facts.iter().flatten().map(|fact| short(fact)).collect();
    if !facts.is_empty() {
        write!(out, "  {}", format_args!("({})", facts.join(", ")).dimmed())?;
    }
    writeln!(out)
}

fn described(out: &mut impl Write, description: Option<&str>, layout: Layout) -> io::Result<()> {
    description.map_or(Ok(()), |description| layout.lines(out, description, 2))
}

fn short(text: &str) -> String {
    text::short(text, LONGEST)
}
