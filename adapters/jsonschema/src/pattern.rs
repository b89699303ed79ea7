//! [`PatternCost`]: an upper bound for the memory and the time that the regular expressions of a schema need.

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Number of attempts to match one position of a pattern with one byte of text that count as one step.
///
/// A step is the evaluation of one keyword, which takes about 16 times as long as such an attempt.
const POSITIONS_PER_STEP: usize = 16;

/// Memory of a compiled pattern for each of its states, in bytes. Measured with the memory use that the crate `regex` reports.
const STATE_BYTES: usize = 64;

/// An upper bound for the cost of one or more patterns. It is computed without compiling them, because servers are not trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PatternCost {
    /// Number of positions in the patterns that the search may try to match with each byte of a text.
    positions: usize,
    /// Number of states of the compiled patterns, which determines their memory.
    states: usize,
}

impl PatternCost {
    /// The cost of a keyword that reads a text once, such as `maxLength`.
    pub(crate) const ONE_PASS: PatternCost = PatternCost { positions: 1, states: 0 };

    /// Returns the cost of a pattern. For a pattern that cannot be parsed, returns the highest cost that is possible for its
    /// length.
    pub(crate) fn from_pattern(pattern: &str) -> Self {
        // The pattern is parsed without Unicode first, because `\d` and `\w` match only ASCII in ECMA-262.
        let parse = |unicode| ParserBuilder::new().unicode(unicode).utf8(false).build().parse(pattern).ok();
        match parse(false).or_else(|| parse(true)) {
            Some(hir) => PatternCost::from_hir(&hir),
            None => {
                PatternCost { positions: pattern.len().saturating_mul(64), states: pattern.len().saturating_mul(64) }
            }
        }
    }

    // This recursion is limited, because the parser limits the nesting of a pattern.
    fn from_hir(hir: &Hir) -> Self {
        let mut cost = match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => PatternCost { positions: 1, states: 1 },
            HirKind::Literal(literal) => PatternCost { positions: literal.0.len(), states: literal.0.len() },
            HirKind::Class(Class::Unicode(class)) => PatternCost { positions: 4, states: 4 * class.ranges().len() },
            // The compiled pattern uses Unicode. A character beyond ASCII takes up to four bytes, each of them with several
            // states.
            HirKind::Class(Class::Bytes(class)) if class.is_ascii() => PatternCost { positions: 1, states: 1 },
            HirKind::Class(Class::Bytes(_)) => PatternCost { positions: 4, states: 32 },
            HirKind::Capture(capture) => PatternCost::from_hir(&capture.sub),
            HirKind::Concat(parts) | HirKind::Alternation(parts) => {
                let mut sum = PatternCost::default();
                for part in parts {
                    sum.add(PatternCost::from_hir(part));
                }
                sum
            }
            HirKind::Repetition(repetition) => {
                let times = repetition.max.unwrap_or(repetition.min).max(1) as usize;
                let PatternCost { positions, states } = PatternCost::from_hir(&repetition.sub);
                PatternCost { positions: positions.saturating_mul(times), states: states.saturating_mul(times) }
            }
        };
        cost.add(PatternCost { positions: 0, states: 2 });
        cost
    }

    pub(crate) fn add(&mut self, other: PatternCost) {
        self.positions = self.positions.saturating_add(other.positions);
        self.states = self.states.saturating_add(other.states);
    }

    /// Returns the approximate memory of the compiled patterns, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.states.saturating_mul(STATE_BYTES)
    }

    /// Returns the maximum number of steps to search a text of `len` bytes for the patterns.
    pub(crate) fn steps(&self, len: usize) -> usize {
        self.positions.saturating_mul(len) / POSITIONS_PER_STEP
    }
}
