//! Connects to a server that the program's launcher has started. Its streams are async, so threads of this client poll them.

use std::future::{Future, poll_fn};
use std::io::{self, Read, Write};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use mcpwire_client::{LaunchedServer, LaunchedServerHandle, Reader, Writer};
use mcpwire_process::EndOfStream;

use super::Threads;

/// Starts the threads that poll the streams and the exit of a launched server. Returns the transport, and the handle with which
/// the client terminates and kills the server.
pub(crate) fn start(server: LaunchedServer) -> io::Result<(Threads, LaunchedServerHandle)> {
    let LaunchedServer { reader, writer, stderr, exit, handle } = server;
    let stderr = stderr.map(|stderr| Box::new(BlockingReader(stderr)) as Box<dyn Read + Send>);
    let (reader, writer) = (BlockingReader(reader), BlockingWriter(writer));
    let mut threads = Threads::start(reader, writer, stderr, EndOfStream::of_process())?;
    threads.watch_exit(move || block_on(exit))?;
    Ok((threads, handle))
}

struct BlockingReader(Reader);

impl Read for BlockingReader {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        block_on(poll_fn(|cx| self.0.as_mut().poll_read(cx, buf)))
    }
}

struct BlockingWriter(Writer);

impl Write for BlockingWriter {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        block_on(poll_fn(|cx| self.0.as_mut().poll_write(cx, buf)))
    }

    fn flush(&mut self) -> io::Result<()> {
        block_on(poll_fn(|cx| self.0.as_mut().poll_flush(cx)))
    }
}

/// Runs a future to its end on this thread, and returns its output. Use it for async functions such as `OAuth::login`.
#[cfg_attr(not(feature = "http"), expect(unreachable_pub, reason = "only the module `http` exports it"))]
pub fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut cx) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
