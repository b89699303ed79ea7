//! [`ConnectionRace`]: decides when to connect to which address of a host (Happy Eyeballs, RFC 8305). It does no I/O.
//!
//! * The addresses come from the system's resolver, which sorts them by RFC 6724. The race alternates between IPv6 and IPv4, and
//!   starts with the family of the first address (section 4).
//! * An attempt starts 250 ms after the previous attempt has started, or as soon as an attempt fails. Earlier attempts continue.
//!   The caller uses the first connection, and drops the other attempts (section 5).
//! * The resolver returns all addresses together, so no address arrives during the race (sections 3 and 6).

use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use mcpwire_driver::protocol::Timestamp;

/// Time from the start of an attempt to the start of the next attempt, if no attempt fails. 250 ms, as RFC 8305 recommends
/// (section 8).
pub(crate) const ATTEMPT_DELAY: Duration = Duration::from_millis(250);

/// Maximum number of addresses that an error message lists. 8: a name may have thousands of addresses.
const MAX_LISTED: usize = 8;

/// Decides when to connect to which address of a host. The caller makes the connections.
#[derive(Debug)]
pub(crate) struct ConnectionRace {
    /// The addresses that were not tried yet, in the order in which to try them.
    waiting: VecDeque<SocketAddr>,
    attempts: Vec<Attempt>,
    /// When the next attempt starts, if `waiting` is not empty.
    next_start: Timestamp,
    /// When the race fails, even if attempts are running or addresses are left.
    deadline: Timestamp,
}

#[derive(Debug)]
struct Attempt {
    address: SocketAddr,
    /// Why the attempt has failed. `None` while the attempt is running.
    error: Option<io::Error>,
}

/// What the caller of a [`ConnectionRace`] must do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RaceStep {
    /// Start to connect to this address. Number the attempts from 0 in this order, for [`ConnectionRace::failed`].
    Start(SocketAddr),
    /// Wait until this time, or until an attempt succeeds or fails.
    Wait(Timestamp),
    /// All attempts have failed, and no address is left.
    Failed,
    /// The deadline has passed before an attempt succeeded.
    TimedOut,
}

impl ConnectionRace {
    /// Creates a race between these addresses. The first attempt starts at once, and the race ends at `deadline`.
    pub(crate) fn new(addresses: Vec<SocketAddr>, now: Timestamp, deadline: Timestamp) -> Self {
        ConnectionRace { waiting: interleave(addresses), attempts: Vec::new(), next_start: now, deadline }
    }

    /// Returns what the caller must do now. Call this again after each [`RaceStep::Start`], after the time of a
    /// [`RaceStep::Wait`], and after [`ConnectionRace::failed`].
    pub(crate) fn poll(&mut self, now: Timestamp) -> RaceStep {
        if self.deadline <= now {
            return RaceStep::TimedOut;
        }
        if self.waiting.is_empty() {
            let is_running = self.attempts.iter().any(|attempt| attempt.error.is_none());
            return if is_running { RaceStep::Wait(self.deadline) } else { RaceStep::Failed };
        }
        if self.next_start <= now
            && let Some(address) = self.waiting.pop_front()
        {
            self.next_start = now + ATTEMPT_DELAY;
            self.attempts.push(Attempt { address, error: None });
            return RaceStep::Start(address);
        }
        RaceStep::Wait(self.next_start.min(self.deadline))
    }

    /// Records that the attempt with this number has failed. The next attempt then starts at once.
    pub(crate) fn failed(&mut self, attempt: usize, error: io::Error, now: Timestamp) {
        if let Some(attempt) = self.attempts.get_mut(attempt) {
            attempt.error = Some(error);
        }
        self.next_start = now;
    }

    /// Returns a text for each address that was tried, with the address and its error, for an error message. Lists at most
    /// [`MAX_LISTED`] addresses, and then the number of the others.
    pub(crate) fn outcomes(&self) -> Vec<String> {
        let mut outcomes: Vec<_> = self.attempts.iter().take(MAX_LISTED).map(Attempt::outcome).collect();
        match self.attempts.len() - outcomes.len() {
            0 => {}
            more => outcomes.push(format!("{more} more addresses")),
        }
        outcomes
    }
}

impl Attempt {
    fn outcome(&self) -> String {
        match &self.error {
            Some(error) => format!("{}: {error}", self.address),
            None => format!("{}: no answer", self.address),
        }
    }
}

/// Sorts addresses so that IPv6 and IPv4 alternate, starting with the family of the first address. Keeps the order within a
/// family.
fn interleave(addresses: Vec<SocketAddr>) -> VecDeque<SocketAddr> {
    let starts_with_ipv6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (first, second): (Vec<_>, Vec<_>) =
        addresses.into_iter().partition(|address| address.is_ipv6() == starts_with_ipv6);
    let (mut first, mut second) = (first.into_iter(), second.into_iter());
    let mut order = VecDeque::with_capacity(first.len() + second.len());
    while first.len() + second.len() > 0 {
        order.extend(first.next());
        order.extend(second.next());
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v6(n: u16) -> SocketAddr {
        ([0x2001, 0xdb8, 0, 0, 0, 0, 0, n], 443).into()
    }

    fn v4(n: u8) -> SocketAddr {
        ([192, 0, 2, n], 443).into()
    }

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_origin(Duration::from_millis(millis))
    }

    fn race(addresses: impl Into<Vec<SocketAddr>>) -> ConnectionRace {
        ConnectionRace::new(addresses.into(), at(0), at(10_000))
    }

    fn refused() -> io::Error {
        io::Error::new(io::ErrorKind::ConnectionRefused, "refused")
    }

    /// Returns the times and addresses of all attempts, if none of them ends.
    fn starts(mut race: ConnectionRace) -> Vec<(Timestamp, SocketAddr)> {
        let (mut now, mut starts) = (at(0), Vec::new());
        loop {
            match race.poll(now) {
                RaceStep::Start(address) => starts.push((now, address)),
                RaceStep::Wait(until) => {
                    assert!(until > now, "the race waits for the past");
                    now = until;
                }
                RaceStep::TimedOut => return starts,
                RaceStep::Failed => panic!("no attempt has failed"),
            }
        }
    }

    #[test]
    fn the_families_alternate_and_the_family_of_the_first_address_is_first() {
        assert_eq!(interleave(vec![v6(1), v6(2), v6(3), v4(1), v4(2)]), [v6(1), v4(1), v6(2), v4(2), v6(3)]);
        assert_eq!(interleave(vec![v4(1), v4(2), v6(1)]), [v4(1), v6(1), v4(2)]);
        assert_eq!(interleave(vec![v4(1), v6(1), v6(2), v6(3)]), [v4(1), v6(1), v6(2), v6(3)]);
        assert_eq!(interleave(vec![v4(2), v4(1)]), [v4(2), v4(1)]);
        assert_eq!(interleave(Vec::new()), []);
    }

    #[test]
    fn each_attempt_gets_a_quarter_of_a_second_before_the_next_one_starts() {
        let expected = [(at(0), v6(1)), (at(250), v4(1)), (at(500), v6(2)), (at(750), v4(2))];
        assert_eq!(starts(race([v6(1), v6(2), v4(1), v4(2)])), expected);
    }

    #[test]
    fn a_failure_starts_the_next_attempt_at_once_and_the_delay_anew() {
        let mut race = race([v6(1), v4(1), v6(2), v4(2)]);
        assert_eq!(race.poll(at(0)), RaceStep::Start(v6(1)));
        race.failed(0, refused(), at(10));
        assert_eq!(race.poll(at(10)), RaceStep::Start(v4(1)));
        assert_eq!(race.poll(at(10)), RaceStep::Wait(at(260)));
        assert_eq!(race.poll(at(260)), RaceStep::Start(v6(2)));
        // An earlier attempt may fail while a later one runs.
        race.failed(1, refused(), at(300));
        assert_eq!(race.poll(at(300)), RaceStep::Start(v4(2)));
        assert_eq!(race.poll(at(300)), RaceStep::Wait(at(10_000)));
    }

    #[test]
    fn the_race_fails_when_no_attempt_is_left_and_names_each_address() {
        let mut race = race([v6(1), v4(1)]);
        assert_eq!(race.poll(at(0)), RaceStep::Start(v6(1)));
        assert_eq!(race.poll(at(250)), RaceStep::Start(v4(1)));
        race.failed(1, refused(), at(260));
        assert_eq!(race.poll(at(260)), RaceStep::Wait(at(10_000)));
        assert_eq!(race.outcomes(), ["[2001:db8::1]:443: no answer", "192.0.2.1:443: refused"]);
        race.failed(0, refused(), at(300));
        assert_eq!(race.poll(at(300)), RaceStep::Failed);
        assert_eq!(race.outcomes(), ["[2001:db8::1]:443: refused", "192.0.2.1:443: refused"]);
    }

    #[test]
    fn the_deadline_ends_all_attempts_however_many_addresses_there_are() {
        let addresses: Vec<_> = (0..1000).map(v6).collect();
        let starts = starts(race(addresses));
        assert_eq!((starts.len(), starts.last()), (40, Some(&(at(9750), v6(39)))));
        let mut late = ConnectionRace::new(vec![v6(1)], at(10_000), at(10_000));
        assert_eq!(late.poll(at(10_000)), RaceStep::TimedOut);
    }

    #[test]
    fn an_error_lists_few_addresses() {
        let mut race = race((0..1000).map(v6).collect::<Vec<_>>());
        for attempt in 0..1000 {
            assert!(matches!(race.poll(at(0)), RaceStep::Start(_)));
            race.failed(attempt, refused(), at(0));
        }
        assert_eq!(race.poll(at(0)), RaceStep::Failed);
        let outcomes = race.outcomes();
        assert_eq!((outcomes.len(), outcomes.last().map(String::as_str)), (9, Some("992 more addresses")));
    }
}
