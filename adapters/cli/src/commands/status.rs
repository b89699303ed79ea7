//! `mcpwire status`: shows a table of all configured servers, once or until Ctrl-C.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use tokio::sync::Notify;

use crate::args::{Options, Place};
use crate::console::{Console, Interrupt, output};
use crate::failure::Failure;
use crate::hub::{HubHandle, HubService, Request, Row};
use crate::lost_logins::end_at_once;
use crate::session::warn_of_changes;
use crate::show::{self, Layout};

/// Interval at which the displayed status is updated, even without an event of the hub. Memory usage and the time until a
/// restart change without events.
const TICK: Duration = Duration::from_secs(1);

pub(super) fn run(watch: bool, place: &Place, options: &Options) -> Result<u8, Failure> {
    let mut handle = HubHandle::open(place, options)?;
    if watch {
        return follow(handle, options);
    }
    let console = Console::new(options);
    if let HubHandle::InProcess(own) = &handle {
        own.boot(&console).map_err(Failure::from_hub)?;
        own.wait_until_stopped();
    }
    let rows = handle.rows(Request::Status)?;
    handle.close();
    warn_of_changes(&console, rows.iter().map(|row| &row.detail));
    if options.json {
        output::json(&rows)?;
    } else {
        output::page(|out| table(&rows).iter().try_for_each(|line| writeln!(out, "{line}")))?;
    }
    Ok(0)
}

fn table(rows: &[Row]) -> Vec<String> {
    show::status_table(rows.iter().map(|row| (&row.detail, row.usage)), Layout::of_stdout())
}

fn follow(mut handle: HubHandle, options: &Options) -> Result<u8, Failure> {
    let mut screen = Screen::new(options);
    if let HubHandle::InProcess(own) = &handle {
        let starting = own.hub().clone();
        let shown = own.wait_until_pressed(async |pressed| {
            tokio::spawn(async move { starting.boot().await });
            watch(&own.service, pressed, &mut screen).await
        });
        handle.close();
        return shown;
    }
    // The process may end at any time, because the table on the screen is always complete.
    Interrupt::install().on_press(|_| end_at_once(0));
    loop {
        let rows = handle.rows(Request::Status)?;
        screen.show(&rows)?;
        std::thread::sleep(TICK);
    }
}

async fn watch(service: &HubService, pressed: &Notify, screen: &mut Screen<'_>) -> Result<u8, Failure> {
    let mut events = service.hub.events();
    loop {
        screen.show(&service.rows().await)?;
        tokio::select! {
            () = pressed.notified() => return Ok(0),
            _ = tokio::time::timeout(TICK, events.next()) => while events.try_next().is_some() {},
        }
    }
}

/// Shows the status of the servers again and again. On a terminal, the status table is redrawn in place. Elsewhere, only
/// servers that have changed are written.
struct Screen<'a> {
    options: &'a Options,
    in_place: bool,
    drawn: usize,
    /// For each server, its name and the status that was written last.
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
                lines.iter().try_for_each(|line| writeln!(out, "{}", show::fitting(line, width)))
            });
        }
        for row in rows {
            // Times and memory change all the time, so they are not compared.
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
                output::line(&show::status_row(&row.detail, row.usage)).map_err(|error| Failure::output(&error))?;
            }
        }
        Ok(())
    }
}
