//! Tests of the limit for unused bytes, and of yielding.

use std::task::{Context, Wake, Waker};

use futures_io::{AsyncRead, AsyncWrite};

use super::*;
use crate::meter::MeteredSocket;

const MIB: usize = 1 << 20;

/// A socket that is always ready, and moves at most this number of bytes at once.
struct ReadySocket(usize);

impl AsyncRead for ReadySocket {
    fn poll_read(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &mut [u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(self.0.min(buf.len())))
    }
}

impl AsyncWrite for ReadySocket {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<std::io::Result<usize>> {
        Poll::Ready(Ok(self.0.min(buf.len())))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[derive(Default)]
struct CountingWaker(AtomicUsize);

impl Wake for CountingWaker {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Reads or writes until the socket yields, three times. Returns the number of operations before each yield.
fn operations_before_yield(mut move_bytes: impl FnMut(&mut Context<'_>) -> Poll<std::io::Result<usize>>) -> [usize; 3] {
    let woken = Arc::<CountingWaker>::default();
    let waker = Waker::from(Arc::clone(&woken));
    let mut cx = Context::from_waker(&waker);
    [1, 2, 3].map(|turn| {
        let moves = (0..10_000).take_while(|_| move_bytes(&mut cx).is_ready()).count();
        assert_eq!(woken.0.load(Ordering::SeqCst), turn, "the task is woken");
        moves
    })
}

#[test]
fn a_socket_that_is_always_ready_yields_to_other_tasks() {
    let mut space = vec![0; 64 * 1024];
    for (at_once, moves) in [(8 * 1024, 4), (1024, 32), (1, 32)] {
        let mut socket = MeteredSocket::new(Box::pin(ReadySocket(at_once)), Meter::default(), Clock::system());
        assert_eq!(operations_before_yield(|cx| Pin::new(&mut socket).poll_read(cx, &mut space)), [moves; 3]);
        let mut socket = MeteredSocket::new(Box::pin(ReadySocket(at_once)), Meter::default(), Clock::system());
        assert_eq!(operations_before_yield(|cx| Pin::new(&mut socket).poll_write(cx, &space)), [moves; 3]);
    }
}

#[test]
fn unused_bytes_are_limited() {
    let (meter, now) = (Meter::default(), Timestamp::ORIGIN);
    meter.add(4 * MIB, now).unwrap();
    let error = meter.add(1, now).unwrap_err().to_string();
    assert!(error.contains("4096 KiB"), "{error}");
    meter.reset();
    meter.add(4 * MIB, now).unwrap();
}

#[test]
fn pings_on_a_connection_that_is_idle_for_months_are_allowed() {
    let (meter, start) = (Meter::default(), Timestamp::ORIGIN);
    let months = start + Duration::from_secs(5_000_000);
    // An HTTP/2 frame and its TLS record, twice a second.
    for ping in 0..10_000_000 {
        meter.add(40, start + Duration::from_millis(500 * ping)).unwrap();
    }
    // The time without bytes does not raise the limit.
    meter.add(5 * MIB, months).unwrap_err();
}
