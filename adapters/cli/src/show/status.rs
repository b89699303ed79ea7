//! Formats two tables of configured servers: their status, and their commands.

use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Table, Width};
use mcpwire_hub::service::{StatusDetail, Usage};
use owo_colors::OwoColorize as _;

use super::Layout;
use crate::failure::hub_message;
use crate::text;

const TITLES: [&str; 8] = ["SERVER", "STATE", "ERA", "TOOLS", "CALLS", "RESTARTS", "MEMORY", "LAST ERROR"];

/// Sets of columns for the status table: the minimum width of the table for each set, and the indexes of the columns in
/// [`TITLES`]. Narrow tables have no column for errors.
const COLUMNS: [(usize, &[usize]); 3] = [(100, &[0, 1, 2, 3, 4, 5, 6, 7]), (56, &[0, 1, 3, 4, 6]), (0, &[0, 1, 3])];

/// Index of the column `LAST ERROR` in [`TITLES`].
const ERROR: usize = 7;

/// Maximum length of an error in the status table, in characters. `mcpwire server doctor` shows the whole error.
const LONGEST_ERROR: usize = 400;

/// Returns the lines of the status table of the servers. If the table has no column for errors, the errors follow below the
/// table.
///
/// If `layout` has a width, cells are wrapped between words. Otherwise, each server has one line.
pub(crate) fn status_table<'a>(
    servers: impl Iterator<Item = (&'a StatusDetail, Option<Usage>)>,
    layout: Layout,
) -> Vec<String> {
    let width = layout.width.unwrap_or(usize::MAX);
    let columns = COLUMNS.iter().find(|(least, _)| width >= *least).map_or(&[][..], |(_, columns)| columns);
    let mut table = table(layout);
    table.set_header(columns.iter().map(|column| TITLES[*column]));
    let mut errors = Vec::new();
    for (detail, usage) in servers {
        let cells = cells(detail, usage);
        table.add_row(columns.iter().map(|column| cells[*column].as_str()));
        if !columns.contains(&ERROR) && !cells[ERROR].is_empty() {
            let error = format!("{}: {}", cells[0], cells[ERROR]);
            errors.extend(text::wrap(&error, layout.width, 0, 2).lines().map(str::to_owned));
        }
    }
    set_gaps(&mut table);
    // States and numbers are not wrapped. Names and errors share the remaining width.
    for (column, title) in table.column_iter_mut().zip(columns) {
        if ![0, ERROR].contains(title) {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    let mut lines: Vec<String> = table.lines().map(|line| line.trim_end().to_owned()).collect();
    if let Some(title) = lines.first_mut() {
        *title = title.bold().to_string();
    }
    if !errors.is_empty() {
        lines.push(String::new());
    }
    lines.extend(errors);
    lines
}

/// Returns the status of one server as one line of text, with the same cells as the status table.
pub(crate) fn status_row(detail: &StatusDetail, usage: Option<Usage>) -> String {
    cells(detail, usage).join("  ").trim_end().to_owned()
}

/// Returns the lines of the table of configured servers. The items of `servers` are the name, the command or URL, and a remark,
/// which may be empty.
pub(crate) fn server_list(servers: impl Iterator<Item = [String; 3]>, layout: Layout) -> Vec<String> {
    let mut table = table(layout);
    for [name, command, remark] in servers {
        let what =
            if remark.is_empty() { text::line(&command) } else { format!("{} ({remark})", text::line(&command)) };
        table.add_row([text::name(&name), what]);
    }
    set_gaps(&mut table);
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(ColumnConstraint::UpperBoundary(Width::Percentage(40)));
    }
    table.lines().map(|line| line.trim_end().to_owned()).collect()
}

/// Creates an empty table without borders. If `layout` has no width, lines of the table are not wrapped.
fn table(layout: Layout) -> Table {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    if let Some(width) = layout.width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(u16::try_from(width).unwrap_or(u16::MAX));
    }
    table
}

/// Separates the columns of a table by two spaces.
fn set_gaps(table: &mut Table) {
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
}

fn cells(detail: &StatusDetail, usage: Option<Usage>) -> [String; 8] {
    let state = match detail.retry_in_ms {
        Some(wait) => format!("{} {}s", detail.state, wait.div_ceil(1_000)),
        None => detail.state.to_string(),
    };
    let era = detail.version.clone().or(detail.era.clone()).unwrap_or_else(|| "-".into());
    let memory = usage.map_or_else(
        || "-".into(),
        |usage| {
            let tenths = (usage.memory * 10) >> 20;
            format!("{}.{} MiB", tenths / 10, tenths % 10)
        },
    );
    let mut error = match (&detail.last_error, &detail.invalid_messages) {
        (Some(error), _) => hub_message(error),
        (None, invalid) => invalid.as_deref().map(text::line).unwrap_or_default(),
    };
    text::cut(&mut error, LONGEST_ERROR);
    [
        text::name(&detail.name),
        state,
        text::name(&era),
        detail.tools.to_string(),
        detail.calls.to_string(),
        detail.restarts.to_string(),
        memory,
        error,
    ]
}

/// Cuts a line of the status table to the width of the terminal, so that the line takes one row. Lines with colors or bold text
/// are returned unchanged, because they are short.
pub(crate) fn fitting(line: &str, width: usize) -> String {
    if line.contains('\u{1b}') { line.to_owned() } else { text::fit(line, width) }
}
