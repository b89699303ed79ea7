//! The commands, each in its own file.

mod call;
mod complete;
mod completions;
mod demo;
mod demo_server;
mod hub;
mod info;
mod listen;
mod login;
mod logout;
mod ping;
mod prompts;
mod report;
mod resources;
mod secret;
mod server;
mod status;
mod task;
mod tools;
mod whoami;

use mcpwire_blocking::protocol::ServerInfo;

use self::complete::Question;
use self::listen::Printer;
use self::report::report;
use crate::args::{Command, Options, Target};
use crate::console::Console;
use crate::failure::{Failure, LOGIN_REQUIRED};
use crate::input::read_arguments;
use crate::process_end::settle_during;
use crate::session::{CallMode, Direct, Listener, Session};

/// Runs a command of this tool, and returns the exit status of the process.
pub(crate) fn run(command: &Command, options: &Options) -> u8 {
    dispatch(command, options).unwrap_or_else(|failure| report(&failure, options))
}

fn dispatch(command: &Command, options: &Options) -> Result<u8, Failure> {
    match command {
        Command::DemoServer { http } => Ok(demo_server::run(*http)),
        Command::OpenPage { url } => Ok(u8::from(webbrowser::open(url).is_err())),
        Command::Server { command, place } => server::run(command, place, options),
        Command::Secret { command, place } => secret::run(command, place, options),
        Command::Login(arguments) => login::run(arguments, options),
        Command::Logout { login, revoke } => logout::run(login, *revoke, options),
        Command::Whoami(login) => whoami::run(login, options),
        Command::Status { watch, place } => status::run(*watch, place, options),
        Command::Hub { command, place } => hub::run(command, place, options),
        Command::Completions { shell } => completions::run(*shell),
        Command::Demo => demo::run(options),
        Command::Tools(target) => with_session(target, options, tools::run),
        Command::Call { tool, arguments, task, detach, save, target } => {
            let arguments = read_arguments(arguments.as_deref())?;
            let mode = match (task, detach) {
                (_, true) => CallMode::Detach,
                (true, false) => CallMode::Task,
                (false, false) => CallMode::Call,
            };
            let save = save.directory.as_deref();
            with_session(target, options, |session, options| call::run(session, tool, &arguments, mode, save, options))
        }
        Command::Info(target) => with_server(target, options, || None, |session, info| info::run(session, &info)),
        Command::Task { action, task, target } => {
            let handle = task::handle(task)?;
            with_server(target, options, || None, |session, _| task::run(session, *action, &handle))
        }
        Command::Resources(target) => with_server(target, options, || None, |session, _| resources::list(session)),
        Command::Read { uri, save, target } => {
            let save = save.directory.as_deref();
            with_server(target, options, || None, |session, _| resources::read(session, uri, save))
        }
        Command::Prompts(target) => with_server(target, options, || None, |session, _| prompts::list(session)),
        Command::Prompt { name, arguments, save, target } => {
            let (arguments, save) = (read_arguments(arguments.as_deref())?, save.directory.as_deref());
            with_server(target, options, || None, |session, _| prompts::get(session, name, &arguments, save))
        }
        Command::Complete { kind, name, argument, prefix, context, target } => {
            let question = Question { kind: *kind, name, argument, prefix, context };
            with_server(target, options, || None, |session, _| complete::run(session, &question))
        }
        Command::Ping(target) => with_server(target, options, || None, |session, _| ping::run(session)),
        Command::Listen { resources, target } => {
            let printer = Printer::new(options.json);
            let listener = || {
                let printer = printer.clone();
                Some(Box::new(move |notification: &_| printer.print(notification)) as Listener)
            };
            with_server(target, options, listener, |session, _| listen::run(session, resources, &printer))
        }
    }
}

/// Connects to the server that `target` selects, runs a command, and ends the server. Returns the exit status of the process.
///
/// If the server wants a login and the user agrees to log in, the command is run again afterwards.
fn with_server<'a>(
    target: &Target,
    options: &'a Options,
    listener: impl Fn() -> Option<Listener>,
    command: impl Fn(&mut Direct<'a>, ServerInfo) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let run = || {
        let mut session = Direct::start(target, options, Console::new(options), listener())?;
        let done = session.open().and_then(|info| command(&mut session, info));
        Ok((done, Session::Direct(Box::new(session))))
    };
    with_login(target, options, run)
}

/// Runs a command as [`with_server`] does, for commands that can also use all configured servers.
fn with_session<'a>(
    target: &Target,
    options: &'a Options,
    command: impl Fn(&mut Session<'a>, &Options) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let run = || {
        let mut session = Session::start(target, options)?;
        let done = command(&mut session, options);
        Ok((done, session))
    };
    with_login(target, options, run)
}

/// Runs a command, reports its failure, and closes its session. If the command needs a login and the user agrees to log in, runs
/// it once more.
fn with_login<'a>(
    target: &Target,
    options: &Options,
    run: impl Fn() -> Result<(Result<u8, Failure>, Session<'a>), Failure>,
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
    // The session ends with the process.
    settle_during(&Console::new(options), || session.close());
    Ok(exit)
}
