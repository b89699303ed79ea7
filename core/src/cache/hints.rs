//! What a server says of an answer's life ("Cacheable Model").

use core::time::Duration;

use crate::json::scan;

/// What a server says of an answer's life ("Cacheable Model").
#[derive(Debug, PartialEq)]
pub(super) struct Hints {
    pub(super) ttl: Duration,
    pub(super) public: bool,
    pub(super) complete: bool,
}

impl Hints {
    pub(super) fn of(message: &[u8]) -> Hints {
        let mut hints = Hints { ttl: Duration::ZERO, public: false, complete: false };
        let Some(result) = scan::members(message).find(|member| member.is("result")) else { return hints };
        hints.complete = true;
        for member in scan::members(result.value) {
            if member.is("ttlMs") {
                hints.ttl = ttl(member.value);
            } else if member.is("cacheScope") {
                hints.public = member.value == b"\"public\"";
            } else if member.is("resultType") {
                hints.complete = member.value == b"\"complete\"";
            }
        }
        hints
    }
}

/// Milliseconds as a JSON number. Absent, negative or none: no time at all. However long: as long as can be said.
fn ttl(number: &[u8]) -> Duration {
    let text = core::str::from_utf8(number).unwrap_or_default();
    let millis = match text.parse::<u64>() {
        Ok(millis) => millis,
        // `as` takes what is too large as the largest, and what is no number as none.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "that is what is wanted")]
        Err(_) => text.parse::<f64>().map_or(0, |millis| millis as u64),
    };
    Duration::from_millis(millis)
}
