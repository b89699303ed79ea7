//! [`Filter`]: selects the tools of a server that clients can see and call.

use alloc::string::String;
use alloc::vec::Vec;

/// Selects the tools of a server by name, with allow and deny patterns.
///
/// A pattern is compared with the name that the server uses for a tool, without the prefix `<slug>__`. A `*` matches
/// any number of characters. Excluded tools are hidden from clients, and calls of them are rejected.
///
/// ```
/// # mod mcpwire { pub mod hub { pub mod supervisor { pub use mcpwire_supervisor::Filter; } } }
/// use mcpwire::hub::supervisor::Filter;
///
/// let filter = Filter { allow: None, deny: vec!["delete_*".into()] };
/// assert!(filter.permits("read_file"));
/// assert!(!filter.permits("delete_file"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Name patterns of the allowed tools, in which `*` matches any number of characters. `None` allows all tools; an
    /// empty list allows none.
    pub allow: Option<Vec<String>>,
    /// Name patterns of the denied tools, in which `*` matches any number of characters. A tool that matches is denied
    /// even if [`allow`](Self::allow) allows it.
    pub deny: Vec<String>,
}

impl Filter {
    /// Returns whether the filter allows a tool. `tool` is the name that the server uses, without the prefix
    /// `<slug>__`.
    pub fn permits(&self, tool: &str) -> bool {
        let named = |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern, tool));
        self.allow.as_deref().is_none_or(named) && !named(&self.deny)
    }
}

/// Returns whether the whole `text` matches `pattern`, in which `*` matches any number of characters.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(first) else { return false };
    let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // For each part, the first match suffices. There is no backtracking, so the running time is bounded.
    for part in middle.split('*').filter(|part| !part.is_empty()) {
        match text.find(part) {
            Some(at) => text = &text[at + part.len()..],
            None => return false,
        }
    }
    text.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_characters() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("a*", "a", true),
            ("*a", "ba", true),
            ("a*a", "a", false),
            ("a*b*c", "a--b--c", true),
            ("a*b*c", "a--c--b", false),
            ("**x**", "axb", true),
            ("a*bc*c", "abc", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn deny_takes_precedence() {
        let filter = Filter { allow: Some(alloc::vec!["a".into(), "b".into()]), deny: alloc::vec!["b".into()] };
        assert!(filter.permits("a") && !filter.permits("b") && !filter.permits("c"));
        assert!(!Filter { allow: Some(Vec::new()), deny: Vec::new() }.permits("a"));
    }
}
