//! OAuth: whatever servers answer, whatever comes back from the browser, and whatever is in the store, each flow ends after a
//! bounded number of steps, asks only URLs that it may ask, accepts only responses to its own login, and shows no secret.

mod access;
mod grants;
mod login;
mod stored;
mod web;

use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};

use mcpwire_oauth::{Action, BearerChallenge, Challenge, Entropy, Error, Flow, Input, Scopes};

use self::web::Web;

/// Plays the input: the first byte selects the flow, and the rest decides what the servers answer.
pub fn run(data: &[u8]) {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    // A part of each secret. No input contains its own hash, so a text that contains it shows a secret.
    let mut web = Web::new(data, format!("{:016x}", hasher.finish()));
    match web.input.byte() % 8 {
        0..=2 => login::run(&mut web),
        3 => grants::log_in_on_a_device(&mut web),
        4 => grants::request_without_a_user(&mut web),
        5 => stored::run(&mut web),
        6 => access::run(&mut web),
        _ => challenge(web.input.rest()),
    }
}

/// Challenges of any bytes are read, and what is read was in the header.
fn challenge(header: &[u8]) {
    let text = String::from_utf8_lossy(header);
    let headers: Vec<&str> = text.split('\n').collect();
    let challenges = Challenge::parse_all(headers.iter().copied());
    let size: usize = challenges
        .iter()
        .map(|challenge| {
            let token68 = challenge.token68.as_ref().map_or(0, String::len);
            let params: usize = challenge.params.iter().map(|(name, value)| name.len() + value.len()).sum();
            challenge.scheme.len() + token68 + params
        })
        .sum();
    assert!(size <= text.len(), "more than was sent");
    for challenge in &challenges {
        assert!(!challenge.scheme.is_empty());
        assert!(challenge.params.iter().all(|(name, _)| !name.is_empty() && *name == name.to_ascii_lowercase()));
    }
    let relevant = challenges.iter().any(|challenge| challenge.has_scheme("Bearer") || challenge.has_scheme("DPoP"));
    let read = BearerChallenge::parse(headers);
    assert_eq!(read.is_some(), relevant);
    if let Some(scopes) = read.and_then(|read| read.scopes) {
        assert!(!scopes.is_empty() && scopes.len() <= Scopes::MAX);
        assert!(scopes.iter().all(|scope| scope.len() <= Scopes::MAX_LENGTH && scope.is_ascii()));
        assert_eq!(Scopes::parse(&scopes.to_string()), scopes);
    }
}

/// Maximum number of actions of a flow: a discovery asks 4 places for the metadata of the server, and 3 for each of 8 issuers.
const MAX_ACTIONS: usize = 4 + 3 * 8 + 1;

fn entropy() -> Entropy {
    Entropy::new([7; 32])
}

/// Drives a flow to its end. Returns what it got.
fn drive<F: Flow<Output: Debug> + Debug>(flow: &mut F, web: &mut Web<'_>) -> Option<F::Output> {
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
fn sign(web: &mut Web<'_>) -> Input {
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
