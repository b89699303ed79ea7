//! What a pattern costs: its memory, and the time for each byte of a text.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Bytes of text times places in a pattern that make up one step.
///
/// A step is about the time of looking at one keyword; a place of a pattern is tried in a sixteenth of that.
const PER_STEP: usize = 16;

/// The bytes that a compiled pattern takes for each state, as the crate `regex` reports them.
const STATE_BYTES: usize = 64;

/// An upper bound for the cost of patterns, before they are compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternCost {
    /// The places within the patterns that may all be tried at each byte of a text.
    places: usize,
    /// The states of the compiled patterns.
    states: usize,
}

impl PatternCost {
    /// A text that is read once.
    pub(crate) const ONE_PASS: PatternCost = PatternCost { places: 1, states: 0 };

    /// Returns the cost of a pattern. One that cannot be read is as costly as can be for its length.
    pub(crate) fn of(pattern: &str) -> Self {
        // Without Unicode, `\d` and `\w` are those of ECMA-262.
        let parse = |unicode| ParserBuilder::new().unicode(unicode).utf8(false).build().parse(pattern).ok();
        match parse(false).or_else(|| parse(true)) {
            Some(hir) => PatternCost::of_hir(&hir),
            None => PatternCost { places: pattern.len().saturating_mul(64), states: pattern.len().saturating_mul(64) },
        }
    }

    // The parser bounds the depth of what it returns.
    fn of_hir(hir: &Hir) -> Self {
        let mut cost = match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => PatternCost { places: 1, states: 1 },
            HirKind::Literal(literal) => PatternCost { places: literal.0.len(), states: literal.0.len() },
            HirKind::Class(Class::Unicode(class)) => PatternCost { places: 4, states: 4 * class.ranges().len() },
            // Compiled with Unicode, what is beyond ASCII takes up to four bytes, and several states for each.
            HirKind::Class(Class::Bytes(class)) if class.is_ascii() => PatternCost { places: 1, states: 1 },
            HirKind::Class(Class::Bytes(_)) => PatternCost { places: 4, states: 32 },
            HirKind::Capture(capture) => PatternCost::of_hir(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                let mut sum = PatternCost::default();
                for part in parts {
                    sum.add(PatternCost::of_hir(part));
                }
                sum
            }
            HirKind::Repetition(repetition) => {
                let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
                let PatternCost { places, states } = PatternCost::of_hir(&repetition.sub);
                PatternCost { places: places.saturating_mul(times), states: states.saturating_mul(times) }
            }
        };
        cost.add(PatternCost { places: 0, states: 2 });
        cost
    }

    pub(crate) fn add(&mut self, other: PatternCost) {
        self.places = self.places.saturating_add(other.places);
        self.states = self.states.saturating_add(other.states);
    }

    /// Returns about how many bytes the compiled patterns take.
    pub(crate) fn bytes(&self) -> usize {
        self.states.saturating_mul(STATE_BYTES)
    }

    /// Returns how many steps it takes to look for the patterns in a text of `len` bytes.
    pub(crate) fn steps(&self, len: usize) -> usize {
        self.places.saturating_mul(len) / PER_STEP
    }
}
