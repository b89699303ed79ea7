//! What an error says of the server's process does not depend on when it is asked for.

use std::sync::mpsc::channel;
use std::thread;

use ::smol::block_on;
use mcpwire_driver::ErrorKind;
use mcpwire_driver::protocol::{CallTool, CallToolParams, RequestOptions};
use mcpwire_tests::asynchronous::{Async, Host};
use mcpwire_tests::{Adapter, on_every_async_adapter, server};

/// The last line, which is handed on when the process has gone: the driver holds no lock then, and is not done either.
fn also_while_the_driver_says_that_it_has_gone<H: Host>() {
    let server = server!("closes-stdout");
    let (goes, gone) = channel();
    let (tell, told) = channel();
    let mut client = Async::<H>::start_with(&server, |options| {
        options.stderr(move |line| {
            if line.contains("told to go") {
                goes.send(()).expect("somebody waits");
                told.recv().expect("the call ends while this line is handed on");
            }
        })
    });
    client.initialize().expect("it opens");
    let (host, client) = client.into_parts();
    let call = client
        .begin::<CallTool>(&CallToolParams { name: "echo", arguments: &() }, &RequestOptions::default())
        .expect("it is sent");
    let late = thread::spawn(move || {
        gone.recv().expect("the server is told to go");
        let error = block_on(call).expect_err("it has no answer");
        tell.send(()).expect("the driver waits");
        error
    });
    let error = host.block_on(::smol::unblock(move || late.join())).expect("it does not panic");
    assert_eq!(error.kind(), ErrorKind::Closed, "{error}");
    let process = error.process().expect("there was a process");
    assert!(process.exit().is_some(), "{error}");
    assert!(process.stderr_tail().contains("I shall say no more"), "{error}");
}

on_every_async_adapter!(also_while_the_driver_says_that_it_has_gone);
