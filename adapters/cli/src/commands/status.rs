//! `mcpwire status`: a table of all configured servers, once or for as long as somebody watches.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use mcpwire_hub::{Hub, McpService};
use owo_colors::OwoColorize as _;
use tokio::sync::Notify;
use unicode_width::UnicodeWidthStr as _;

use super::args::Place;
use super::call::note_changes;
use super::link::Link;
use super::requests::{Request, Row, rows};
use super::{link, of};
use crate::args::Options;
use crate::failure::Failure;
use crate::output;
use crate::text;

/// How often the table is made anew if nothing happens: memory and waiting times change by themselves.
const TICK: Duration = Duration::from_secs(1);

pub(super) fn run(watch: bool, place: &Place, options: &Options) -> Result<u8, Failure> {
    let mut link = link(place, options)?;
    if watch {
        return follow(link, options);
    }
    if let Link::Own(own) = &link {
        own.wait(own.hub.boot()).map_err(of)?;
    }
    let rows: Vec<Row> = link.ask(Request::Status).map_err(of)?;
    link.close();
    note_changes(rows.iter().map(|row| &row.detail), options);
    if options.json {
        output::json(&rows)?;
    } else {
        output::page(|out| table(&rows).iter().try_for_each(|line| writeln!(out, "{line}")))?;
    }
    Ok(0)
}

fn follow(link: Link, options: &Options) -> Result<u8, Failure> {
    let mut screen = Screen::new(options);
    match link {
        Link::Own(own) => {
            let starting = own.hub.clone();
            let shown = own.wait_until_pressed(async |pressed| {
                tokio::spawn(async move { starting.boot().await });
                watch(&own.hub, pressed, &mut screen).await
            });
            Link::Own(own).close();
            shown
        }
        Link::Running(mut client) => {
            // What is shown is whole at any time.
            let _ = ctrlc::set_handler(|| std::process::exit(0));
            loop {
                let rows = client.ask(&Request::Status, &mut |_| {}).map_err(of)?;
                let rows: Vec<Row> = rows.decode().map_err(|error| Failure::usage("hub", error.to_string()))?;
                screen.show(&rows)?;
                std::thread::sleep(TICK);
            }
        }
    }
}

async fn watch(hub: &Hub, pressed: &Notify, screen: &mut Screen<'_>) -> Result<u8, Failure> {
    let mut events = hub.events();
    loop {
        screen.show(&rows(hub))?;
        tokio::select! {
            () = pressed.notified() => return Ok(0),
            _ = tokio::time::timeout(TICK, events.next()) => while events.try_next().is_some() {},
        }
    }
}

/// Where the table is redrawn: in place on a terminal; elsewhere, only lines that have changed are written.
struct Screen<'a> {
    options: &'a Options,
    in_place: bool,
    drawn: usize,
    before: Vec<(String, String)>,
}

impl<'a> Screen<'a> {
    fn new(options: &'a Options) -> Self {
        let in_place = io::stdout().is_terminal() && !options.json;
        Screen { options, in_place, drawn: 0, before: Vec::new() }
    }

    fn show(&mut self, rows: &[Row]) -> Result<(), Failure> {
        if self.in_place {
            let lines = table(rows);
            let up = if self.drawn > 0 { format!("\x1b[{}A\x1b[J", self.drawn) } else { String::new() };
            let width = terminal_size::terminal_size().map_or(usize::MAX, |(width, _)| width.0.into());
            self.drawn = lines.len();
            return output::page(|out| {
                write!(out, "{up}")?;
                lines.iter().try_for_each(|line| writeln!(out, "{}", fitting(line, width)))
            });
        }
        for row in rows {
            // Times and memory change all the time: they are no news.
            let news = format!("{:?} {} {:?}", row.detail.state, row.detail.tools, row.detail.last_error);
            let name = row.detail.name.clone();
            match self.before.iter_mut().find(|(before, _)| *before == name) {
                Some((_, before)) if *before == news => continue,
                Some((_, before)) => *before = news,
                None => self.before.push((name, news)),
            }
            if self.options.json {
                output::json(row)?;
            } else {
                output::line(&plain(row)).map_err(|error| Failure::output(&error))?;
            }
        }
        Ok(())
    }
}

/// A line that does not break. What has colours is left as it is: it is short.
fn fitting(line: &str, width: usize) -> String {
    if line.contains('\u{1b}') || line.width() <= width {
        return line.to_owned();
    }
    let mut fits = String::new();
    for c in line.chars() {
        if fits.width() + 1 >= width {
            fits.push('…');
            break;
        }
        fits.push(c);
    }
    fits
}

fn plain(row: &Row) -> String {
    cells(row).join("  ").trim_end().to_owned()
}

const TITLES: [&str; 8] = ["SERVER", "STATE", "ERA", "TOOLS", "CALLS", "RESTARTS", "MEMORY", "LAST ERROR"];

fn cells(row: &Row) -> [String; 8] {
    let detail = &row.detail;
    let state = match detail.retry_in_ms {
        Some(wait) => format!("{} {}s", detail.state, wait.div_ceil(1_000)),
        None => detail.state.to_string(),
    };
    let era = detail.version.clone().or(detail.era.clone()).unwrap_or_else(|| "-".into());
    let memory = row.usage.map_or_else(
        || "-".into(),
        |usage| {
            let tenths = (usage.memory * 10) >> 20;
            format!("{}.{} MiB", tenths / 10, tenths % 10)
        },
    );
    let error = detail.last_error.as_ref().map(|error| text::line(&error.to_string())).unwrap_or_default();
    [
        text::line(&detail.name),
        state,
        era,
        detail.tools.to_string(),
        detail.calls.to_string(),
        detail.restarts.to_string(),
        memory,
        error,
    ]
}

/// The table, line by line.
fn table(rows: &[Row]) -> Vec<String> {
    let mut lines = vec![TITLES.map(str::to_owned)];
    lines.extend(rows.iter().map(cells));
    let width = |column: usize| lines.iter().map(|cells| cells[column].width()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..TITLES.len()).map(width).collect();
    let mut table = Vec::new();
    for (at, cells) in lines.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in cells.iter().enumerate() {
            let padding = " ".repeat(widths[column] - cell.width());
            let last = column + 1 == cells.len();
            line.push_str(cell);
            if !last {
                line.push_str(&padding);
                line.push_str("  ");
            }
        }
        let line = line.trim_end().to_owned();
        table.push(if at == 0 { line.bold().to_string() } else { line });
    }
    table
}
