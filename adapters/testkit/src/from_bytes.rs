//! The strategies for fuzzers: values from bytes (feature `arbitrary`).

use arbitrary::{Arbitrary, Error, Result, Unstructured};
use mcpwire_driver::protocol::{Json, ProtocolVersion, Tool};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::simulation::{Asks, ClientScript, MAX_STEPS, Script, ask, client_step, script_of, step, writes};

/// Number of bytes from which a step of a script is generated. 8: enough to tell all steps apart that a fuzzer can try.
const STEP_BYTES: usize = 8;

/// Generates the value of a strategy from bytes. The same bytes generate the same value.
///
/// The bytes are the seed of the strategy: a change of one byte changes the whole value. The scripts of this crate implement
/// [`Arbitrary`](https://docs.rs/arbitrary/latest/arbitrary/trait.Arbitrary.html) step by step instead, so that a fuzzer can change, add and remove single steps.
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
/// [`Error::IncorrectFormat`](https://docs.rs/arbitrary/latest/arbitrary/enum.Error.html#variant.IncorrectFormat) if the strategy rejects its values too often, as one with a filter may do.
pub fn from_bytes<S: Strategy>(strategy: &S, bytes: &[u8]) -> Result<S::Value> {
    // Not `RngAlgorithm::PassThrough`: at the end of the bytes, its zeros let the generator of ranges try again forever.
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

/// Generates each step of a script from its own bytes.
fn steps<S: Strategy>(strategy: &S, u: &mut Unstructured<'_>) -> Result<Vec<S::Value>> {
    u.bytes(u.len())?.chunks(STEP_BYTES).take(MAX_STEPS).map(|bytes| from_bytes(strategy, bytes)).collect()
}

impl<'a> Arbitrary<'a> for Script {
    /// Generates the script of a server with the tools `a` and `b`. Set [`Script::tools`] for others.
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
    /// Generates the script of a client that knows no tools, but calls some.
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
