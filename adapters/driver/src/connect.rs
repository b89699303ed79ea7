//! From a definition, or a pair of streams, to a connection whose task runs.

use std::mem;
use std::sync::Arc;

use mcpwire_client::{Error, McpServerDef};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{ConnectError, Timestamp};
use mcpwire_process::Process;

use crate::driver::Loop;
use crate::options::ConnectOptions;
use crate::runtime::{Runtime, Streams};
use crate::shared::{Lives, Shared};
use crate::state::{State, Wish};

/// Starts a server, or prepares a connection by HTTP. No request is sent.
pub(crate) fn connect(
    runtime: Arc<dyn Runtime>,
    def: &McpServerDef,
    mut options: ConnectOptions,
) -> Result<Lives, Error> {
    options.config = def.configure(options.config);
    if def.url.is_some() {
        return connect_http(runtime, def, options);
    }
    let (process, streams) = start_process(&*runtime, def)?;
    Ok(connect_streams(runtime, Some((def, process)), streams, options))
}

/// Connects over streams: those of a process, or of a program.
pub(crate) fn connect_streams(
    runtime: Arc<dyn Runtime>,
    process: Option<(&McpServerDef, Process)>,
    streams: Streams,
    mut options: ConnectOptions,
) -> Lives {
    let Streams { reader, writer, stderr, exit } = streams;
    let engine = AnyEngine::stream(mem::take(&mut options.config));
    let (definition, process) = process.map(|(def, process)| (Arc::new(def.clone()), process)).unzip();
    let shared = Shared::new(runtime, definition, State::new(engine, Some(writer), process), options);
    Loop::new(Arc::clone(&shared), Some(reader), stderr, exit).spawn();
    Lives::of(shared)
}

#[cfg(feature = "http")]
fn connect_http(runtime: Arc<dyn Runtime>, def: &McpServerDef, mut options: ConnectOptions) -> Result<Lives, Error> {
    use mcpwire_core::http::Engine;

    let settings = options.http.settings(def)?;
    let is_watched = options.trace.is_some();
    let client = mem::take(&mut options.http)
        .into_client(|| runtime.http_client(def))
        .map_err(|error| Error::new(def.display_name(), error))?;
    let engine = AnyEngine::Http(Box::new(Engine::new(mem::take(&mut options.config), settings)));
    let shared = Shared::new(runtime, Some(Arc::new(def.clone())), State::new(engine, None, None), options);
    let mut driver = Loop::new(Arc::clone(&shared), None, None, None);
    driver.http = Some(Box::new(crate::http::Exchanges::new(client, is_watched)));
    driver.spawn();
    Ok(Lives::of(shared))
}

#[cfg(not(feature = "http"))]
fn connect_http(_: Arc<dyn Runtime>, def: &McpServerDef, _: ConnectOptions) -> Result<Lives, Error> {
    Err(Error::new(def.display_name(), mcpwire_client::HttpSetupError::Missing))
}

/// Starts the server again, as a legacy one, after it ended on the probe.
#[cold]
pub(crate) fn restart(shared: &Arc<Shared>, begun: Timestamp) -> Result<(), Error> {
    let closed = || Err(shared.connect_error(ConnectError::Closed));
    let Some(def) = shared.context.definition.as_deref().filter(|_| shared.lock().wish == Wish::Live) else {
        return closed();
    };
    let (process, Streams { reader, writer, stderr, exit }) = start_process(&*shared.runtime, def)?;
    let now = shared.clock.now();
    let mut state = shared.lock();
    if state.wish != Wish::Live {
        // The program has asked for the end meanwhile.
        drop(state);
        return closed();
    }
    let Some(engine) = state.engine.restarted(now.duration_since(begun)) else {
        drop(state);
        return closed();
    };
    state.restart(engine, writer, process);
    let begun = state.engine.calls().initialize(now);
    drop(state);
    begun.map_err(|error| Error::new(shared.name(), error))?;
    Loop::new(Arc::clone(shared), Some(reader), stderr, exit).spawn();
    Ok(())
}

fn start_process(runtime: &dyn Runtime, def: &McpServerDef) -> Result<(Process, Streams), Error> {
    let server = def.display_name();
    let (process, pipes) = Process::spawn(def).map_err(|error| Error::new(server, error))?;
    let streams = runtime.pipes(pipes, process.exit_handle()).map_err(|error| Error::new(server, error))?;
    Ok((process, streams))
}
