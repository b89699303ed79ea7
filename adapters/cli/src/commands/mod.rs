//! Runs the command that the command line selects. Each file of this directory contains related commands.

mod background;
mod completions;
mod demo;
mod features;
mod generate;
mod hub;
mod listen;
mod login;
mod robustness;
mod secret;
mod server;
mod shell;

mod tools;

use crate::args::{Command, Completed, Language, Named, Options, Target, Words};
use crate::arguments::{Arguments, read_object};
use crate::console::Console;
use crate::failure::{Failure, LOGIN_REQUIRED, NOT_CONNECTED};
use crate::hub::CallMode;
use crate::process_end::settle_during;
use crate::session::{Configured, Direct, Server, login_of};

/// Runs a command of this tool, and returns the exit status of the process.
pub(crate) fn run(command: &Command, options: &Options) -> u8 {
    dispatch(command, options).unwrap_or_else(|failure| failure.report(options.json))
}

fn dispatch(command: &Command, options: &Options) -> Result<u8, Failure> {
    match command {
        Command::DemoServer { http } => Ok(demo::serve(*http)),
        Command::OpenPage { url } => Ok(u8::from(webbrowser::open(url).is_err())),
        Command::Server { command, place } => server::run(command, place, options),
        Command::Secret { command, place } => secret::run(command, place, options).map(|()| 0),
        Command::Login(arguments) => login::log_in(arguments, options).map(|()| 0),
        Command::Logout { login, revoke } => login::log_out(login, *revoke, options).map(|()| 0),
        Command::Whoami(login) => login::who_am_i(login, options).map(|()| 0),
        Command::Status { watch, place } => hub::status(*watch, place, options).map(|()| 0),
        Command::Hub { command, place } => hub::run(command, place, options),
        Command::Completions { shell } => completions::print_script(*shell).map(|()| 0),
        Command::Man { directory } => completions::manual(directory.as_deref()).map(|()| 0),
        Command::Shell { server, place } => shell::run(server.as_deref(), place, options),
        Command::CompleteWords { shell, words } => completions::print_words(*shell, words).map(|()| 0),
        Command::Demo => demo::run(options),
        Command::Tools { words, view, target } => {
            let (target, words) = Words::TOOLS.split(target, words)?;
            with_session(&target, options, |server| {
                tools::list(server, words.first(), view, options)?;
                // The user was told which servers are missing in the list.
                Ok(if server.lacks_servers() { NOT_CONNECTED } else { 0 })
            })
        }
        Command::Call { words, no_check, ask, task, detach, save, target } => {
            let (target, words) = Words::CALL.split(target, words)?;
            let call = tools::Call {
                tool: &words[0],
                arguments: Arguments::read(&words[1..])?,
                mode: CallMode::new(*task, *detach),
                is_checked: !no_check,
                asks: *ask,
                directory: save.directory.as_deref(),
                target: &target,
            };
            with_session(&target, options, |server| tools::call(server, &call, options))
        }
        Command::Task { words, target } => {
            let (target, words) = Words::TASK.split(target, words)?;
            let (action, handle) = (tools::task_action(&words[0])?, tools::task_handle(&words[1])?);
            with_server(&target, options, false, |server| tools::task(server, action, &handle, options))
        }
        Command::Info(named) => {
            let (target, _) = Words::only_server("info").split(&named.target, &named.words)?;
            with_named(&target, options, |server| features::info(server, &target, options))
        }
        Command::Ping(named) => on_server("ping", named, options, |server| features::ping(server, options)),
        Command::Resources(named) => {
            on_server("resources", named, options, |server| features::resources(server, options))
        }
        Command::Prompts(named) => on_server("prompts", named, options, |server| features::prompts(server, options)),
        Command::Read { words, save, target } => {
            let (target, words) = Words::READ.split(target, words)?;
            let directory = save.directory.as_deref();
            let read = |server: &mut dyn Server| features::read(server, &words[0], directory, options);
            with_named(&target, options, |server| {
                read(server).map_err(|failure| failure.about("resources", &target.command("resources", "")))
            })
        }
        Command::Prompt { words, save, target } => {
            let (target, words) = Words::PROMPT.split(target, words)?;
            let arguments = Arguments::read(&words[1..])?.to_object(None)?;
            let directory = save.directory.as_deref();
            with_named(&target, options, |server| {
                let done = features::prompt(server, &words[0], &arguments, directory, options);
                done.map_err(|failure| failure.about("prompts", &target.command("prompts", "")))
            })
        }
        Command::Complete { words, context, target } => {
            let (target, words) = Words::COMPLETE.split(target, words)?;
            let kind = features::completed(&words[0])?;
            let prefix = words.get(3).map_or("", String::as_str);
            let list = if kind == Completed::Prompt { "prompts" } else { "resources" };
            with_named(&target, options, |server| {
                let done = features::complete(server, kind, &words[1], &words[2], prefix, context, options);
                done.map_err(|failure| failure.about(list, &target.command(list, "")))
            })
        }
        Command::Request { words, target } => {
            let (target, words) = Words::REQUEST.split(target, words)?;
            let params = words.get(1).map(|params| read_object("the parameters", params)).transpose()?;
            with_named(&target, options, |server| features::request_raw(server, &words[0], params.as_ref()))
        }
        Command::Generate { language: Language::Rust { words, out, check, target } } => {
            let (target, _) = Words::only_server("generate rust").split(target, words)?;
            with_server(&target, options, false, |server| {
                generate::rust(server, out.as_deref(), check.as_deref(), options)
            })
        }
        Command::Test { words, plan, target } => {
            let (target, _) = Words::only_server("test").split(target, words)?;
            robustness::run(plan, &target, options)
        }
        Command::Listen { words, resources, target } => {
            let (target, _) = Words::only_server("listen").split(target, words)?;
            with_server(&target, options, true, |server| listen::run(server, resources, options))
        }
    }
}

/// Runs a command that takes only a server, as [`with_named`] does.
fn on_server(
    name: &'static str,
    named: &Named,
    options: &Options,
    command: impl FnMut(&mut dyn Server) -> Result<(), Failure>,
) -> Result<u8, Failure> {
    let (target, _) = Words::only_server(name).split(&named.target, &named.words)?;
    with_named(&target, options, command)
}

/// Runs a command with one server. A configured server runs in a hub, but with `--trace`, the command connects to it directly.
fn with_named(
    target: &Target,
    options: &Options,
    mut command: impl FnMut(&mut dyn Server) -> Result<(), Failure>,
) -> Result<u8, Failure> {
    with_server(target, options, false, |server| command(server).map(|()| 0))
}

/// Runs a command with one server as [`with_named`] does. `listens` is for [`Direct::start`].
fn with_server(
    target: &Target,
    options: &Options,
    listens: bool,
    mut command: impl FnMut(&mut dyn Server) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    if options.trace.is_some() || !target.uses_hub() {
        return with_direct(target, options, listens, |server| command(server));
    }
    with_session(target, options, command)
}

/// Runs a command with a server, or with all configured servers. Configured servers always run in a hub.
fn with_session(
    target: &Target,
    options: &Options,
    mut command: impl FnMut(&mut dyn Server) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    if target.uses_hub() {
        background::start_if_wanted(&target.place, options)?;
        return with_hub(target, options, |hub| command(hub));
    }
    with_direct(target, options, false, |server| command(server))
}

/// Connects to the server that `target` selects, runs a command, reports its failure, and ends the server. Returns the exit status
/// of the process. `listens` is for [`Direct::start`].
///
/// If the command needs a login and the user agrees to log in, it is run once more afterwards.
fn with_direct<'a>(
    target: &Target,
    options: &'a Options,
    listens: bool,
    mut command: impl FnMut(&mut Direct<'a>) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let mut run = || -> Result<_, Failure> {
        let mut session = Direct::start(target, options, listens)?;
        let done = session.open().and_then(|_| command(&mut session));
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
/// Servers of the running hub continue to run. Offers a login as [`with_direct`] does.
fn with_hub<'a>(
    target: &Target,
    options: &'a Options,
    mut command: impl FnMut(&mut Configured<'a>) -> Result<u8, Failure>,
) -> Result<u8, Failure> {
    let mut run = || -> Result<_, Failure> {
        let mut hub = Configured::open(target, options)?;
        Ok((command(&mut hub), hub))
    };
    let (mut done, mut hub) = run()?;
    if let Err(failure) = &done
        && failure.exit() == LOGIN_REQUIRED
        && !target.stored_auth_only
        && let Some(login) = login_of(target, options)?
        && login.offer(failure.scopes(), options)?
    {
        drop(hub);
        (done, hub) = run()?;
    }
    Ok(end(done, options, || drop(hub)))
}

/// Reports the failure of a command, and then calls `close`, because ending a server may take time. New tokens are stored meanwhile,
/// because the process ends next. Returns the exit status.
fn end(done: Result<u8, Failure>, options: &Options, close: impl FnOnce()) -> u8 {
    let exit = done.unwrap_or_else(|failure| failure.report(options.json));
    settle_during(&Console::new(options), close);
    exit
}
