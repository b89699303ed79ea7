//! Authorization against the authorization server of the test kit, in simulated time: one test for each pain and requirement
//! that the official suite does not cover, named after it.

mod bound_tokens;
mod clients;
mod hostile;
mod login_requests;
mod logins;
mod machines;
mod refreshes;
mod step_ups;
mod test_server;

use std::time::Duration;

use mcpwire_testkit::HttpRequest;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the grants of token requests, in order.
fn grants(requests: &[HttpRequest]) -> Vec<String> {
    requests.iter().filter_map(|request| request.parameter("grant_type")).collect()
}
