//! The async streams of a server that a launcher has started. Threads of this client poll them.

use std::future::Future;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use mcpwire_client::{LaunchedServer, LaunchedServerHandle, Reader, Writer};

use super::Threads;

/// Starts the threads for the streams. Also returns the handle that controls the server.
pub(crate) fn start(server: LaunchedServer) -> io::Result<(Threads, LaunchedServerHandle)> {
    let LaunchedServer { reader, writer, stderr, exit, handle } = server;
    let stderr = stderr.map(|stderr| Box::new(BlockingReader(stderr)) as Box<dyn Read + Send>);
    let mut threads = Threads::start_for_process(BlockingReader(reader), BlockingWriter(writer), stderr)?;
    threads.watch_exit(move || block_on(exit))?;
    Ok((threads, handle))
}

/// Unparks a thread.
struct ThreadUnparker(Thread);

impl Wake for ThreadUnparker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls until the result is ready. The thread is parked between polls.
fn poll_until_ready<T>(mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>) -> T {
    let waker = Waker::from(Arc::new(ThreadUnparker(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(value) = poll(&mut cx) {
            return value;
        }
        thread::park();
    }
}

fn block_on(mut future: Pin<Box<dyn Future<Output = ()> + Send>>) {
    poll_until_ready(|cx| future.as_mut().poll(cx));
}

struct BlockingReader(Reader);

impl Read for BlockingReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        poll_until_ready(|cx| self.0.as_mut().poll_read(cx, buf))
    }
}

struct BlockingWriter(Writer);

impl Write for BlockingWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        poll_until_ready(|cx| self.0.as_mut().poll_write(cx, buf))
    }

    fn flush(&mut self) -> io::Result<()> {
        poll_until_ready(|cx| self.0.as_mut().poll_flush(cx))
    }
}
