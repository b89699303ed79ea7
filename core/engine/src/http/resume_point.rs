//! [`ResumePoint`]: after which event, and when, a broken event stream resumes.
//!
//! Specification: protocol revision 2025-11-25, basic/transports, "Resumability and Redelivery".

use alloc::string::{String, ToString};
use core::time::Duration;

use super::header_values::is_value;
use super::sse_decoder::SseDecoder;
use crate::backoff::exponential;
use crate::random::XorShift64;
use crate::time::Timestamp;

/// Delay before the first attempt to resume an event stream, if the server requested no delay: 1 s, enough for a server
/// that restarts quickly.
const FIRST_DELAY: Duration = Duration::from_secs(1);

/// Longest delay, without its random part, that the client chooses before it resumes an event stream: 1 min. A server
/// may request a longer delay.
const MAX_DELAY: Duration = Duration::from_secs(60);

/// Minimum delay before the second reopening of an event stream: 125 ms. It doubles for each further reopening, up to
/// [`MAX_MINIMUM`]. The first reopening has no minimum delay.
///
/// The minimum limits the load from a server that ends each stream at once and requests no delay.
const FIRST_MINIMUM: Duration = Duration::from_millis(125);

/// Upper bound of the minimum delay before an event stream is reopened: 1 s.
///
/// Servers that want to be polled usually request a delay of 1 s or more, so the minimum does not slow down the
/// polling.
const MAX_MINIMUM: Duration = Duration::from_secs(1);

/// Time after which a reopened event stream counts as stable: 10 s. When a stable stream breaks, the engine reopens it
/// without a minimum delay.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// How to resume a broken event stream: the id of the last event, and the state from which the delay is computed.
#[derive(Clone, Default)]
pub(super) struct ResumePoint {
    /// The id of the last event that had an id. `None` if no event had one.
    last_event_id: Option<String>,
    /// The delay before reopening the stream that the server requested in a `retry` field. `None` if it sent no such
    /// field.
    retry: Option<Duration>,
    /// Number of attempts to reopen the stream since the last message or new event id arrived on it.
    pub(super) attempts: u32,
    /// Number of consecutive attempts to reopen the stream that failed because the server was unreachable.
    unreachable: u32,
    /// Number of times that the event stream was reopened since it last stayed open for [`STABLE_AFTER`].
    ///
    /// Events do not reset this number. Otherwise, a server that ends each stream after one event would be polled
    /// without a pause.
    reopenings: u32,
    /// Time of the latest attempt to reopen the event stream. It may lie in the future. `None` if the stream never
    /// broke.
    pub(super) reopened_at: Option<Timestamp>,
}

impl ResumePoint {
    /// Returns the value for the `Last-Event-ID` header, or `None` if no event had an id.
    pub(super) fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    /// Stores the last event id and the requested delay, after `decoder` has read bytes of the event stream.
    ///
    /// `has_message` says whether those bytes completed a message. If so, or if the event id is new, the number of
    /// attempts to reopen the stream is reset to 0.
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

    /// Updates and returns the number of consecutive attempts to reopen the event stream in which the server was
    /// unreachable.
    ///
    /// `is_unreachable` says whether the latest attempt was one of these. If not, the number is reset to 0.
    pub(super) fn count_unreachable(&mut self, is_unreachable: bool) -> u32 {
        self.unreachable = if is_unreachable { self.unreachable + 1 } else { 0 };
        self.unreachable
    }

    /// Schedules the next attempt to reopen the event stream: counts the attempt, and returns its time.
    pub(super) fn next_attempt(&mut self, now: Timestamp, random: &mut XorShift64) -> Timestamp {
        if self.reopened_at.is_some_and(|at| now.duration_since(at) >= STABLE_AFTER) {
            self.reopenings = 0;
        }
        let delay = delay(self.retry, self.attempts, random);
        let minimum = minimum_delay(self.reopenings);
        let delay = if delay < minimum { minimum + random_part(random, minimum / 4) } else { delay };
        self.attempts += 1;
        self.reopenings = self.reopenings.saturating_add(1);
        self.reopened_at = Some(now + delay);
        now + delay
    }
}

/// Returns the delay before an attempt to reopen a stream.
///
/// `attempt` is the number of previous attempts without a new message or event id. `requested` is the delay that the
/// server requested.
///
/// The first attempt waits exactly as long as requested, because servers close connections in order to be polled
/// (protocol revision 2025-11-25, basic/transports, "Sending Messages to the Server"). Later attempts wait at least for
/// a delay that doubles up to [`MAX_DELAY`], and a random part is added.
fn delay(requested: Option<Duration>, attempt: u32, random: &mut XorShift64) -> Duration {
    let doubled = exponential(FIRST_DELAY, MAX_DELAY, attempt);
    match (requested, attempt) {
        (Some(requested), 0) => requested,
        (requested, _) => requested.unwrap_or_default().max(doubled).saturating_add(random_part(random, doubled / 4)),
    }
}

/// Returns the minimum delay before an event stream is reopened: zero for the first reopening, [`FIRST_MINIMUM`] for
/// the second, then twice as much each time, up to [`MAX_MINIMUM`].
///
/// `reopenings` is the number of earlier reopenings since the stream last stayed open for [`STABLE_AFTER`].
fn minimum_delay(reopenings: u32) -> Duration {
    match reopenings {
        0 => Duration::ZERO,
        reopenings => exponential(FIRST_MINIMUM, MAX_MINIMUM, reopenings - 1),
    }
}

/// Returns a random duration from 0 to `longest`, in whole milliseconds.
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
        assert!(delays[4..].iter().all(|delay| *delay >= MAX_MINIMUM && *delay <= MAX_MINIMUM * 5 / 4), "{delays:?}");
        resume.attempts = 0;
        now = now + STABLE_AFTER;
        assert_eq!(resume.next_attempt(now, &mut random), now, "a stable stream resets the minimum");
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
