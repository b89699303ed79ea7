//! Runs the command that the command line selects. Each file of this directory contains related commands.

mod demo;
mod features;
mod hub;
mod listen;
mod login;
mod report;
mod secret;
mod server;
mod tools;

use clap_complete::Shell;
use mcpwire_tokio::protocol::ServerInfo;

use self::report::report;
use crate::args::{Args, Command, Options, Target};
use crate::console::{Console, output};
use crate::failure::{Failure, LOGIN_REQUIRED};
use crate::input::read_arguments;
use crate::process_end::settle_during;
use crate::session::{Direct, Listener, Session};

/// Runs a command of this tool, and returns the exit status of the process.
pub(crate) fn run(command: &Command, options: &Options) -> u8 {
    dispatch(command, options).unwrap_or_else(|failure| report(&failure, options))
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
        Command::Tools(target) => with_session(target, options, |session| tools::list(session, options)),
        Command::Call { tool, arguments, task, detach, save, target } => {
            let arguments = read_arguments(arguments.as_deref())?;
            let (mode, save) = (tools::mode(*task, *detach), save.directory.as_deref());
            with_session(target, options, |session| tools::call(session, tool, &arguments, mode, save, options))
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
            let complete =
                |session: &mut Direct<'_>, _| features::complete(session, *kind, name, argument, prefix, context);
            with_server(target, options, None, complete)
        }
        Command::Listen { resources, target } => {
            let (listener, mut broken) = listen::printer(options.json);
            let listen = |session: &mut Direct<'_>, _| listen::run(session, resources, &mut broken);
            with_server(target, options, Some(&listener), listen)
        }
    }
}

/// Connects to the server that `target` selects, runs a command, and ends the server. Returns the exit status of the process.
///
/// If the server wants a login and the user agrees to log in, the command is run again afterwards.
///
/// If `listener` is given, it receives the notifications of the server.
fn with_server<'a>(
    target: &Target,
    options: &'a Options,
    listener: Option<&Listener>,
    mut command: impl FnMut(&mut Direct<'a>, ServerInfo) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let run = || {
        let mut session = Direct::start(target, options, Console::new(options), listener.cloned())?;
        let done = session.open().and_then(|info| command(&mut session, info));
        Ok((done, Session::Direct(Box::new(session))))
    };
    with_login(target, options, run)
}

/// Runs a command as [`with_server`] does, for commands that can also use all configured servers.
fn with_session<'a>(
    target: &Target,
    options: &'a Options,
    command: impl Fn(&mut Session<'a>) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let run = || {
        let mut session = Session::start(target, options)?;
        let done = command(&mut session);
        Ok((done, session))
    };
    with_login(target, options, run)
}

/// Runs a command, reports its failure, and closes its session. If the command needs a login and the user agrees to log in, runs
/// it once more.
fn with_login<'a>(
    target: &Target,
    options: &Options,
    mut run: impl FnMut() -> Result<(Result<u8, Failure>, Session<'a>), Failure>,
) -> Result<u8, Failure> {
    let (mut done, mut session) = run()?;
    if let Err(failure) = &done
        && failure.exit() == LOGIN_REQUIRED
        && !target.stored_auth_only
        && let Some(login) = session.take_login()
        && login.offer(failure.scopes(), options)?
    {
        session.close();
        (done, session) = run()?;
    }
    // A failure is reported first, because ending the server may take time.
    let exit = done.unwrap_or_else(|failure| report(&failure, options));
    // The process ends next, so new tokens are stored while the session closes.
    settle_during(&Console::new(options), || session.close());
    Ok(exit)
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
