//! When a stream that was lost is opened again, and from which event on (2025-11-25, basic/transports, "Resumability and
//! Redelivery").

use alloc::string::{String, ToString};
use core::time::Duration;

use super::headers::is_value;
use super::sse_decoder::SseDecoder;
use crate::time::Timestamp;

/// The first wait where the server names none. 1 s: a server that restarts quickly is back.
const FIRST: Duration = Duration::from_secs(1);

/// The longest wait that this side chooses. 1 min: a request a minute harms no server.
const LONGEST: Duration = Duration::from_secs(60);

/// The first wait that a server cannot shorten, once it has ended a stream soon after it was opened. 125 ms.
const FIRST_FLOOR: Duration = Duration::from_millis(125);

/// The longest such wait. 1 s: servers that are polled ask for a second or more, and a request a second harms nobody.
const LONGEST_FLOOR: Duration = Duration::from_secs(1);

/// How long a stream has to stay open for the next wait to be up to the server alone. 10 s: ten times the longest floor.
const STEADY: Duration = Duration::from_secs(10);

/// Where a stream of events is resumed, and after how long.
#[derive(Clone, Debug, Default)]
pub(super) struct ResumePoint {
    last_event_id: String,
    /// The wait that the server asks for.
    retry: Option<Duration>,
    /// The number of times that the stream was opened again since it last brought something.
    attempts: u32,
    /// The number of times in a row that the server could not be reached.
    unreachable: u32,
    /// The number of times in a row that the stream was opened again soon after the time before. Events do not reset it: a server
    /// could send one each time.
    streak: u32,
    /// When the stream was opened again for the last time.
    reopened_at: Option<Timestamp>,
}

impl ResumePoint {
    /// Returns the id for `Last-Event-ID`, empty if there was none.
    pub(super) fn last_event_id(&self) -> &str {
        &self.last_event_id
    }

    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Takes over what the stream has brought so far. `has_message` tells whether a message was in the latest bytes.
    pub(super) fn progressed(&mut self, decoder: &SseDecoder, has_message: bool) {
        self.retry = decoder.retry().or(self.retry);
        // An id that a header cannot carry cannot be sent back.
        if let Some(last) = decoder.last_event_id().filter(|id| is_value(id) && *id != self.last_event_id) {
            self.last_event_id = last.to_string();
            self.attempts = 0;
        }
        if has_message {
            self.attempts = 0;
        }
    }

    /// Counts an exchange that could not be made, or one that could.
    pub(super) fn count_unreachable(&mut self, is_unreachable: bool) -> u32 {
        self.unreachable = if is_unreachable { self.unreachable + 1 } else { 0 };
        self.unreachable
    }

    /// Begins the next attempt, and returns when it is to be made.
    pub(super) fn next_attempt(&mut self, now: Timestamp, random: &mut Random) -> Timestamp {
        if self.reopened_at.is_some_and(|at| now.duration_since(at) >= STEADY) {
            self.streak = 0;
        }
        let wait = wait(self.retry, self.attempts, random);
        let floor = floor(self.streak);
        let wait = if wait < floor { floor + random.part_of(floor / 4) } else { wait };
        self.attempts += 1;
        self.streak = self.streak.saturating_add(1);
        self.reopened_at = Some(now + wait);
        now + wait
    }
}

/// Returns the wait before attempt number `attempt`, from 0, since the stream last brought something.
///
/// The wait that the server asked for is a lower bound, and the first attempt is made right then: a server that closes a
/// connection to be polled knows when (2025-11-25, basic/transports, "Sending Messages to the Server"). After that the wait
/// doubles, up to a minute, with up to a quarter added by chance, so that the clients of a server that was gone do not come back
/// all at once.
fn wait(asked: Option<Duration>, attempt: u32, random: &mut Random) -> Duration {
    let doubled = FIRST.saturating_mul(1 << attempt.min(16)).min(LONGEST);
    match (asked, attempt) {
        (Some(asked), 0) => asked,
        (asked, _) => asked.unwrap_or_default().max(doubled).saturating_add(random.part_of(doubled / 4)),
    }
}

/// Returns the shortest wait after a streak of streams that ended soon. The first of them is reopened when the server wants it to be.
fn floor(streak: u32) -> Duration {
    match streak {
        0 => Duration::ZERO,
        streak => FIRST_FLOOR.saturating_mul(1 << (streak - 1).min(16)).min(LONGEST_FLOOR),
    }
}

/// A pseudorandom generator (xorshift), from a seed that the embedder gives.
#[derive(Clone, Debug)]
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        // Zero would stay zero.
        Random((seed ^ 0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// Returns a random time, in whole milliseconds, of at most `longest`.
    fn part_of(&mut self, longest: Duration) -> Duration {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let bound = u64::try_from(longest.as_millis()).unwrap_or(0) + 1;
        Duration::from_millis((self.0 >> 11) % bound)
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_server_has_its_way_first() {
        let mut random = Random::new(1);
        let asked = Some(Duration::from_millis(500));
        assert_eq!(wait(asked, 0, &mut random), Duration::from_millis(500));
        for attempt in 0..100 {
            let waited = wait(asked, attempt, &mut random);
            assert!(waited >= Duration::from_millis(500) && waited <= LONGEST + LONGEST / 4, "{waited:?}");
        }
        assert_eq!(wait(Some(Duration::MAX), 3, &mut random), Duration::MAX);
    }

    #[test]
    fn streams_that_end_at_once_are_reopened_once_a_second() {
        let mut random = Random::new(1);
        let mut resume = ResumePoint { retry: Some(Duration::ZERO), ..ResumePoint::default() };
        let mut now = Timestamp::ORIGIN;
        let mut waits = Vec::new();
        for _ in 0..20 {
            // Each brings something.
            resume.attempts = 0;
            let at = resume.next_attempt(now, &mut random);
            waits.push(at.duration_since(now));
            now = at;
        }
        assert_eq!(waits[0], Duration::ZERO);
        assert!(waits[..5].is_sorted(), "{waits:?}");
        assert!(waits[4..].iter().all(|wait| *wait >= LONGEST_FLOOR && *wait <= LONGEST_FLOOR * 5 / 4), "{waits:?}");
        resume.attempts = 0;
        now = now + STEADY;
        assert_eq!(resume.next_attempt(now, &mut random), now, "it held for long");
    }

    #[test]
    fn waits_double_and_differ() {
        let (mut one, mut other) = (Random::new(1), Random::new(2));
        let mut differ = 0;
        for attempt in 0..8 {
            let (a, b) = (wait(None, attempt, &mut one), wait(None, attempt, &mut other));
            let base = FIRST.saturating_mul(1 << attempt).min(LONGEST);
            assert!(a >= base && a <= base + base / 4, "{attempt}: {a:?}");
            differ += usize::from(a != b);
        }
        assert!(differ > 4);
    }
}
