//! Creates a connection from a server's definition or a pair of streams, and spawns the driver of the connection.

use std::mem;
use std::sync::Arc;

use mcpwire_client::{ConnectOptions, Error, LaunchedServer, Launcher, McpServerDef, OptionParts, Transport};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{ConnectError, Timestamp, stdio};
use mcpwire_process::{Process, RunningServer};

use crate::connection::{ConnectionRef, Shared};
use crate::driver::Driver;
use crate::locked_state::CloseIntent;
use crate::runtime::{Runtime, Streams};

/// Starts a server's process, or prepares a connection over HTTP. This sends no request.
pub(crate) fn connect(
    runtime: Arc<dyn Runtime>,
    def: &McpServerDef,
    options: ConnectOptions,
) -> Result<ConnectionRef, Error> {
    let clock = runtime.clock();
    if def.url.is_some() {
        return connect_http(runtime, def, options.into_parts(Some(Arc::new(def.clone())), Transport::Http, clock));
    }
    let options = options.into_parts(Some(Arc::new(def.clone())), Transport::Stdio, clock);
    let (process, streams) = start_process(&*runtime, options.context.launcher.as_deref(), def)?;
    Ok(start_streams(runtime, Some(process), streams, options))
}

/// Creates a connection over a pair of streams that the program has created.
pub(crate) fn connect_streams(runtime: Arc<dyn Runtime>, streams: Streams, options: ConnectOptions) -> ConnectionRef {
    let options = options.into_parts(None, Transport::Stream, runtime.clock());
    start_streams(runtime, None, streams, options)
}

fn start_streams(
    runtime: Arc<dyn Runtime>,
    process: Option<Process>,
    streams: Streams,
    mut options: OptionParts,
) -> ConnectionRef {
    let Streams { reader, writer, stderr, exit } = streams;
    let engine = AnyEngine::Stream(stdio::Engine::new(mem::take(&mut options.config)));
    let shared = Shared::new(runtime, engine, Some(writer), process, options);
    Driver::new(Arc::clone(&shared), Some(reader), stderr, exit).spawn();
    ConnectionRef::new(shared)
}

#[cfg(feature = "http")]
fn connect_http(
    runtime: Arc<dyn Runtime>,
    def: &McpServerDef,
    mut options: OptionParts,
) -> Result<ConnectionRef, Error> {
    use mcpwire_core::http::Engine;

    let settings = options.http.settings(def, &options.config.client_info)?;
    let is_traced = options.trace.is_some();
    let client = options.http_client(def, || runtime.http_client(def))?;
    let engine = AnyEngine::Http(Box::new(Engine::new(mem::take(&mut options.config), settings)));
    let shared = Shared::new(runtime, engine, None, None, options);
    let mut driver = Driver::new(Arc::clone(&shared), None, None, None);
    driver.http = Some(Box::new(crate::http::Exchanges::new(client, is_traced)));
    driver.spawn();
    Ok(ConnectionRef::new(shared))
}

#[cfg(not(feature = "http"))]
fn connect_http(_: Arc<dyn Runtime>, def: &McpServerDef, _: OptionParts) -> Result<ConnectionRef, Error> {
    Err(Error::new(def.display_name(), mcpwire_client::HttpSetupError::Missing))
}

/// Restarts a server that has exited when it received `server/discover`, and sends `initialize`.
///
/// `opening_start` is the time at which the opening began. The time since then counts towards the connect timeout.
#[cold]
pub(crate) fn restart(shared: &Arc<Shared>, opening_start: Timestamp) -> Result<(), Error> {
    let closed = || shared.connect_error(ConnectError::Closed);
    let def = shared.context.definition.as_deref().ok_or_else(closed)?;
    let (process, Streams { reader, writer, stderr, exit }) =
        start_process(&*shared.runtime, shared.context.launcher.as_deref(), def)?;
    let now = shared.clock.now();
    let mut state = shared.lock();
    // The program may have ended the connection while the process was started.
    if state.close_intent != CloseIntent::None {
        drop(state);
        return Err(closed());
    }
    let config = state.engine.session().config().for_restart(now.duration_since(opening_start));
    state.restart(AnyEngine::Stream(stdio::Engine::new(config)), writer, process);
    let sent = state.engine.calls().initialize(now);
    drop(state);
    sent.map_err(|error| Error::new(&shared.context.name, error))?;
    Driver::new(Arc::clone(shared), Some(reader), stderr, exit).spawn();
    Ok(())
}

fn start_process(
    runtime: &dyn Runtime,
    launcher: Option<&dyn Launcher>,
    def: &McpServerDef,
) -> Result<(Process, Streams), Error> {
    let name = def.display_name();
    match RunningServer::start(def, launcher).map_err(|error| Error::new(name, error))? {
        RunningServer::Local(process, pipes) => {
            let streams = runtime.pipes(pipes, process.exit_handle()).map_err(|error| Error::new(name, error))?;
            Ok((process, streams))
        }
        RunningServer::Launched(server) => {
            let LaunchedServer { reader, writer, stderr, exit, handle } = *server;
            Ok((Process::launched(handle), Streams { reader, writer, stderr, exit: Some(exit) }))
        }
    }
}
