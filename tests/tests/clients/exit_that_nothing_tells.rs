//! Where the system tells nobody of the exit of a process, as on macOS and Windows, it is asked for.

use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

use mcpwire_client::ShutdownStep;
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::protocol::Config;
use mcpwire_driver::{Clock, ConnectOptions, CurrentRuntime, McpClient, Runtime, Streams, TaskFuture, Timer};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{on_every_async_adapter, server};

/// The grandchild holds standard output and error, so their end does not tell of the exit either. A server that exits quickly
/// enough may be noticed by chance: not five in a row.
fn shutdown_ends_with_the_server<H: Host>() {
    for _ in 0..5 {
        let server = server!("grandchild").patient();
        let options = ConnectOptions::new(Config::new("tests", "1")).grace_periods(server.grace_periods);
        let outcome = H::start().block_on(async {
            let client = McpClient::<Unwatched<H>>::connect_with(&server.def, options)?;
            client.initialize().await?;
            client.shutdown().await
        });
        assert_eq!(outcome.expect("it ends").last_step, ShutdownStep::CloseInput);
        server.assert_gone();
    }
}

on_every_async_adapter!(shutdown_ends_with_the_server);

/// Finds the host's runtime, and keeps the exits of processes from it.
struct Unwatched<H>(PhantomData<fn() -> H>);

impl<H: Host> CurrentRuntime for Unwatched<H> {
    fn current() -> Arc<dyn Runtime> {
        Arc::new(WithoutExits(H::Runtime::current()))
    }
}

struct WithoutExits(Arc<dyn Runtime>);

impl Runtime for WithoutExits {
    fn spawn(&self, task: TaskFuture) {
        self.0.spawn(task);
    }

    fn timer(&self) -> Box<dyn Timer> {
        self.0.timer()
    }

    fn clock(&self) -> Clock {
        self.0.clock()
    }

    fn pipes(&self, pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        self.0.pipes(pipes, None)
    }
}
