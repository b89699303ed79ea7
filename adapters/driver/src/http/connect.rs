//! From a definition to a connection.

use std::sync::Arc;

use mcpwire_core::AnyEngine;
use mcpwire_core::http::{Engine, Settings};
use mcpwire_process::{Error, McpServerDef, StderrLines, Tracer};

use super::Exchanges;
use crate::driver::{Driver, Loop};
use crate::options::ConnectOptions;
use crate::runtime::{Clock, Runtime, Timer};
use crate::shared::{Lives, Shared, Watchers};
use crate::state::State;

/// The two halves of a connection.
pub(crate) fn assemble<R: Runtime>(
    def: &McpServerDef,
    settings: Settings,
    options: ConnectOptions,
    clock: Clock,
    timer: Box<dyn Timer>,
) -> Result<(Lives, Driver), Error> {
    let ConnectOptions { config, patience, stderr, trace, trace_context, handlers, http } = options;
    let client =
        http.into_client(|| R::http(def)).map_err(|error| Error::Http { server: def.display_name().into(), error })?;
    let exchanges = Exchanges::new(client, trace.is_some());
    let engine = AnyEngine::Http(Box::new(Engine::new(config, settings)));
    let watchers = Watchers { lines: StderrLines::new(stderr), tracer: trace.map(Tracer::new) };
    let state = State::new(engine, None, None);
    let shared =
        Arc::new(Shared::new(Some(Arc::new(def.clone())), patience, clock, handlers, trace_context, state, watchers));
    let mut driver = Loop::new(Arc::clone(&shared), None, None, None, timer);
    driver.http = Some(Box::new(exchanges));
    Ok((Lives::of(shared), driver.into_driver()))
}
