//! From a definition to a connection.

use std::mem;
use std::sync::Arc;

use mcpwire_client::{ConnectOptions, Error, McpServerDef, Transport};
use mcpwire_core::http::Engine;
use mcpwire_core::internal::AnyEngine;

use super::Exchanges;
use crate::driver::{Driver, Loop};
use crate::runtime::{Clock, Runtime, Timer};
use crate::shared::{Lives, Shared};
use crate::state::State;

/// The two halves of a connection.
pub(crate) fn assemble<R: Runtime>(
    def: &McpServerDef,
    options: ConnectOptions,
    clock: Clock,
    timer: Box<dyn Timer>,
) -> Result<(Lives, Driver), Error> {
    let mut options = options.into_parts(Some(Arc::new(def.clone())));
    let settings = options.http.settings(def)?;
    let is_watched = options.trace.is_some();
    let time = clock.clone();
    options.start_hooks(Transport::Http, move || time.now());
    let client = options.http_client(|| R::http(def))?;
    let exchanges = Exchanges::new(client, is_watched);
    let engine = AnyEngine::Http(Box::new(Engine::new(mem::take(&mut options.config), settings)));
    let shared = Shared::new(clock, State::new(engine, None, None), options);
    let mut driver = Loop::new(Arc::clone(&shared), None, None, None, timer);
    driver.http = Some(Box::new(exchanges));
    Ok((Lives::of(shared), driver.into_driver()))
}
