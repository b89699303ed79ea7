//! [`Simulation`]: runs code against generated scripts, and shrinks a script that makes the code fail.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::{Either, select, try_join_all};
use mcpwire_driver::memory::{PipeReader, PipeWriter};
use mcpwire_driver::protocol::{Era, Json, RpcError};
use mcpwire_driver::{ConnectOptions, McpClient};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use super::client_script::ClientScript;
use super::script::{Ask, Asks, Script};
use super::server_run::transcript;
use super::transcript::Transcript;
use crate::server::PIPE_CAPACITY;
use crate::{ScriptedResponse, ScriptedServer, Testkit, VirtualTime, lock};

/// The name of the tool that sends requests to the client when it is called.
const ASKING_TOOL: &str = "ask";

/// Runs the code under test against generated scripts, in virtual time, and finds a short script that makes it fail.
#[derive(Clone)]
#[must_use]
pub struct Simulation {
    cases: u32,
    max_shrinks: u32,
    time_limit: Duration,
    seed: u64,
    options: Arc<dyn Fn() -> ConnectOptions + Send + Sync>,
}

impl Simulation {
    /// Creates a simulation that runs 256 scripts, each for at most a day of virtual time.
    pub fn new() -> Self {
        Simulation {
            cases: 256,
            max_shrinks: 4096,
            time_limit: Duration::from_secs(24 * 3600),
            seed: 0,
            options: Arc::new(ConnectOptions::default),
        }
    }

    mcpwire_driver::setters! {
        /// Sets the number of scripts to generate and run. Default: 256.
        fn cases(cases: u32) => cases = cases;

        /// Sets the maximum number of runs in which `proptest` shrinks a failing script. Default: 4,096.
        fn max_shrinks(max_shrinks: u32) => max_shrinks = max_shrinks;

        /// Sets the virtual time within which each run must end. A longer run fails. Default: a day.
        fn time_limit(limit: Duration) => time_limit = limit;

        /// Sets the seed from which the scripts are generated. Default: 0. All runs of a test with the same seed are identical.
        fn seed(seed: u64) => seed = seed;

        /// Sets the function that returns the options of a client, such as its handlers and timeouts. It is called once for each
        /// run.
        fn client_options(options: impl Fn() -> ConnectOptions + Send + Sync + 'static) => options = Arc::new(options);
    }

    /// Runs client code against servers that follow generated scripts. `code` gets a client that has opened the connection and
    /// listed the tools.
    ///
    /// The code fails if it returns an error, panics, or does not end within the time limit.
    ///
    /// # Panics
    /// If the code fails: with the shortest failing script that was found.
    #[track_caller]
    pub fn check_client<R, E: fmt::Display>(
        &self,
        scripts: impl Strategy<Value = Script>,
        code: impl AsyncFn(McpClient<R>) -> Result<(), E>,
    ) {
        or_panic(self.find_client_fault(scripts, code));
    }

    /// Runs client code as [`Simulation::check_client`] does, and returns the failure instead of panicking.
    ///
    /// # Errors
    /// If the code fails: with the shortest failing script that was found.
    pub fn find_client_fault<R, E: fmt::Display>(
        &self,
        scripts: impl Strategy<Value = Script>,
        code: impl AsyncFn(McpClient<R>) -> Result<(), E>,
    ) -> Result<(), Failure<Script>> {
        self.find(scripts, |script| {
            let kit = Testkit::<R>::for_runtime(script.server()).capacity(script.pipe);
            self.within_limit(kit.time(), async {
                let client = kit.connect_with((self.options)());
                client.initialize().await.map_err(|error| format!("the connection does not open: {error}"))?;
                client.list_tools().await.map_err(|error| format!("the tools are not listed: {error}"))?;
                code(client).await.map_err(|error| error.to_string())
            })
        })
    }

    /// Runs the handlers of [`Simulation::client_options`] against servers that send requests to the client, and checks each
    /// answer.
    ///
    /// `check` gets the request, and the answer that the server receives: the result, or the error. The client sends an error if
    /// it has no handler for the request, or if the answer of the handler is invalid, such as a form with missing fields.
    ///
    /// # Panics
    /// If `check` fails or a request is not answered: with the shortest failing list of requests that was found.
    #[track_caller]
    pub fn check_handler<E: fmt::Display>(
        &self,
        asks: impl Strategy<Value = Asks>,
        check: impl Fn(&Ask, &Result<Json, RpcError>) -> Result<(), E>,
    ) {
        or_panic(self.find_handler_fault(asks, check));
    }

    /// Runs handlers as [`Simulation::check_handler`] does, and returns the failure instead of panicking.
    ///
    /// # Errors
    /// If `check` fails or a request is not answered: with the shortest failing list of requests that was found.
    pub fn find_handler_fault<E: fmt::Display>(
        &self,
        asks: impl Strategy<Value = Asks>,
        check: impl Fn(&Ask, &Result<Json, RpcError>) -> Result<(), E>,
    ) -> Result<(), Failure<Asks>> {
        self.find(asks, |asks| {
            let (server, answers) = asking_server(asks);
            let kit = Testkit::<VirtualTime>::for_runtime(server);
            self.within_limit(kit.time(), async {
                let client = kit.connect_with((self.options)());
                client.initialize().await.map_err(|error| format!("the connection does not open: {error}"))?;
                let calls = 0..if asks.at_once { asks.asks.len() } else { 1 };
                let call = |_| client.call_tool(ASKING_TOOL, ()).timeout(self.time_limit).into_future();
                try_join_all(calls.map(call)).await.map(drop).map_err(|error| error.to_string())
            })?;
            let answers = lock(&answers);
            for (ask, answer) in asks.asks.iter().zip(&*answers) {
                if let Some(answer) = answer {
                    check(ask, answer).map_err(|error| format!("{}: {error}", ask.method))?;
                }
            }
            match asks.asks.iter().zip(&*answers).find(|(_, answer)| answer.is_none()) {
                Some((ask, _)) => Err(format!("{} was not answered", ask.method)),
                None => Ok(()),
            }
        })
    }

    /// Runs a server against clients that follow generated scripts, and checks the messages that the server sends.
    ///
    /// `serve` serves one connection: it reads the messages of the client from a pipe, writes its own messages, one per line, and
    /// ends when the pipe ends. [`serve_lines`](super::serve_lines) makes such a function from a function that answers one line.
    ///
    /// Before `check`, the simulation checks the rules of the protocol with [`Transcript::check_protocol`]. A response must
    /// arrive within a quarter of the time limit, and responses may arrive in any order.
    ///
    /// # Panics
    /// If a check fails, or the server panics or does not end: with the shortest failing script that was found.
    #[track_caller]
    pub fn check_server<F, E>(
        &self,
        scripts: impl Strategy<Value = ClientScript>,
        serve: impl Fn(PipeReader, PipeWriter) -> F,
        check: impl Fn(&Transcript) -> Result<(), E>,
    ) where
        F: Future<Output = ()> + Send + 'static,
        E: fmt::Display,
    {
        or_panic(self.find_server_fault(scripts, serve, check));
    }

    /// Runs a server as [`Simulation::check_server`] does, and returns the failure instead of panicking.
    ///
    /// # Errors
    /// If a check fails, or the server panics or does not end: with the shortest failing script that was found.
    pub fn find_server_fault<F, E>(
        &self,
        scripts: impl Strategy<Value = ClientScript>,
        serve: impl Fn(PipeReader, PipeWriter) -> F,
        check: impl Fn(&Transcript) -> Result<(), E>,
    ) -> Result<(), Failure<ClientScript>>
    where
        F: Future<Output = ()> + Send + 'static,
        E: fmt::Display,
    {
        self.find(scripts, |script| {
            let time = VirtualTime::new();
            // Shorter than the time limit, so that a missing response is reported instead of the time limit.
            let patience = self.time_limit / 4;
            let transcript = self.within_limit(&time, transcript(script, &time, patience, &serve))?;
            transcript.check_protocol()?;
            check(&transcript).map_err(|error| error.to_string())
        })
    }

    /// Generates scripts until `run` fails for one, and shrinks this script.
    fn find<S: fmt::Debug + Simplify>(
        &self,
        strategy: impl Strategy<Value = S>,
        run: impl Fn(&S) -> Result<(), String>,
    ) -> Result<(), Failure<S>> {
        let config = Config {
            cases: self.cases,
            max_shrink_iters: self.max_shrinks,
            failure_persistence: None,
            ..Config::default()
        };
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
        let run = |script: &S| {
            let outcome = catch_unwind(AssertUnwindSafe(|| run(script)));
            outcome.unwrap_or_else(|panic| Err(panic_message(&*panic)))
        };
        let outcome = runner.run(&strategy, |script| run(&script).map_err(TestCaseError::fail));
        match outcome {
            Ok(()) => Ok(()),
            Err(TestError::Fail(reason, script)) => {
                Err(simplify(Failure { script, reason: reason.message().to_owned() }, run))
            }
            Err(TestError::Abort(reason)) => panic!("the strategy generates nothing: {}", reason.message()),
        }
    }

    /// Runs a future in virtual time, for at most the time limit of the simulation.
    ///
    /// # Errors
    /// The error of the future, or an error text if the future has not ended within the time limit.
    fn within_limit<T>(
        &self,
        time: &VirtualTime,
        future: impl Future<Output = Result<T, String>>,
    ) -> Result<T, String> {
        let limit = time.sleep(self.time_limit);
        time.run(async {
            match select(pin!(future), limit).await {
                Either::Left((result, _)) => result,
                Either::Right(_) => Err(format!("it has not ended within {:?} of virtual time", self.time_limit)),
            }
        })
    }
}

impl Default for Simulation {
    fn default() -> Self {
        Simulation::new()
    }
}

impl fmt::Debug for Simulation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulation")
            .field("cases", &self.cases)
            .field("max_shrinks", &self.max_shrinks)
            .field("time_limit", &self.time_limit)
            .field("seed", &self.seed)
            .finish_non_exhaustive()
    }
}

/// The client's answers to the requests of [`Asks`], in the order of the requests. `None` for a request that is not answered yet.
type Answers = Arc<Mutex<Vec<Option<Result<Json, RpcError>>>>>;

/// Creates a server whose only tool sends the requests to the client. Also returns the answers that the server receives.
///
/// If the requests are sent at once, each call of the tool sends one of them. Otherwise, the first call sends all.
fn asking_server(asks: &Asks) -> (ScriptedServer, Answers) {
    let answers = Answers::new(Mutex::new(vec![None; asks.asks.len()]));
    let (list, received, at_once) = (asks.asks.clone(), Arc::clone(&answers), asks.at_once);
    let mut list = list.into_iter().enumerate();
    let server = ScriptedServer::new().era(Era::Legacy).tool(ASKING_TOOL, move |_| {
        let count = if at_once { 1 } else { usize::MAX };
        // All calls arrive before the time advances. Their requests are therefore due at the same time, and are sent in one
        // write.
        let response = ScriptedResponse::new().wait(Duration::from_millis(1));
        let response = list.by_ref().take(count).fold(response, |response, (index, ask)| {
            let received = Arc::clone(&received);
            response.ask(ask.method, &ask.params, move |answer| {
                lock(&received)[index] = Some(answer);
                ScriptedResponse::new()
            })
        });
        response.text("all were answered")
    });
    (server, answers)
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
    format!("it panicked: {}", text.unwrap_or_default())
}

#[track_caller]
fn or_panic<S: fmt::Display>(outcome: Result<(), Failure<S>>) {
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

// The failing script of a simulation, shrunk further than `proptest` does.

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

/// Removes and shortens the steps of a failing script, as long as the code under test still fails, so that the reported script is
/// short. `proptest` does this before, but it removes no step after it has begun to shorten the others.
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
