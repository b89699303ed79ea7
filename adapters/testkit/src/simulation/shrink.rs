//! [`Failure`]: a script that makes the code under test fail, shrunk further than `proptest` does.

use std::fmt;

use super::client_script::ClientScript;
use super::script::{Asks, Script};
use crate::server::PIPE_CAPACITY;

/// A script that makes the code under test fail, and what it did. `Display` prints both.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure<S> {
    /// The shortest failing script that was found.
    pub script: S,
    /// The error or the panic of the code under test.
    pub reason: String,
}

impl<S: fmt::Display> fmt::Display for Failure<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\nwith {}", self.reason, self.script)
    }
}

impl<S: fmt::Debug + fmt::Display> std::error::Error for Failure<S> {}

/// A script that can be made simpler.
pub(super) trait Steps: Sized {
    fn remove(&mut self, index: usize);
    fn count(&self) -> usize;
    /// Returns the scripts in which one thing besides the steps has its simplest value.
    fn simpler(&self) -> Vec<Self>;
}

macro_rules! steps {
    ($( $Script:ty: $steps:ident, $( $member:ident = $simplest:expr ),*; )*) => { $(
        impl Steps for $Script {
            fn remove(&mut self, index: usize) {
                self.$steps.remove(index);
            }

            fn count(&self) -> usize {
                self.$steps.len()
            }

            fn simpler(&self) -> Vec<Self> {
                let scripts = [$( Self { $member: $simplest, ..self.clone() } ),*];
                scripts.into_iter().filter(|script| script != self).collect()
            }
        }
    )* };
}

steps! {
    Script: steps, pipe = PIPE_CAPACITY;
    Asks: asks, at_once = false;
    ClientScript: steps, messages_per_write = Vec::new(), chunk_sizes = Vec::new(), waits_for_responses = true;
}

/// Removes each step, and simplifies all else, without which the code still fails. `proptest` removes steps before it simplifies
/// them, and a simple step may not be needed.
pub(super) fn remove_steps<S: Clone + Steps>(
    mut failure: Failure<S>,
    run: impl Fn(&S) -> Result<(), String>,
) -> Failure<S> {
    let mut index = 0;
    while index < failure.script.count() {
        let mut script = failure.script.clone();
        script.remove(index);
        match run(&script) {
            Ok(()) => index += 1,
            Err(reason) => {
                failure = Failure { script, reason };
                // The steps before may no longer be needed.
                index = 0;
            }
        }
    }
    let failing = |script: S| run(&script).err().map(|reason| Failure { script, reason });
    while let Some(simpler) = failure.script.simpler().into_iter().find_map(failing) {
        failure = simpler;
    }
    failure
}
