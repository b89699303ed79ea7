//! The runtimes that the suite runs on.

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use async_io::Async;
use mcpwire_driver::http::{ConnectFuture, HttpClient, Net, ResolveFuture, Socket};
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::{
    Clock, ConnectOptions, CurrentRuntime, Error, HttpSetupError, McpClient, McpServerDef, Open, Runtime, Streams,
    TaskFuture, Timer,
};
use mcpwire_reqwest::ReqwestClient;
use smol::Unblock;

/// A runtime of the suite's, which runs what it is given.
pub trait Host: Sized + Send + 'static {
    /// What the client is made for.
    type Runtime: CurrentRuntime;
    /// A runtime of its own.
    fn start() -> Self;
    /// Runs a future to its end, and all that was spawned meanwhile.
    fn block_on<F: Future>(&self, future: F) -> F::Output;
    /// Runs a function where the runtime is the current one.
    fn enter<T>(&self, f: impl FnOnce() -> T) -> T {
        self.block_on(async { f() })
    }
    /// The runtime in which it is called, for an HTTP client.
    fn net() -> Arc<dyn Net>;
    /// A client over a socket, made within the runtime.
    fn over(socket: TcpStream, options: ConnectOptions) -> McpClient<Self::Runtime>;
    /// The function of this name.
    fn open(def: impl Into<McpServerDef>) -> Open<Self::Runtime>;
    /// The function of this name.
    fn with_client<T>(
        def: &McpServerDef,
        f: impl AsyncFnOnce(&McpClient<Self::Runtime>) -> T,
    ) -> impl Future<Output = Result<T, Error>>;
    /// A future that is pending for a while.
    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send;
    /// Runs a future beside what is blocked on.
    fn spawn(future: impl Future<Output = ()> + Send + 'static);
}

/// tokio on so many threads of its own; on none, it runs on the thread that calls.
pub struct Tokio<const THREADS: usize>(tokio::runtime::Runtime);

/// tokio on the thread that calls.
pub type TokioCurrent = Tokio<0>;

/// tokio on threads of its own.
pub type TokioMulti = Tokio<2>;

/// tokio on threads of its own, with the HTTP client of reqwest.
pub struct TokioReqwest(TokioMulti);

/// smol.
pub struct Smol;

/// async-std.
pub struct AsyncStd;

impl<const THREADS: usize> Host for Tokio<THREADS> {
    type Runtime = mcpwire_tokio::Tokio;

    fn start() -> Self {
        let mut builder = match THREADS {
            0 => tokio::runtime::Builder::new_current_thread(),
            _ => tokio::runtime::Builder::new_multi_thread(),
        };
        Tokio(builder.worker_threads(THREADS.max(1)).enable_all().build().expect("there is a runtime"))
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn net() -> Arc<dyn Net> {
        Arc::new(mcpwire_tokio::Tokio::new(tokio::runtime::Handle::current()))
    }

    fn over(socket: TcpStream, options: ConnectOptions) -> McpClient<Self::Runtime> {
        over_tokio(socket, options)
    }

    fn open(def: impl Into<McpServerDef>) -> Open<Self::Runtime> {
        mcpwire_tokio::open(def)
    }

    async fn with_client<T>(
        def: &McpServerDef,
        f: impl AsyncFnOnce(&McpClient<Self::Runtime>) -> T,
    ) -> Result<T, Error> {
        mcpwire_tokio::with_client(def, f).await
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        tokio::time::sleep(duration)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        tokio::spawn(future);
    }
}

/// tokio, with the HTTP client of reqwest in place of its own.
pub struct Reqwest(Arc<dyn Runtime>);

impl CurrentRuntime for Reqwest {
    fn current() -> Arc<dyn Runtime> {
        Arc::new(Reqwest(mcpwire_tokio::Tokio::current()))
    }
}

impl Runtime for Reqwest {
    fn spawn(&self, task: TaskFuture) {
        self.0.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        self.0.timer()
    }

    fn clock(&self) -> Clock {
        self.0.clock()
    }

    fn has_own_threads(&self) -> bool {
        self.0.has_own_threads()
    }

    fn pipes(&self, pipes: Pipes, exit: Option<ExitHandle>) -> io::Result<Streams> {
        self.0.pipes(pipes, exit)
    }

    fn http_client(&self, _: &McpServerDef) -> Result<Arc<dyn HttpClient>, HttpSetupError> {
        let client = ReqwestClient::from_builder(reqwest::Client::builder());
        Ok(Arc::new(client.map_err(|error| HttpSetupError::Client(error.to_string()))?))
    }
}

impl Host for TokioReqwest {
    type Runtime = Reqwest;

    fn start() -> Self {
        TokioReqwest(TokioMulti::start())
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        self.0.block_on(future)
    }

    fn net() -> Arc<dyn Net> {
        TokioMulti::net()
    }

    fn over(socket: TcpStream, options: ConnectOptions) -> McpClient<Self::Runtime> {
        let (reader, writer) = tokio_stream(socket).into_split();
        McpClient::over(mcpwire_tokio::Compat(reader), mcpwire_tokio::Compat(writer), options)
    }

    fn open(def: impl Into<McpServerDef>) -> Open<Self::Runtime> {
        mcpwire_driver::open(def)
    }

    async fn with_client<T>(
        def: &McpServerDef,
        f: impl AsyncFnOnce(&McpClient<Self::Runtime>) -> T,
    ) -> Result<T, Error> {
        mcpwire_driver::with_client(def, f).await
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        TokioMulti::sleep(duration)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        TokioMulti::spawn(future);
    }
}

impl Host for Smol {
    type Runtime = mcpwire_smol::Smol;

    fn start() -> Self {
        Smol
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        async_io::block_on(future)
    }

    fn net() -> Arc<dyn Net> {
        Arc::new(mcpwire_smol::Smol)
    }

    fn over(socket: TcpStream, options: ConnectOptions) -> McpClient<Self::Runtime> {
        let reader = socket.try_clone().expect("there are descriptors");
        let stream = |socket| Async::new(socket).expect("it is a socket");
        McpClient::over(stream(reader), stream(socket), options)
    }

    fn open(def: impl Into<McpServerDef>) -> Open<Self::Runtime> {
        mcpwire_smol::open(def)
    }

    async fn with_client<T>(
        def: &McpServerDef,
        f: impl AsyncFnOnce(&McpClient<Self::Runtime>) -> T,
    ) -> Result<T, Error> {
        mcpwire_smol::with_client(def, f).await
    }

    async fn sleep(duration: Duration) {
        async_io::Timer::after(duration).await;
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        smol::spawn(future).detach();
    }
}

impl Host for AsyncStd {
    type Runtime = mcpwire_async_std::AsyncStd;

    fn start() -> Self {
        AsyncStd
    }

    fn block_on<F: Future>(&self, future: F) -> F::Output {
        async_std::task::block_on(future)
    }

    fn net() -> Arc<dyn Net> {
        Arc::new(mcpwire_async_std::AsyncStd)
    }

    fn over(socket: TcpStream, options: ConnectOptions) -> McpClient<Self::Runtime> {
        let socket = async_std::net::TcpStream::from(socket);
        McpClient::over(socket.clone(), socket, options)
    }

    fn open(def: impl Into<McpServerDef>) -> Open<Self::Runtime> {
        mcpwire_async_std::open(def)
    }

    async fn with_client<T>(
        def: &McpServerDef,
        f: impl AsyncFnOnce(&McpClient<Self::Runtime>) -> T,
    ) -> Result<T, Error> {
        mcpwire_async_std::with_client(def, f).await
    }

    fn sleep(duration: Duration) -> impl Future<Output = ()> + Send {
        async_std::task::sleep(duration)
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        drop(async_std::task::spawn(future));
    }
}

fn over_tokio(socket: TcpStream, options: ConnectOptions) -> mcpwire_tokio::McpClient {
    let (reader, writer) = tokio_stream(socket).into_split();
    McpClient::over(mcpwire_tokio::Compat(reader), mcpwire_tokio::Compat(writer), options)
}

fn tokio_stream(socket: TcpStream) -> tokio::net::TcpStream {
    socket.set_nonblocking(true).expect("it is a socket");
    tokio::net::TcpStream::from_std(socket).expect("it is a socket")
}

// A runtime that is written by hand, to show that the trait is enough.

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
        let mut streams = Streams::new(Unblock::new(pipes.stdout), Unblock::new(pipes.stdin));
        streams.stderr = Some(Box::pin(Unblock::new(pipes.stderr)));
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
