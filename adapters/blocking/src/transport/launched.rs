//! The async streams of a server that a launcher has started. Threads of this client poll them.

use std::future::poll_fn;
use std::io::{self, Read, Write};

use mcpwire_client::{LaunchedServer, LaunchedServerHandle, Reader, Writer};

use super::Threads;
use crate::block_on::block_on;

/// Starts the threads for the streams. Also returns the handle that controls the server.
pub(crate) fn start(server: LaunchedServer) -> io::Result<(Threads, LaunchedServerHandle)> {
    let LaunchedServer { reader, writer, stderr, exit, handle } = server;
    let stderr = stderr.map(|stderr| Box::new(BlockingReader(stderr)) as Box<dyn Read + Send>);
    let mut threads = Threads::start_for_process(BlockingReader(reader), BlockingWriter(writer), stderr)?;
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
