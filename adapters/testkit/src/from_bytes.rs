//! The strategies for fuzzers: values from bytes (feature `arbitrary`).

use arbitrary::{Arbitrary, Error, Result, Unstructured};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::simulation::{Asks, ClientScript, Script, asks, client_script, script};

/// Generates the value of a strategy from bytes. The same bytes generate the same value; missing bytes count as zeros.
///
/// ```
/// use mcpwire_testkit::{ProtocolVersion, from_bytes, strategies};
///
/// // In a fuzz target, `data` is the input.
/// let data = b"any bytes, the more the larger are the values";
/// let tool = from_bytes(&strategies::tool(ProtocolVersion::LATEST), data).unwrap();
/// assert!(!tool.name.is_empty());
/// ```
///
/// # Errors
/// [`Error::IncorrectFormat`] if the strategy rejects its values too often, as one with a filter may do.
pub fn from_bytes<S: Strategy>(strategy: &S, bytes: &[u8]) -> Result<S::Value> {
    let config = Config { failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::PassThrough, bytes);
    let tree = strategy.new_tree(&mut TestRunner::new_with_rng(config, rng)).map_err(|_| Error::IncorrectFormat)?;
    Ok(tree.current())
}

/// Implements `Arbitrary` by a strategy that takes all the remaining bytes.
macro_rules! arbitrary {
    ($( $Type:ty = $strategy:expr; )*) => { $(
        impl<'a> Arbitrary<'a> for $Type {
            fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
                let bytes = u.bytes(u.len())?;
                from_bytes(&$strategy, bytes)
            }
        }
    )* };
}

arbitrary! {
    // A server with the tools `a` and `b`.
    Script = script(["a", "b"]);
    Asks = asks();
    ClientScript = client_script([]);
}
