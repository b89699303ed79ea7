//! [`InvalidMessages`]: the invalid messages that a server has sent.

/// Maximum number of stored excerpts. 8: enough to recognize log messages that a server prints by mistake.
const MAX_EXCERPTS: usize = 8;

/// The number of invalid messages that a server has sent, and the beginnings of the last 8.
///
/// A large number usually means that the server prints log messages on its standard output.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InvalidMessages {
    count: u64,
    /// Oldest first.
    excerpts: Vec<String>,
}

impl InvalidMessages {
    /// Counts an invalid message. `excerpt` is its beginning, without control characters.
    #[cold]
    pub fn push(&mut self, excerpt: &str) {
        self.count += 1;
        if self.excerpts.len() == MAX_EXCERPTS {
            self.excerpts.remove(0);
        }
        self.excerpts.push(excerpt.to_owned());
    }

    /// Returns the number of invalid messages since the connection was opened.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns the beginnings of the last 8 invalid messages, oldest first, without control characters.
    pub fn excerpts(&self) -> impl Iterator<Item = &str> {
        self.excerpts.iter().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_excerpts_are_stored() {
        let mut invalid = InvalidMessages::default();
        (0..20).for_each(|n| invalid.push(&n.to_string()));
        assert_eq!(invalid.count(), 20);
        assert_eq!(invalid.excerpts().collect::<Vec<_>>(), ["12", "13", "14", "15", "16", "17", "18", "19"]);
    }
}
