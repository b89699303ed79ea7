//! What servers say, laid out for people.
//!
//! Everything here comes from a server, so all of it goes through `text` or `printable` on its way out. Styles are
//! written without asking whether they are wanted: the stream takes them out where they are not.

mod lists;
mod result;
mod server;
mod tasks;
mod tools;

#[cfg(test)]
mod tests;

pub(crate) use self::lists::{completion, messages, prompts, rejected, resources};
pub(crate) use self::result::{contents, result, saved, saved_line};
pub(crate) use self::server::{full_name, server};
pub(crate) use self::tasks::task;
pub(crate) use self::tools::{tool, tools};

use std::io::{self, Write};

use mcpwire_blocking::protocol::printable;

use crate::text;

/// More lines of a description are left to `--json`.
const MOST_LINES: usize = 12;

/// Where it is shown: the width to wrap at, which only a terminal has.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) width: Option<usize>,
}

impl Layout {
    /// Wider lines than this are hard to read, narrower ones are no lines.
    const WIDTHS: std::ops::RangeInclusive<usize> = 40..=110;

    /// The layout for standard output.
    pub(crate) fn of_stdout() -> Self {
        let size = terminal_size::terminal_size_of(io::stdout());
        let width = size.map(|(width, _)| usize::from(width.0).clamp(*Self::WIDTHS.start(), *Self::WIDTHS.end()));
        Self { width }
    }

    /// Writes a text of several lines, wrapped and indented. Lines beyond the limit are left out, with a mark.
    fn lines(self, out: &mut impl Write, text: &str, indent: usize) -> io::Result<()> {
        let printable = printable(text.trim()).to_string();
        let mut left = MOST_LINES;
        for source in printable.lines().filter(|line| !line.trim().is_empty()) {
            // A list's own indentation is kept, within reason.
            let own = (source.len() - source.trim_start().len()).min(8);
            let at = indent + own;
            for line in text::wrap(source, self.width, at, at) {
                if left == 0 {
                    return writeln!(out, "{:indent$}…", "");
                }
                left -= 1;
                writeln!(out, "{:at$}{line}", "")?;
            }
        }
        Ok(())
    }
}

/// A number of bytes as people say it.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.into_iter().find(|(unit, _)| bytes >= *unit) {
        // Tenths, counted in whole numbers: a size may be anything that a server claims.
        Some((unit, name)) => {
            let tenths = u128::from(bytes) * 10 / u128::from(unit);
            format!("{}.{} {name}", tenths / 10, tenths % 10)
        }
        None if bytes == 1 => "1 byte".to_owned(),
        None => format!("{bytes} bytes"),
    }
}
