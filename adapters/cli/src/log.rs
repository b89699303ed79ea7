//! `MCPWIRE_LOG`: writes `tracing` spans and events of connections to standard error.

use std::env;
use std::io;

use tracing_subscriber::EnvFilter;

use crate::time::LocalTime;

/// Environment variable that turns on the output of `tracing`. Its value is a filter with the syntax of `RUST_LOG`, such as
/// `debug` or `mcpwire::request=debug`.
const VARIABLE: &str = "MCPWIRE_LOG";

/// Starts writing `tracing` spans and events to standard error if the environment variable `MCPWIRE_LOG` is set. Invalid parts
/// of the filter in the variable are ignored.
pub(crate) fn start() {
    let Some(filter) = env::var(VARIABLE).ok().filter(|filter| !filter.is_empty()) else { return };
    let filter = EnvFilter::builder().parse_lossy(filter);
    let subscriber = tracing_subscriber::fmt().with_env_filter(filter).with_timer(LocalTime);
    subscriber.with_writer(io::stderr).with_ansi(false).init();
}
