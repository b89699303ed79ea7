//! Where the system tells nobody of the exit of a process, as on macOS and Windows, it is asked for.

use std::io;
use std::marker::PhantomData;
use std::time::Duration;

use mcpwire_driver::core::Config;
use mcpwire_driver::core::shutdown::GracePeriods;
use mcpwire_driver::process::{ExitHandle, Pipes};
use mcpwire_driver::{Clock, ConnectOptions, Driver, McpClient, Runtime, Streams};
use mcpwire_tests::asynchronous::Host;
use mcpwire_tests::{on_every_async_adapter, server, timed};

/// The grandchild holds standard output and error, so their end does not tell of the exit either. A server that exits quickly
/// enough may be noticed by chance: not five in a row.
fn shutdown_ends_with_the_server<H: Host>() {
    for _ in 0..5 {
        let server = server!("grandchild");
        let grace_periods = GracePeriods { after_close: Duration::from_secs(40), ..GracePeriods::default() };
        let options = ConnectOptions::new(Config::new("tests", "1")).grace_periods(grace_periods);
        let (outcome, took) = timed(|| {
            H::start().block_on(async {
                let client = McpClient::<Unwatched<H>>::connect_with(&server.def, options)?;
                client.initialize().await?;
                client.shutdown().await
            })
        });
        outcome.expect("it ends");
        assert!(took < Duration::from_secs(4), "it took {took:?}");
        server.assert_gone();
    }
}

on_every_async_adapter!(shutdown_ends_with_the_server);

/// The host's runtime, which does not hear of the exit of a process.
struct Unwatched<H>(PhantomData<fn() -> H>);

impl<H: Host> Runtime for Unwatched<H> {
    type Timer = <H::Runtime as Runtime>::Timer;

    fn spawn(driver: Driver) {
        H::Runtime::spawn(driver);
    }

    fn timer() -> Self::Timer {
        H::Runtime::timer()
    }

    fn clock() -> Clock {
        H::Runtime::clock()
    }

    fn pipes(pipes: Pipes, _: Option<ExitHandle>) -> io::Result<Streams> {
        H::Runtime::pipes(pipes, None)
    }
}
