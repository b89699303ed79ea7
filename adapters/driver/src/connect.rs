//! From a definition, or a pair of streams, to a connection whose task runs.

use std::mem;
use std::sync::Arc;

use mcpwire_client::{AnyLauncher, ConnectOptions, Error, LaunchedServer, McpServerDef, Transport};
use mcpwire_core::internal::AnyEngine;
use mcpwire_core::{ConnectError, Timestamp};
use mcpwire_process::{Process, Started};

use crate::driver::Loop;
use crate::runtime::{Runtime, Streams};
use crate::shared::{ConnectionRef, Shared};
use crate::state::{CloseIntent, State};

/// Does the same as [`connect`] with the default options. A function of its own, so that a program without options does not
/// contain the code that drops them: 1.2 KiB.
#[inline(never)]
pub(crate) fn connect_with_defaults(runtime: Arc<dyn Runtime>, def: &McpServerDef) -> Result<ConnectionRef, Error> {
    connect(runtime, def, ConnectOptions::default())
}

/// Starts a server, or prepares a connection by HTTP. No request is sent.
pub(crate) fn connect(
    runtime: Arc<dyn Runtime>,
    def: &McpServerDef,
    options: ConnectOptions,
) -> Result<ConnectionRef, Error> {
    if def.url.is_some() {
        return connect_http(runtime, def, options);
    }
    let (process, streams) = start_process(&*runtime, options.launcher_object(), def)?;
    Ok(connect_streams(runtime, Some((def, process)), streams, options))
}

/// Connects over streams: those of a process, or of a program.
pub(crate) fn connect_streams(
    runtime: Arc<dyn Runtime>,
    process: Option<(&McpServerDef, Process)>,
    streams: Streams,
    options: ConnectOptions,
) -> ConnectionRef {
    let Streams { reader, writer, stderr, exit } = streams;
    let (definition, process) = process.map(|(def, process)| (Arc::new(def.clone()), process)).unzip();
    let mut options = options.into_parts(definition);
    let (transport, clock) = (if process.is_some() { Transport::Stdio } else { Transport::Stream }, runtime.clock());
    options.start_hooks(transport, move || clock.now());
    let engine = AnyEngine::stream(mem::take(&mut options.config));
    let shared = Shared::new(runtime, State::new(engine, Some(writer), process), options);
    Loop::new(Arc::clone(&shared), Some(reader), stderr, exit).spawn();
    ConnectionRef::new(shared)
}

#[cfg(feature = "http")]
fn connect_http(
    runtime: Arc<dyn Runtime>,
    def: &McpServerDef,
    options: ConnectOptions,
) -> Result<ConnectionRef, Error> {
    use mcpwire_core::http::Engine;

    let mut options = options.into_parts(Some(Arc::new(def.clone())));
    let clock = runtime.clock();
    options.start_hooks(Transport::Http, move || clock.now());
    let settings = options.http.settings(def)?;
    let is_watched = options.trace.is_some();
    let client = options.http_client(|| runtime.http_client(def))?;
    let engine = AnyEngine::Http(Box::new(Engine::new(mem::take(&mut options.config), settings)));
    let shared = Shared::new(runtime, State::new(engine, None, None), options);
    let mut driver = Loop::new(Arc::clone(&shared), None, None, None);
    driver.http = Some(Box::new(crate::http::Exchanges::new(client, is_watched)));
    driver.spawn();
    Ok(ConnectionRef::new(shared))
}

#[cfg(not(feature = "http"))]
fn connect_http(_: Arc<dyn Runtime>, def: &McpServerDef, _: ConnectOptions) -> Result<ConnectionRef, Error> {
    Err(Error::new(def.display_name(), mcpwire_client::HttpSetupError::Missing))
}

/// Starts the server again, as a legacy one, after it ended on the probe.
#[cold]
pub(crate) fn restart(shared: &Arc<Shared>, begun: Timestamp) -> Result<(), Error> {
    let closed = || Err(shared.connect_error(ConnectError::Closed));
    let Some(def) = shared.context.definition.as_deref().filter(|_| shared.lock().close_intent == CloseIntent::None)
    else {
        return closed();
    };
    let (process, Streams { reader, writer, stderr, exit }) =
        start_process(&*shared.runtime, shared.context.launcher.as_deref(), def)?;
    let now = shared.clock.now();
    let mut state = shared.lock();
    if state.close_intent != CloseIntent::None {
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

fn start_process(
    runtime: &dyn Runtime,
    launcher: Option<&dyn AnyLauncher>,
    def: &McpServerDef,
) -> Result<(Process, Streams), Error> {
    let server = def.display_name();
    match Started::start(def, launcher).map_err(|error| Error::new(server, error))? {
        Started::Local(process, pipes) => {
            let streams = runtime.pipes(pipes, process.exit_handle()).map_err(|error| Error::new(server, error))?;
            Ok((process, streams))
        }
        Started::Elsewhere(launched) => {
            let LaunchedServer { reader, writer, stderr, exit, control } = *launched;
            Ok((Process::launched(control), Streams { reader, writer, stderr, exit: Some(exit) }))
        }
    }
}
