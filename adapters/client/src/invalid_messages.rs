//! [`InvalidMessages`]: what the server has sent that could not be read.

/// Maximum number of excerpts to keep: 8, enough to recognise what a server prints by mistake.
const MAX_EXCERPTS: usize = 8;

/// The messages of a server that could not be read: how many there were, and the beginnings of the last ones.
///
/// Many of them mean that the server prints log messages on its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidMessages {
    count: u64,
    /// Oldest first.
    excerpts: Vec<String>,
}

impl InvalidMessages {
    /// Adds a message. `excerpt` must be printable.
    #[cold]
    pub fn push(&mut self, excerpt: &str) {
        self.count += 1;
        if self.excerpts.len() == MAX_EXCERPTS {
            self.excerpts.remove(0);
        }
        self.excerpts.push(excerpt.to_owned());
    }

    /// Returns how many messages could not be read since the connection began.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the beginnings of the last messages that could not be read, at most 8. They contain no control characters.
    pub fn excerpts(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_excerpts_are_kept() {
        let mut invalid = InvalidMessages::default();
        (0..20).for_each(|n| invalid.push(&n.to_string()));
        assert_eq!(invalid.count(), 20);
        assert_eq!(invalid.excerpts().collect::<Vec<_>>(), ["12", "13", "14", "15", "16", "17", "18", "19"]);
    }
}
