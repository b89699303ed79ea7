//! From a definition to a connection.

use std::mem;
use std::sync::Arc;

use mcpwire_client::{Error, McpServerDef, construct};
use mcpwire_core::http::{Engine, Settings};
use mcpwire_core::internal::AnyEngine;

use super::Exchanges;
use crate::driver::{Driver, Loop};
use crate::options::ConnectOptions;
use crate::runtime::{Clock, Runtime, Timer};
use crate::shared::{Lives, Shared};
use crate::state::State;

/// The two halves of a connection.
pub(crate) fn assemble<R: Runtime>(
    def: &McpServerDef,
    settings: Settings,
    mut options: ConnectOptions,
    clock: Clock,
    timer: Box<dyn Timer>,
) -> Result<(Lives, Driver), Error> {
    let is_watched = options.trace.is_some();
    let client = mem::take(&mut options.http)
        .into_client(|| R::http(def))
        .map_err(|error| construct::http(def.display_name(), error))?;
    let exchanges = Exchanges::new(client, is_watched);
    let engine = AnyEngine::Http(Box::new(Engine::new(mem::take(&mut options.config), settings)));
    let shared = Shared::new(Some(Arc::new(def.clone())), clock, State::new(engine, None, None), options);
    let mut driver = Loop::new(Arc::clone(&shared), None, None, None, timer);
    driver.http = Some(Box::new(exchanges));
    Ok((Lives::of(shared), driver.into_driver()))
}
