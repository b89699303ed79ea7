//! [`Threads`]: a runtime that is written by hand, to show that the trait is enough.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use async_io::Async;
use mcpwire_driver::http::{ConnectFuture, Net, ResolveFuture, Socket};
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::{Runtime, Streams, TaskFuture, Timer};

/// A runtime with a thread for each task. It has no current runtime, so programs give it to
/// [`McpClient::connect_on`](mcpwire_driver::McpClient::connect_on).
#[derive(Clone, Copy, Debug)]
pub struct Threads;

impl Runtime for Threads {
    fn spawn(&self, mut task: TaskFuture) {
        thread::spawn(move || {
            let waker = Waker::from(Arc::new(Unpark(thread::current())));
            while task.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
                thread::park();
            }
        });
    }

    fn timer(&self) -> Box<dyn Timer> {
        Box::new(IoTimer(async_io::Timer::never()))
    }

    fn pipes(&self, pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        let mut streams = Streams::new(Async::new(pipes.stdout)?, Async::new(pipes.stdin)?);
        streams.stderr = Some(Box::pin(Async::new(pipes.stderr)?));
        Ok(streams)
    }
}

impl Net for Threads {
    fn resolve(&self, host: String, port: u16) -> ResolveFuture {
        Box::pin(async move { Ok((host, port).to_socket_addrs()?.collect()) })
    }

    fn connect_tcp(&self, address: SocketAddr) -> ConnectFuture {
        Box::pin(async move { Ok(Box::pin(Async::<TcpStream>::connect(address).await?) as Socket) })
    }
}

/// Wakes the thread of a task.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

struct IoTimer(async_io::Timer);

impl Timer for IoTimer {
    fn reset(&mut self, after: Duration) {
        self.0.set_after(after);
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}
