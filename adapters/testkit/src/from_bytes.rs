//! Generates values of strategies, and scripts, from the bytes of a fuzzer (feature `arbitrary`).

use arbitrary::{Arbitrary, Error, Result, Unstructured};
use mcpwire_driver::protocol::{Json, ProtocolVersion, Tool};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::simulation::{Asks, ClientScript, MAX_STEPS, Script, ask, client_step, script_of, step, writes};

/// Number of input bytes that determine one step of a script. 8 bytes are enough: a fuzzer cannot try all their values.
const STEP_BYTES: usize = 8;

/// Generates a value of a strategy from the input bytes of a fuzz target. The same bytes generate the same value.
///
/// The bytes are only a seed: a change of one byte changes the whole value. The scripts of this crate instead implement
/// [`Arbitrary`](https://docs.rs/arbitrary/latest/arbitrary/trait.Arbitrary.html) and generate each step from its own bytes. A
/// fuzzer can therefore change, add and remove single steps.
///
/// ```
/// # mod mcpwire { pub mod types { pub use mcpwire_testkit::ProtocolVersion; } pub mod testkit { pub use
/// # mcpwire_testkit::{from_bytes, strategies}; } }
/// use mcpwire::testkit::{from_bytes, strategies};
/// use mcpwire::types::ProtocolVersion;
///
/// // In a fuzz target, `data` is the input.
/// let data = b"any bytes";
/// let tool = from_bytes(&strategies::tool(ProtocolVersion::LATEST), data).unwrap();
/// assert!(!tool.name.is_empty());
/// ```
///
/// # Errors
/// [`Error::IncorrectFormat`](https://docs.rs/arbitrary/latest/arbitrary/enum.Error.html#variant.IncorrectFormat) if the strategy
/// rejects too many values, for example because of a filter.
pub fn from_bytes<S: Strategy>(strategy: &S, bytes: &[u8]) -> Result<S::Value> {
    // `RngAlgorithm::PassThrough` is not used: after the last byte, it returns zeros, and the generator of ranges rejects zeros
    // forever.
    let mut seed = [0_u8; 32];
    for (at, byte) in bytes.iter().enumerate() {
        let place = &mut seed[at % 32];
        *place = place.rotate_left(3) ^ byte;
    }
    let config = Config { failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
    let tree = strategy.new_tree(&mut TestRunner::new_with_rng(config, rng)).map_err(|_| Error::IncorrectFormat)?;
    Ok(tree.current())
}

/// Generates the steps of a script from the remaining input, each from its own [`STEP_BYTES`]. Stops after [`MAX_STEPS`] steps.
fn steps<S: Strategy>(strategy: &S, u: &mut Unstructured<'_>) -> Result<Vec<S::Value>> {
    u.bytes(u.len())?.chunks(STEP_BYTES).take(MAX_STEPS).map(|bytes| from_bytes(strategy, bytes)).collect()
}

impl<'a> Arbitrary<'a> for Script {
    /// Generates the script of a server with the tools `a` and `b`. To test other tools, set [`Script::tools`] afterwards.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let version = *u.choose(&ProtocolVersion::ALL)?;
        let tools = ["a", "b"].map(|name| Tool::new(name, Json::default())).into();
        let mut script = from_bytes(&script_of(version, tools), &u8::arbitrary(u)?.to_le_bytes())?;
        script.steps = steps(&step(version), u)?;
        Ok(script)
    }
}

impl<'a> Arbitrary<'a> for Asks {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let at_once = bool::arbitrary(u)?;
        Ok(Asks { asks: steps(&ask(ProtocolVersion::V2025_11_25), u)?, at_once })
    }
}

impl<'a> Arbitrary<'a> for ClientScript {
    /// Generates the script of a client that does not know the server's tools, and calls tools with arbitrary names.
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let writes = from_bytes(&writes(), &u16::arbitrary(u)?.to_le_bytes())?;
        let steps = steps(&client_step(Vec::new()), u)?;
        Ok(ClientScript::new((steps, writes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategies;

    /// Bytes of different lengths: all equal, and all different.
    fn inputs() -> impl Iterator<Item = Vec<u8>> {
        let equal = [0, 1, 0x7f, 0xff].into_iter().flat_map(|byte| [0, 1, 100, 4096].map(|length| vec![byte; length]));
        let mixed = [10, 1000, 4096].map(|length| (0..=250).cycle().step_by(7).take(length).collect());
        equal.chain(mixed)
    }

    #[test]
    fn the_same_bytes_generate_the_same_value() {
        for bytes in inputs() {
            let script = || Script::arbitrary(&mut Unstructured::new(&bytes)).unwrap();
            assert_eq!(script(), script());
            assert!(ClientScript::arbitrary(&mut Unstructured::new(&bytes)).is_ok());
            assert!(Asks::arbitrary(&mut Unstructured::new(&bytes)).is_ok());
            assert!(from_bytes(&strategies::list_tools_result(ProtocolVersion::LATEST), &bytes).is_ok());
        }
    }

    #[test]
    fn different_bytes_generate_different_values() {
        let scripts: Vec<Script> =
            inputs().map(|bytes| Script::arbitrary(&mut Unstructured::new(&bytes)).unwrap()).collect();
        assert!(scripts.iter().any(|script| script.steps.len() > 3), "{scripts:?}");
        assert!(scripts.iter().any(|script| *script != scripts[0]));
    }

    #[test]
    fn a_changed_byte_changes_one_step() {
        let bytes: Vec<u8> = (0..40).collect();
        let mut other = bytes.clone();
        other[20] ^= 0xff;
        let [one, other] = [&bytes, &other].map(|bytes| Script::arbitrary(&mut Unstructured::new(bytes)).unwrap());
        let differing = one.steps.iter().zip(&other.steps).filter(|(one, other)| one != other).count();
        assert_eq!((differing, one.steps.len()), (1, other.steps.len()));
    }
}
