//! Formats tools in other ways than in full: as lines, as JSON Schemas, and by their cost.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::io::{self, Write};

use mcpwire_hub::supervisor::estimate_tokens;
use mcpwire_tokio::protocol::Tool;
use owo_colors::OwoColorize;
use unicode_width::UnicodeWidthStr;

use super::signature::{self, Signature};
use super::{LONGEST_TOOL_NAME, Layout};
use crate::text;

/// Writes a line about a tool: its signature, what it changes, and the first sentence of its description.
pub(super) fn tool_line(out: &mut impl Write, tool: &Tool, layout: Layout) -> io::Result<()> {
    /// Minimum number of columns for a description. If fewer are left, the description is left out.
    const NARROWEST: usize = 12;
    let signature = one_line(tool);
    let (name, parameters) = signature.split_at(text::short(&tool.name, LONGEST_TOOL_NAME).len());
    let mark = mark(tool).map(|mark| format!("  [{mark}]")).unwrap_or_default();
    write!(out, "{}{parameters}{}", name.bold().cyan(), mark.yellow())?;
    let description = tool.description.as_deref().map(first_sentence).unwrap_or_default();
    let used = signature.width() + mark.width() + 2;
    let left = layout.width.map_or(usize::MAX, |width| width.saturating_sub(used));
    if !description.is_empty() && left >= NARROWEST {
        write!(out, "  {}", text::fit(&description, left).dimmed())?;
    }
    writeln!(out)
}

/// Returns what the annotations of a tool say about its effects, such as `read-only`.
fn mark(tool: &Tool) -> Option<&'static str> {
    let annotations = tool.annotations.as_ref()?;
    match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => Some("read-only"),
        (_, Some(true)) => Some("destructive"),
        _ => None,
    }
}

/// Returns the first sentence of a description, on one line. A sentence ends at a full stop before white space, or at an empty
/// line.
pub(crate) fn first_sentence(description: &str) -> String {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let line = text::short(paragraph, 1_000);
    let end = line.match_indices(". ").map(|(at, _)| at + 1).find(|at| {
        // `e.g. this` and `v. 2` do not end a sentence.
        line[at + 1..].starts_with(|c: char| c.is_uppercase() || !c.is_alphanumeric())
            && !["e.g.", "i.e.", "etc.", "vs."].iter().any(|short| line[..*at].ends_with(short))
    });
    end.map_or(line.as_str(), |at| &line[..at]).to_owned()
}

/// Writes the JSON Schemas of the arguments and the result of each tool.
pub(crate) fn tool_schemas(out: &mut impl Write, tools: &[Tool]) -> io::Result<()> {
    for tool in tools {
        writeln!(out, "{}", text::short(&tool.name, LONGEST_TOOL_NAME).bold().cyan())?;
        let schemas = [("arguments", Some(&tool.input_schema)), ("result", tool.output_schema.as_ref())];
        for (what, schema) in schemas.into_iter().filter_map(|(what, schema)| Some((what, schema?))) {
            // Decoding and encoding adds line breaks. A schema that is too deep for it is written as it is.
            let pretty = serde_json::from_str(schema.get())
                .and_then(|value: serde_json::Value| serde_json::to_string_pretty(&value));
            let shown = pretty.unwrap_or_else(|_| schema.get().to_owned());
            writeln!(out, "{}\n{}", what.dimmed(), text::json_for_terminals(&shown))?;
        }
    }
    Ok(())
}

/// Writes about how many tokens the definition of each tool takes in the context of a model, the most expensive one first, and the
/// sum of each server.
pub(crate) fn tool_costs(out: &mut impl Write, tools: &[Tool]) -> io::Result<()> {
    let mut costs: Vec<(usize, &Tool)> = tools.iter().map(|tool| (tokens(tool), tool)).collect();
    costs.sort_by_key(|(cost, _)| Reverse(*cost));
    for (cost, tool) in &costs {
        writeln!(out, "{cost:>8}  {}", text::short(&tool.name, LONGEST_TOOL_NAME))?;
    }
    let mut servers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (cost, tool) in &costs {
        if let Some((server, _)) = tool.name.split_once("__") {
            let sum = servers.entry(server).or_default();
            *sum = (sum.0 + cost, sum.1 + 1);
        }
    }
    if servers.len() > 1 {
        writeln!(out)?;
        for (server, (cost, count)) in &servers {
            writeln!(out, "{cost:>8}  {server}: {}", text::counted(*count, "tool"))?;
        }
    }
    let sum: usize = costs.iter().map(|(cost, _)| cost).sum();
    writeln!(out, "\n{sum:>8}  tokens, about, for {}", text::counted(tools.len(), "tool"))
}

/// Returns about how many tokens a model reads for a tool: its name, its description and the schema of its arguments.
fn tokens(tool: &Tool) -> usize {
    let description = tool.description.as_deref().unwrap_or_default();
    estimate_tokens(&tool.name) + estimate_tokens(description) + estimate_tokens(tool.input_schema.get())
}

/// Formats a tool as a function on one line, such as `add(a: number, b?: number) -> { sum: number }`. Long types are cut, and
/// `…` stands for the parameters that are left out.
pub(crate) fn one_line(tool: &Tool) -> String {
    const LONGEST_KIND: usize = 60;
    /// Length of the parameters after which optional ones are left out, in characters.
    const LONG: usize = 100;
    let mut line = text::short(&tool.name, LONGEST_TOOL_NAME);
    line.push('(');
    let signature = Signature::of(tool.input_schema.get());
    let mut parts: Vec<String> = Vec::new();
    let mut length = 0;
    for parameter in &signature.parameters {
        if length > LONG && parameter.optional || length > 4 * LONG {
            if parts.last().is_none_or(|part| part != "…") {
                parts.push("…".to_owned());
            }
            continue;
        }
        let mut kind = parameter.kind.clone();
        text::cut(&mut kind, LONGEST_KIND);
        let part = format!("{}{}: {kind}", parameter.name, if parameter.optional { "?" } else { "" });
        length += part.chars().count();
        parts.push(part);
    }
    if signature.note.is_some() {
        parts.push("…".to_owned());
    }
    line += &parts.join(", ");
    line.push(')');
    if let Some(schema) = &tool.output_schema {
        let mut kind = signature::kind_of(schema.get());
        text::cut(&mut kind, LONGEST_KIND);
        line += " -> ";
        line += &kind;
    }
    line
}
