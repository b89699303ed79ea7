//! `mcpwire hub`: runs the configured servers for other commands.

use crate::args::{HubCommand, Options, Place};
use crate::failure::Failure;
use crate::hub::{HubHandle, Request};

pub(super) fn run(command: &HubCommand, place: &Place, options: &Options) -> Result<u8, Failure> {
    match command {
        HubCommand::Run => run_hub(place, options)?,
        HubCommand::Reload => of_running_hub(Request::Reload, place, options)?,
    }
    Ok(0)
}

#[cfg(unix)]
fn run_hub(place: &Place, options: &Options) -> Result<(), Failure> {
    use crate::console::Console;
    use crate::hub::{hub_options, layout, runtime, serve};

    let layout = layout(place)?;
    let served = runtime().and_then(|runtime| {
        let hub_options = hub_options(&layout, options, None);
        runtime.block_on(serve(&layout, hub_options, &Console::new(options)))
    });
    served.map_err(Failure::from_hub)
}

#[cfg(not(unix))]
fn run_hub(_: &Place, _: &Options) -> Result<(), Failure> {
    Err(Failure::usage("hub", "on this system, commands cannot share servers"))
}

/// Sends a request to the running hub (`mcpwire hub run`). Returns an error if no hub is running.
pub(super) fn of_running_hub(request: Request, place: &Place, options: &Options) -> Result<(), Failure> {
    let mut handle = HubHandle::open(place, options)?;
    if !handle.is_remote() {
        return Err(Failure::no_hub());
    }
    handle.ask::<()>(request).map_err(Failure::from_hub)
}
