//! [`Failure`]: the failing script of a simulation, shrunk further than `proptest` does.

use std::fmt;

use super::client_script::ClientScript;
use super::script::{Asks, Script};
use crate::server::PIPE_CAPACITY;

/// A script that makes the code under test fail, and the reason of the failure. `Display` prints both.
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

/// A script that can be replaced by simpler scripts, to find a short script that still fails.
pub(super) trait Simplify: Clone + PartialEq {
    /// Returns simpler variants of this script. The first variants each lack one step. In the others, one setting has its
    /// simplest value.
    fn simpler(&self) -> Vec<Self>;
}

impl Simplify for Script {
    fn simpler(&self) -> Vec<Self> {
        let shorter = without_each(&self.steps).map(|steps| Script { steps, ..self.clone() });
        shorter.chain([Script { pipe: PIPE_CAPACITY, ..self.clone() }]).collect()
    }
}

impl Simplify for Asks {
    fn simpler(&self) -> Vec<Self> {
        let shorter = without_each(&self.asks).map(|asks| Asks { asks, ..self.clone() });
        shorter.chain([Asks { at_once: false, ..self.clone() }]).collect()
    }
}

impl Simplify for ClientScript {
    fn simpler(&self) -> Vec<Self> {
        let shorter = without_each(&self.steps).map(|steps| ClientScript { steps, ..self.clone() });
        let simplest = [
            ClientScript { messages_per_write: Vec::new(), ..self.clone() },
            ClientScript { chunk_sizes: Vec::new(), ..self.clone() },
            ClientScript { waits_for_responses: true, ..self.clone() },
        ];
        shorter.chain(simplest).collect()
    }
}

fn without_each<T: Clone>(steps: &[T]) -> impl Iterator<Item = Vec<T>> {
    (0..steps.len()).map(|index| [&steps[..index], &steps[index + 1..]].concat())
}

/// Simplifies a failing script as long as the code still fails. `proptest` stops removing steps once it simplifies them, and a
/// step may only become superfluous then.
pub(super) fn simplify<S: Simplify>(mut failure: Failure<S>, run: impl Fn(&S) -> Result<(), String>) -> Failure<S> {
    let failing = |script: S| run(&script).err().map(|reason| Failure { script, reason });
    loop {
        let simpler = failure.script.simpler().into_iter().filter(|script| *script != failure.script);
        match simpler.into_iter().find_map(failing) {
            Some(simpler) => failure = simpler,
            None => return failure,
        }
    }
}
