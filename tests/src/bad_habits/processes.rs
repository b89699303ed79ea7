//! Servers whose processes end when they should not, or do not end when they should.

use std::process::{Child, Command, Stdio};
use std::{env, process};

use crate::server::{self, Manners};
use crate::wire::{Message, Wire};
use crate::{Arguments, sleep_for_ever, system};

// In part or in whole, too early.

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
                system::kill_this_process();
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

// Too late, and servers that start others.

pub(crate) struct IgnoresEof;

impl Manners for IgnoresEof {
    fn end(&mut self, _wire: &mut Wire) {
        sleep_for_ever();
    }
}

/// Goes on after it was asked to terminate.
pub(crate) struct IgnoresTerm(pub(crate) Arguments);

impl Manners for IgnoresTerm {
    fn begin(&mut self, _wire: &mut Wire) {
        system::ignore_term(&self.0);
    }

    fn end(&mut self, _wire: &mut Wire) {
        sleep_for_ever();
    }
}

/// Has left the process group and the session in which it was started.
pub(crate) struct OwnSession;

impl Manners for OwnSession {
    fn begin(&mut self, _wire: &mut Wire) {
        system::leave_session();
        sleep_for_ever();
    }
}

/// Has a child, this program with another habit, that holds its standard output and error. The tool `grandchild` says
/// its process id, `leave` exits in the middle of the call.
pub(crate) struct Grandchild {
    habit: String,
    mark: Option<String>,
    child: Option<Child>,
}

impl Grandchild {
    pub(crate) fn new(arguments: &Arguments) -> Self {
        Self { habit: arguments.text("never-reads"), mark: arguments.mark.clone(), child: None }
    }
}

impl Manners for Grandchild {
    fn begin(&mut self, _wire: &mut Wire) {
        let child = Command::new(env::current_exe().expect("the program has a path"))
            .arg(&self.habit)
            .args(&self.mark)
            .stdin(Stdio::null())
            .spawn()
            .expect("the program starts");
        self.child = Some(child);
    }

    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        match request.tool() {
            "grandchild" => {
                let pid = self.child.as_ref().map_or(0, Child::id);
                wire.text(request, &pid.to_string());
            }
            "leave" => {
                eprintln!("bad-habits: I leave, my child stays");
                process::exit(5);
            }
            _ => server::call_tool(wire, request),
        }
    }
}
