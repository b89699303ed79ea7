//! Servers that do not leave, or leave others behind.

use std::env;
use std::os::unix::process::CommandExt;
use std::process::{self, Child, Command, Stdio};

use crate::server::{self, Manners};
use crate::wire::{Message, Wire};
use crate::{Arguments, sleep_for_ever};

pub(crate) struct IgnoresEof;

impl Manners for IgnoresEof {
    fn end(&mut self, _wire: &mut Wire) {
        sleep_for_ever();
    }
}

/// A signal that is ignored stays so in the programs that the process becomes: the shell ignores it and becomes this
/// program once more, which finds the variable and begins to serve.
pub(crate) struct IgnoresTerm(pub(crate) Arguments);

const TERM_IS_IGNORED: &str = "BAD_HABITS_TERM_IS_IGNORED";

impl Manners for IgnoresTerm {
    fn begin(&mut self, _wire: &mut Wire) {
        if env::var_os(TERM_IS_IGNORED).is_none() {
            let failure = Command::new("/bin/sh")
                .args(["-c", r#"trap "" TERM; exec "$0" "$@""#])
                .arg(env::current_exe().expect("the program has a path"))
                .args(["ignores-term"])
                .args(self.0.modern.then_some("--modern"))
                .args(&self.0.mark)
                .env(TERM_IS_IGNORED, "1")
                .exec();
            eprintln!("bad-habits: {failure}");
            process::exit(1);
        }
    }

    fn end(&mut self, _wire: &mut Wire) {
        sleep_for_ever();
    }
}

/// Has left the process group and the session in which it was started.
pub(crate) struct OwnSession;

impl Manners for OwnSession {
    fn begin(&mut self, _wire: &mut Wire) {
        rustix::process::setsid().expect("it leads no group");
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
