//! Runs the command that the command line selects, and reports its failure. Each file of this directory contains related commands.

mod demo;
mod features;
mod hub;
mod listen;
mod login;
mod secret;
mod server;
mod tools;

use clap_complete::Shell;
use mcpwire_tokio::protocol::ServerInfo;

use crate::args::{Args, Command, Options, Target};
use crate::console::{Console, output};
use crate::failure::{Failure, LOGIN_REQUIRED};
use crate::input::read_arguments;
use crate::process_end::settle_during;
use crate::session::{CallMode, Called, Configured, Direct, Listener};

/// Runs a command of this tool, and returns the exit status of the process.
pub(crate) fn run(command: &Command, options: &Options) -> u8 {
    dispatch(command, options).unwrap_or_else(|failure| failure.report(options.json))
}

fn dispatch(command: &Command, options: &Options) -> Result<u8, Failure> {
    match command {
        Command::DemoServer { http } => Ok(demo::serve(*http)),
        Command::OpenPage { url } => Ok(u8::from(webbrowser::open(url).is_err())),
        Command::Server { command, place } => server::run(command, place, options),
        Command::Secret { command, place } => secret::run(command, place, options),
        Command::Login(arguments) => login::log_in(arguments, options),
        Command::Logout { login, revoke } => login::log_out(login, *revoke, options),
        Command::Whoami(login) => login::who_am_i(login, options),
        Command::Status { watch, place } => hub::status(*watch, place, options),
        Command::Hub { command, place } => hub::run(command, place, options),
        Command::Completions { shell } => completions(*shell),
        Command::Demo => demo::run(options),
        Command::Tools(target) if target.is_configured() => {
            with_hub(target, options, |hub| tools::list(&hub.list_tools()?, options))
        }
        Command::Tools(target) => {
            with_server(target, options, None, |server, _| tools::list(&server.list_tools()?, options))
        }
        Command::Call { tool, arguments, task, detach, save, target } => {
            let arguments = read_arguments(arguments.as_deref())?;
            let mode = CallMode::new(*task, *detach);
            let show = |called: Called, console: &Console| {
                tools::show_call(tool, called, save.directory.as_deref(), console, options)
            };
            if target.is_configured() {
                with_hub(target, options, |hub| show(hub.call(tool, &arguments, mode)?, &hub.handle.console))
            } else {
                with_server(target, options, None, |server, _| {
                    show(server.call(tool, &arguments, mode)?, &server.console)
                })
            }
        }
        Command::Task { action, task, target } => {
            let handle = tools::task_handle(task)?;
            with_server(target, options, None, |session, _| tools::task(session, *action, &handle))
        }
        Command::Info(target) => with_server(target, options, None, |session, info| features::info(session, &info)),
        Command::Ping(target) => with_server(target, options, None, |session, _| features::ping(session)),
        Command::Resources(target) => with_server(target, options, None, |session, _| features::resources(session)),
        Command::Read { uri, save, target } => {
            with_server(target, options, None, |session, _| features::read(session, uri, save.directory.as_deref()))
        }
        Command::Prompts(target) => with_server(target, options, None, |session, _| features::prompts(session)),
        Command::Prompt { name, arguments, save, target } => {
            let (arguments, save) = (read_arguments(arguments.as_deref())?, save.directory.as_deref());
            with_server(target, options, None, |session, _| features::prompt(session, name, &arguments, save))
        }
        Command::Complete { kind, name, argument, prefix, context, target } => {
            with_server(target, options, None, |session, _| {
                features::complete(session, *kind, name, argument, prefix, context)
            })
        }
        Command::Listen { resources, target } => {
            let (listener, mut broken) = listen::printer(options.json);
            with_server(target, options, Some(&listener), |session, _| listen::run(session, resources, &mut broken))
        }
    }
}

/// Connects to the server that `target` selects, runs a command, reports its failure, and ends the server. Returns the exit status
/// of the process.
///
/// If the command needs a login and the user agrees to log in, it is run once more afterwards. If `listener` is given, it receives
/// the notifications of the server.
fn with_server<'a>(
    target: &Target,
    options: &'a Options,
    listener: Option<&Listener>,
    mut command: impl FnMut(&Direct<'a>, ServerInfo) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let mut run = || -> Result<_, Failure> {
        let session = Direct::start(target, options, listener.cloned())?;
        let done = session.open().and_then(|info| command(&session, info));
        Ok((done, session))
    };
    let (mut done, mut session) = run()?;
    if let Err(failure) = &done
        && failure.exit() == LOGIN_REQUIRED
        && !target.stored_auth_only
        && let Some(login) = session.login.take()
        && login.offer(failure.scopes(), options)?
    {
        session.close();
        (done, session) = run()?;
    }
    let close = || {
        session.close();
    };
    Ok(end(done, options, close))
}

/// Runs a command with the configured servers that `target` selects, reports its failure, and ends the servers that it has started.
/// Servers of the running hub continue to run.
fn with_hub<'a>(
    target: &Target,
    options: &'a Options,
    command: impl FnOnce(&mut Configured<'a>) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let mut hub = Configured::open(target, options)?;
    let done = command(&mut hub);
    Ok(end(done, options, || drop(hub)))
}

/// Reports the failure of a command, and then calls `close`, because ending a server may take time. New tokens are stored meanwhile,
/// because the process ends next. Returns the exit status.
fn end(done: Result<u8, Failure>, options: &Options, close: impl FnOnce()) -> u8 {
    let exit = done.unwrap_or_else(|failure| failure.report(options.json));
    settle_during(&Console::new(options), close);
    exit
}

/// Prints a completion script for a shell.
fn completions(shell: Shell) -> Result<u8, Failure> {
    let definition = Args::definition();
    // The generator would also list hidden commands, so they are removed.
    let shown = definition.get_subcommands().filter(|command| !command.is_hide_set());
    let mut shown = clap::Command::new("mcpwire")
        .version(env!("CARGO_PKG_VERSION"))
        .args(definition.get_arguments())
        .subcommands(shown);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut shown, "mcpwire", &mut script);
    output::bytes(&script).map(|()| 0)
}
