//! Servers that end, in part or in whole, when they should not.

use std::process;

use rustix::process::{Signal, getpid, kill_process};

use crate::server::{self, Manners};
use crate::sleep_for_ever;
use crate::wire::{Message, Wire};

/// A way to die.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Exit(i32),
    Kill,
}

impl End {
    fn now(self) {
        match self {
            Self::Exit(code) => process::exit(code),
            Self::Kill => {
                kill_process(getpid(), Signal::KILL).expect("a process may signal itself");
                sleep_for_ever();
            }
        }
    }
}

pub(crate) struct Exits(pub(crate) i32);

impl Manners for Exits {
    fn begin(&mut self, _wire: &mut Wire) {
        eprintln!("bad-habits: cannot find my configuration");
        End::Exit(self.0).now();
    }
}

pub(crate) struct DiesInCall(pub(crate) End);

impl Manners for DiesInCall {
    fn call_tool(&mut self, _wire: &mut Wire, request: &Message) {
        eprintln!("bad-habits: {} was called", request.tool());
        eprintln!("bad-habits: this is more than I can bear");
        self.0.now();
    }
}

pub(crate) struct DiesMidLine;

impl Manners for DiesMidLine {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        wire.write(format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"content":[{{"type":"te"#, request.id()));
        End::Exit(0).now();
    }
}

pub(crate) struct DiesAfterCall(pub(crate) End);

impl Manners for DiesAfterCall {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        server::call_tool(wire, request);
        eprintln!("bad-habits: that was my last answer");
        self.0.now();
    }
}

pub(crate) struct DiesOnProbe;

impl Manners for DiesOnProbe {
    fn discover(&mut self, _wire: &mut Wire, _request: &Message) {
        eprintln!("bad-habits: expected initialize");
        End::Exit(3).now();
    }
}

pub(crate) struct ErrorThenDiesOnProbe;

impl Manners for ErrorThenDiesOnProbe {
    fn discover(&mut self, wire: &mut Wire, request: &Message) {
        wire.error(request, -32600, "expected initialize");
        End::Exit(3).now();
    }
}

pub(crate) struct ClosesStdout;

impl Manners for ClosesStdout {
    fn call_tool(&mut self, wire: &mut Wire, _request: &Message) {
        eprintln!("bad-habits: I shall say no more");
        wire.close_output();
    }

    fn end(&mut self, _wire: &mut Wire) {
        // Without its line break it is told only when there is nothing else to come.
        eprint!("bad-habits: I have been told to go");
    }
}

pub(crate) struct ClosesStdin;

impl Manners for ClosesStdin {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        eprintln!("bad-habits: I shall listen no more");
        Wire::close_input();
        server::call_tool(wire, request);
        sleep_for_ever();
    }
}
