//! `MCPWIRE_LOG`: writes spans and events of connections to standard error.

use std::env;
use std::io;

use tracing_subscriber::EnvFilter;

use crate::time::LocalTime;

/// The environment variable with the filter, such as `debug` or `mcpwire::request=debug`. Its syntax is that of `RUST_LOG`.
const VARIABLE: &str = "MCPWIRE_LOG";

/// Starts writing spans and events to standard error, if the variable is set. Invalid parts of the filter are ignored.
pub(crate) fn start() {
    let Some(filter) = env::var(VARIABLE).ok().filter(|filter| !filter.is_empty()) else { return };
    let filter = EnvFilter::builder().parse_lossy(filter);
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_timer(LocalTime);
    subscriber.with_writer(io::stderr).with_ansi(false).init();
}
