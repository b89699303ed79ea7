//! Formats results and lists as text for users.
//!
//! All data comes from servers, so `text` and `printable` remove its control characters. Styles are always written; the output
//! stream removes them if colors are off.

mod command_line;
mod lists;
mod result;
mod robustness;
mod server;
mod signature;
mod status;
mod tool_views;

#[cfg(test)]
mod tests;

pub(crate) use self::command_line::CommandLines;
pub(crate) use self::lists::{completion, messages, prompts, rejected, resources, tool, tools};
pub(crate) use self::result::{LONGEST_MESSAGE, contents, log_message, result, saved_line, task, task_line};
pub(crate) use self::robustness::robustness;
pub(crate) use self::server::{full_name, login, server};
pub(crate) use self::status::{fitting, server_list, status_row, status_table};
pub(crate) use self::tool_views::{first_sentence, one_line, tool_costs, tool_schemas};

use std::io::{self, Write};

use mcpwire_tokio::protocol::printable;

use crate::text;

/// What a list of servers says if there are none.
pub(crate) const NO_SERVERS: &str = "No servers are configured. Add one: mcpwire server add NAME -- COMMAND, or import those of another program: \
    mcpwire server import FILE";

/// Maximum length of the name or title of a tool, in characters. Longer texts are cut.
const LONGEST_TOOL_NAME: usize = 200;

/// Maximum number of lines to show of a description. The other lines are left out.
const MOST_LINES: usize = 12;

/// The width at which text for standard output is wrapped, in columns. If the output is not a terminal, `width` is `None`, and
/// text is not wrapped.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) width: Option<usize>,
}

impl Layout {
    /// The possible widths of text, in columns. On a wider terminal, text is wrapped at the maximum width, because long lines
    /// are hard to read.
    const WIDTHS: std::ops::RangeInclusive<usize> = 40..=110;

    /// Returns the layout of text on standard output, for the current width of the terminal.
    pub(crate) fn of_stdout() -> Self {
        let size = terminal_size::terminal_size_of(io::stdout());
        let width = size.map(|(width, _)| usize::from(width.0).clamp(*Self::WIDTHS.start(), *Self::WIDTHS.end()));
        Self { width }
    }

    /// Writes a text, wrapped and indented by `indent` columns. Writes `…` instead of lines beyond [`MOST_LINES`].
    fn lines(self, out: &mut impl Write, text: &str, indent: usize) -> io::Result<()> {
        let printable = printable(text.trim()).to_string();
        let mut left = MOST_LINES;
        for source in printable.lines().filter(|line| !line.trim().is_empty()) {
            // The indentation of the source line is kept, for lists and code.
            let own = (source.len() - source.trim_start().len()).min(8);
            let at = indent + own;
            for line in text::wrap(source, self.width, at, at).lines() {
                if left == 0 {
                    return writeln!(out, "{:indent$}…", "");
                }
                left -= 1;
                writeln!(out, "{:at$}{}", "", line.trim_start())?;
            }
        }
        Ok(())
    }
}

/// Formats a number of bytes with a unit, such as `1.5 KiB`.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        // Integers, because a server may claim any size, and a float would be inexact.
        Some((unit, name)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}
