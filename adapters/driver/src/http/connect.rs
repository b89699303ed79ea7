//! From a definition to a connection.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

use mcpwire_core::http::{Engine, Settings};
use mcpwire_process::{Error, HttpSetupError, McpServerDef, StderrLines, Tracer};

use super::{Exchanges, HttpOptions};
use crate::driver::Driver;
use crate::engine;
use crate::options::ConnectOptions;
use crate::runtime::{Clock, Runtime, Timer};
use crate::shared::{Life, Shared, Watchers};
use crate::state::State;

/// What requests say of who makes them, unless the definition has another.
const AGENT: &str = concat!("mcpwire/", env!("CARGO_PKG_VERSION"));

/// What the definition says of a server, and the options.
pub(crate) fn settings(def: &McpServerDef, url: &str, options: &HttpOptions) -> Result<Settings, Error> {
    let wrong = |error: mcpwire_core::http::SettingsError| Error::Http {
        server: def.display_name().into(),
        error: HttpSetupError::Settings(error.to_string()),
    };
    let mut settings = Settings::new(url).map_err(wrong)?;
    settings.listen = options.listen;
    settings.flavour = options.flavour;
    settings.seed = RandomState::new().build_hasher().finish();
    settings.header("User-Agent", AGENT).map_err(wrong)?;
    for (name, value) in &def.headers {
        settings.header(name, value).map_err(wrong)?;
    }
    Ok(settings)
}

/// The two halves of a connection.
pub(crate) fn assemble<R: Runtime>(
    def: &McpServerDef,
    settings: Settings,
    options: ConnectOptions,
    clock: Clock,
    timer: Box<dyn Timer>,
) -> Result<(Life, Driver), Error> {
    let ConnectOptions { config, patience, stderr, trace, trace_context, handlers, http } = options;
    let client = match http.client {
        Some(client) => client,
        None => R::http().map_err(|error| Error::Http { server: def.display_name().into(), error })?,
    };
    let exchanges = Exchanges::new(client, http.tokens, trace.is_some());
    let engine = engine::Engine::Http(Box::new(Engine::new(config, settings)));
    let watchers = Watchers { lines: StderrLines::new(stderr), tracer: trace.map(Tracer::new) };
    let state = State::new(engine, None, None);
    let shared = Arc::new(Shared::new(Some(def.clone()), patience, clock, handlers, trace_context, state, watchers));
    let mut driver = Driver::new(Arc::clone(&shared), None, None, None, timer);
    driver.http = Some(Box::new(exchanges));
    Ok((Life(shared), driver))
}
