//! Authorization against the authorization server of the test kit, in simulated time: one test for each pain and requirement that the
//! official suite does not cover, named after it.

mod accounts;
mod addresses;
mod bound_tokens;
mod carriers;
mod client_issuers;
mod error_texts;
mod hostile;
mod login_requests;
mod logins;
mod machines;
mod program;
mod refreshes;
mod refusals;
mod registrations;
mod renewals;
mod secrecy;
mod step_ups;

use std::time::Duration;

use mcpwire_testkit::HttpRequest;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the grants of token requests, in order.
fn grants(requests: &[HttpRequest]) -> Vec<String> {
    requests.iter().filter_map(|request| request.parameter("grant_type")).collect()
}
