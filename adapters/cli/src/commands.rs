//! What each subcommand does.

mod call;
mod complete;
mod demo;
mod info;
mod listen;
mod ping;
mod prompts;
mod resources;
pub(crate) mod task;
mod tools;

use std::path::Path;

use mcpwire_blocking::protocol::{Json, TaskHandle};

use self::call::How;
use self::complete::Question;
use crate::args::{Command, Connection, Options, TaskAction};
use crate::arguments;
use crate::demo_server;
use crate::failure::{Failure, SERVER_FAILED};
use crate::hub;
use crate::output;
use crate::save::Saved;
use crate::session::Session;
use crate::show;

pub(crate) use listen::Printer;

/// What is done once there is a server, with all that it needs.
enum Task<'a> {
    Demo,
    Info,
    Tools,
    Call { tool: &'a str, arguments: Json, how: How<'a> },
    OfServer { action: TaskAction, handle: TaskHandle },
    Resources,
    Read { uri: &'a str, save: Option<&'a Path> },
    Prompts,
    Prompt { name: &'a str, arguments: Json, save: Option<&'a Path> },
    Complete(Question<'a>),
    Ping,
    Listen { resources: &'a [String], printer: Printer },
}

/// Runs a command and says the exit status.
pub(crate) fn run(command: &Command, options: &Options) -> u8 {
    if let Some(exit) = hub::run(command, options) {
        return exit;
    }
    let told = |failure: Failure| {
        failure.report(options.json);
        failure.exit()
    };
    let (task, connection) = match prepare(command, options.json) {
        Ok(Some(prepared)) => prepared,
        Ok(None) => return serve(command),
        Err(failure) => return told(failure),
    };
    let printer = match &task {
        Task::Listen { printer, .. } => Some(printer),
        _ => None,
    };
    let mut session = match Session::start(&connection, options, printer) {
        Ok(session) => session,
        Err(failure) => return told(failure),
    };
    // A failure is told before the server is ended: one that does not want to end takes its time.
    let exit = task.run(&mut session).unwrap_or_else(told);
    let ended = session.close();
    match task {
        Task::Demo if exit == 0 && !options.json => demo::farewell(ended.as_ref()).map_or_else(told, |()| exit),
        _ => exit,
    }
}

/// Reads what the command needs before a server is started for it. One needs none: it is the server.
fn prepare(command: &Command, json: bool) -> Result<Option<(Task<'_>, Connection)>, Failure> {
    Ok(Some(match command {
        Command::DemoServer { .. } => return Ok(None),
        // They are about configured servers, and have been run by now.
        Command::Server { .. } | Command::Secret { .. } | Command::Status { .. } | Command::Hub { .. } => {
            return Err(Failure::no_server());
        }
        Command::Demo => (Task::Demo, Connection::to_demo()),
        Command::Info { connection } => (Task::Info, connection.clone()),
        Command::Tools { connection, .. } => (Task::Tools, connection.clone()),
        Command::Call { tool, arguments, task, detach, save, connection, .. } => {
            let arguments = arguments::read(arguments.as_deref())?;
            let how = How { task: *task, detach: *detach, save: save.directory.as_deref() };
            (Task::Call { tool, arguments, how }, connection.clone())
        }
        Command::Task { action, task, connection } => {
            (Task::OfServer { action: *action, handle: task::handle(task)? }, connection.clone())
        }
        Command::Resources { connection } => (Task::Resources, connection.clone()),
        Command::Read { uri, save, connection } => {
            (Task::Read { uri, save: save.directory.as_deref() }, connection.clone())
        }
        Command::Listen { resources, connection } => {
            (Task::Listen { resources, printer: Printer::new(json) }, connection.clone())
        }
        Command::Prompts { connection } => (Task::Prompts, connection.clone()),
        Command::Prompt { name, arguments, save, connection } => {
            let arguments = arguments::read(arguments.as_deref())?;
            (Task::Prompt { name, arguments, save: save.directory.as_deref() }, connection.clone())
        }
        Command::Complete { kind, name, argument, prefix, context, connection } => {
            (Task::Complete(Question { kind: *kind, name, argument, prefix, context }), connection.clone())
        }
        Command::Ping { connection } => (Task::Ping, connection.clone()),
    }))
}

/// Says which files were made: with the result, or beside it where that is one JSON document.
fn tell_saved(session: &Session<'_>, saved: &[Saved]) -> Result<(), Failure> {
    if !session.options.json {
        return output::page(|out| show::saved(out, saved));
    }
    for saved in saved.iter().filter(|_| !session.options.quiet) {
        session.notes.line(&show::saved_line(saved));
    }
    Ok(())
}

fn serve(command: &Command) -> u8 {
    let served = match command {
        Command::DemoServer { http: Some(address) } => demo_server::run_http(*address),
        _ => demo_server::run(),
    };
    match served {
        Ok(()) => 0,
        Err(error) => {
            eprintln!("mcpwire demo-server: {error}");
            SERVER_FAILED
        }
    }
}

impl Task<'_> {
    fn run(&self, session: &mut Session<'_>) -> Result<u8, Failure> {
        match self {
            Self::Demo => demo::run(session),
            Self::Info => info::run(session),
            Self::Tools => tools::run(session),
            Self::Call { tool, arguments, how } => call::run(session, tool, arguments, *how),
            Self::OfServer { action, handle } => task::run(session, *action, handle),
            Self::Resources => resources::list(session),
            Self::Read { uri, save } => resources::read(session, uri, *save),
            Self::Prompts => prompts::list(session),
            Self::Prompt { name, arguments, save } => prompts::get(session, name, arguments, *save),
            Self::Complete(question) => complete::run(session, question),
            Self::Ping => ping::run(session),
            Self::Listen { resources, printer } => listen::run(session, resources, printer),
        }
    }
}
