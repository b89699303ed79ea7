//! Drives flows to their end, and checks each step.

use std::fmt::Debug;

use mcpwire_oauth::{Action, Entropy, Error, Flow, Input};

use super::web::Web;

/// Maximum number of actions of a flow: a discovery asks 4 places for the metadata of the server, and 3 for each of 8 issuers.
const MAX_ACTIONS: usize = 4 + 3 * 8 + 1;

pub(super) fn entropy() -> Entropy {
    Entropy::new([7; 32])
}

/// Drives a flow to its end. Returns what it got.
pub(super) fn drive<F: Flow<Output: Debug> + Debug>(flow: &mut F, web: &mut Web<'_>) -> Option<F::Output> {
    let mut action = flow.start(web.now);
    for _ in 0..MAX_ACTIONS {
        web.check_debug(&(&*flow, &action));
        let input = match action {
            Ok(Action::Fetch(request)) => web.answer(&request),
            Ok(Action::Sign { .. }) => sign(web),
            Ok(Action::Done(output)) => {
                check_ended(flow, web);
                return Some(output);
            }
            Err(error) => {
                web.check_error(&error);
                check_ended(flow, web);
                return None;
            }
        };
        action = flow.resume(input, web.now);
    }
    panic!("the flow does not end: {:?}", web.requests);
}

/// Returns the result of a signature, which may have failed.
pub(super) fn sign(web: &mut Web<'_>) -> Input {
    if web.input.byte() == 255 { Input::Signature(Vec::new()) } else { Input::Signature(vec![1; 64]) }
}

/// A flow that has ended cannot be used again.
fn check_ended<F: Flow>(flow: &mut F, web: &Web<'_>) {
    for result in [flow.resume(Input::Signature(vec![1]), web.now), flow.start(web.now)] {
        let error: Error = match result {
            Err(error) => error,
            Ok(_) => panic!("the flow goes on after its end"),
        };
        web.check_error(&error);
    }
}
