//! OAuth: whatever servers answer, whatever comes back from the browser, and whatever is in the store, each flow ends after a
//! bounded number of steps, asks only URLs that it may ask, accepts only responses to its own login, and shows no secret.

mod access;
mod device;
mod driver;
mod login;
mod machines;
mod reference;
mod refresh;
mod stored;
mod web;

use std::hash::{DefaultHasher, Hash, Hasher};

use mcpwire_oauth::{BearerChallenge, Challenge, Scopes};

use self::web::Web;

/// Plays the input: the first byte selects the flow, and the rest decides what the servers answer.
pub fn run(data: &[u8]) {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    // A part of each secret. No input contains its own hash, so a text that contains it shows a secret.
    let mut web = Web::new(data, format!("{:016x}", hasher.finish()));
    match web.input.byte() % 8 {
        0..=2 => login::run(&mut web),
        3 => device::run(&mut web),
        4 => machines::run(&mut web),
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
