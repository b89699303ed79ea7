//! `mcpwire hub` and `mcpwire status`: runs the configured servers for other commands, and shows their state.

use std::io::{self, IsTerminal as _, Write as _};

use super::background;
use crate::args::{HubCommand, Options, Place};
use crate::console::{Console, Foreground, output};
use crate::failure::Failure;
use crate::hub::{HubHandle, Request, Row, layout, leave_session, serve};
use crate::session::warn_of_changes;
use crate::show::{self, Layout};

pub(super) fn run(command: &HubCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    match command {
        HubCommand::Run { own_session } => run_hub(*own_session, place, options)?,
        HubCommand::Reload => of_running_hub(Request::Reload, place, options)?,
        HubCommand::Start => background::start(place, options)?,
        HubCommand::Stop => background::stop(place, options)?,
        HubCommand::Restart => background::restart(place, options)?,
        HubCommand::Auto { on } => background::set_auto(*on, place, options)?,
        HubCommand::Status => return background::status(place, options),
        HubCommand::Logs { follow, lines } => background::logs(*lines, *follow, place)?,
        HubCommand::Service { manager } => background::service(*manager, place, options)?,
    }
    Ok(0)
}

fn run_hub(own_session: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    if own_session {
        leave_session();
    }
    let layout = layout(place)?;
    Ok(Foreground::start()?.finish(async || serve(&layout, options, &Console::new(options)).await)?)
}

/// Sends a request to the running hub (`mcpwire hub run`). Returns an error if no hub is running.
pub(super) fn of_running_hub(request: Request, place: &Place, options: &Options) -> Result<(), Failure> {
    let mut handle = HubHandle::connect(place, options)?.ok_or_else(Failure::no_hub)?;
    Ok(handle.ask::<()>(request)?)
}

/// Shows the status table of all configured servers: once, or with `watch` until Ctrl-C.
pub(super) fn status(watch: bool, place: &Place, options: &Options) -> Result<(), Failure> {
    let mut handle = HubHandle::open(place, options)?;
    if watch {
        let mut screen = Screen::new(options);
        return handle.follow(|rows| screen.show(rows));
    }
    handle.boot()?;
    handle.wait_until_stopped();
    let rows = handle.rows(Request::Status)?;
    warn_of_changes(&handle.console, rows.iter().map(|row| &row.detail));
    output::show(options, &rows, |out| {
        if rows.is_empty() {
            return writeln!(out, "{}", show::NO_SERVERS);
        }
        table(&rows).iter().try_for_each(|line| writeln!(out, "{line}"))
    })
}

fn table(rows: &[Row]) -> Vec<String> {
    show::status_table(rows.iter().map(|row| (&row.detail, row.usage)), Layout::of_stdout())
}

/// Shows the status of the servers repeatedly. On a terminal, the status table is redrawn in place. Elsewhere, only servers that
/// have changed are written.
struct Screen<'a> {
    options: &'a Options,
    in_place: bool,
    drawn: usize,
    /// The name and the last written status of each server.
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
