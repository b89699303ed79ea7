//! [`ResumePoint`]: the event after which a broken event stream resumes, and when (2025-11-25, basic/transports, "Resumability and
//! Redelivery").

use alloc::string::{String, ToString};
use core::time::Duration;

use super::header_values::is_value;
use super::sse_decoder::SseDecoder;
use crate::backoff::exponential;
use crate::random::XorShift64;
use crate::time::Timestamp;

/// The delay before the first attempt if the server names none. 1 s: a server that restarts quickly is back by then.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// Maximum delay that the client chooses. 1 min: a request a minute harms no server.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Minimum delay after a stream that ended soon after it was reopened, whatever the server asks for. Doubles with each such
/// stream. 125 ms.
const FIRST_FLOOR: Duration = Duration::from_millis(125);

/// Maximum of that minimum delay. 1 s: servers that want to be polled ask for a second or more, and a request a second harms no
/// server.
const MAX_FLOOR: Duration = Duration::from_secs(1);

/// How long a stream must stay open so that the server alone decides the next delay. 10 s: ten times [`MAX_FLOOR`].
const STEADY: Duration = Duration::from_secs(10);

/// The state of an event stream that may break and resume.
#[derive(Clone, Debug, Default)]
pub(super) struct ResumePoint {
    /// The id of the last event that had one.
    last_event_id: Option<String>,
    /// The delay that the server asks for.
    retry: Option<Duration>,
    /// The number of attempts to reopen the stream since it last made progress.
    attempts: u32,
    /// The number of consecutive attempts that did not reach the server.
    unreachable: u32,
    /// The number of consecutive reopened streams that ended soon. Events do not reset it, because a server could send one event
    /// each time.
    streak: u32,
    /// When the stream was last reopened.
    reopened_at: Option<Timestamp>,
}

impl ResumePoint {
    /// Returns the value for the `Last-Event-ID` header.
    pub(super) fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// Returns the number of attempts to reopen the stream since it last made progress.
    pub(super) fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Handles bytes of the stream, which `decoder` has read. `has_message` says whether they completed a message.
    pub(super) fn progressed(&mut self, decoder: &SseDecoder, has_message: bool) {
        self.retry = decoder.retry().or(self.retry);
        // The client cannot send back an id that a header cannot carry.
        let id = decoder.last_event_id().filter(|id| is_value(id));
        if let Some(id) = id.filter(|id| self.last_event_id() != Some(id)) {
            self.last_event_id = Some(id.to_string());
            self.attempts = 0;
        }
        if has_message {
            self.attempts = 0;
        }
    }

    /// Counts an attempt that did not reach the server, or resets the count. Returns the number of consecutive such attempts.
    pub(super) fn count_unreachable(&mut self, is_unreachable: bool) -> u32 {
        self.unreachable = if is_unreachable { self.unreachable + 1 } else { 0 };
        self.unreachable
    }

    /// Counts the next attempt, and returns when to reopen the stream.
    pub(super) fn next_attempt(&mut self, now: Timestamp, random: &mut XorShift64) -> Timestamp {
        if self.reopened_at.is_some_and(|at| now.duration_since(at) >= STEADY) {
            self.streak = 0;
        }
        let delay = delay(self.retry, self.attempts, random);
        let floor = floor(self.streak);
        let delay = if delay < floor { floor + random_part(random, floor / 4) } else { delay };
        self.attempts += 1;
        self.streak = self.streak.saturating_add(1);
        self.reopened_at = Some(now + delay);
        now + delay
    }
}

/// Returns the delay before an attempt. `attempt` counts from 0 since the stream last made progress.
///
/// The delay that the server asks for is exact for the first attempt: a server that closes a connection to be polled knows when
/// (2025-11-25, basic/transports, "Sending Messages to the Server"). For later attempts it is a minimum, and the delay doubles up
/// to [`MAX_DELAY`]. A random part of up to a quarter keeps the clients of a restarted server from coming back all at once.
fn delay(asked: Option<Duration>, attempt: u32, random: &mut XorShift64) -> Duration {
    let doubled = exponential(FIRST_DELAY, MAX_DELAY, attempt);
    match (asked, attempt) {
        (Some(asked), 0) => asked,
        (asked, _) => asked.unwrap_or_default().max(doubled).saturating_add(random_part(random, doubled / 4)),
    }
}

/// Returns the minimum delay after `streak` consecutive streams that ended soon. There is none for the first reopening.
fn floor(streak: u32) -> Duration {
    match streak {
        0 => Duration::ZERO,
        streak => exponential(FIRST_FLOOR, MAX_FLOOR, streak - 1),
    }
}

/// Returns a random duration of at most `longest`, in whole milliseconds.
fn random_part(random: &mut XorShift64, longest: Duration) -> Duration {
    let longest = u64::try_from(longest.as_millis()).unwrap_or(0);
    Duration::from_millis(random.below(longest + 1))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn the_first_delay_is_the_one_that_the_server_asks_for() {
        let mut random = XorShift64::new(1);
        let asked = Some(Duration::from_millis(500));
        assert_eq!(delay(asked, 0, &mut random), Duration::from_millis(500));
        for attempt in 0..100 {
            let delayed = delay(asked, attempt, &mut random);
            assert!(delayed >= Duration::from_millis(500) && delayed <= MAX_DELAY + MAX_DELAY / 4, "{delayed:?}");
        }
        assert_eq!(delay(Some(Duration::MAX), 3, &mut random), Duration::MAX);
    }

    #[test]
    fn streams_that_end_at_once_are_reopened_once_a_second() {
        let mut random = XorShift64::new(1);
        let mut resume = ResumePoint { retry: Some(Duration::ZERO), ..ResumePoint::default() };
        let mut now = Timestamp::ORIGIN;
        let mut delays = Vec::new();
        for _ in 0..20 {
            // Each stream makes progress.
            resume.attempts = 0;
            let at = resume.next_attempt(now, &mut random);
            delays.push(at.duration_since(now));
            now = at;
        }
        assert_eq!(delays[0], Duration::ZERO);
        assert!(delays[..5].is_sorted(), "{delays:?}");
        assert!(delays[4..].iter().all(|delay| *delay >= MAX_FLOOR && *delay <= MAX_FLOOR * 5 / 4), "{delays:?}");
        resume.attempts = 0;
        now = now + STEADY;
        assert_eq!(resume.next_attempt(now, &mut random), now, "a steady stream resets the streak");
    }

    #[test]
    fn delays_double_and_differ() {
        let (mut one, mut other) = (XorShift64::new(1), XorShift64::new(2));
        let mut differ = 0;
        for attempt in 0..8 {
            let (a, b) = (delay(None, attempt, &mut one), delay(None, attempt, &mut other));
            let base = FIRST_DELAY.saturating_mul(1 << attempt).min(MAX_DELAY);
            assert!(a >= base && a <= base + base / 4, "{attempt}: {a:?}");
            differ += usize::from(a != b);
        }
        assert!(differ > 4);
    }
}
