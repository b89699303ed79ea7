//! [`Scopes`]: a set of OAuth scopes.

use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A set of OAuth scopes, in the order in which they were added (RFC 6749, section 3.3).
///
/// A set contains at most [`Scopes::MAX`] scopes of at most [`Scopes::MAX_LENGTH`] bytes. Further, longer and invalid
/// scopes are ignored, which bounds the memory for the lists of servers. The serialized form is one string with spaces
/// between the scopes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Maximum number of scopes in a set. Further scopes are ignored.
    pub const MAX: usize = 256;
    /// Maximum length of one scope in bytes. Longer scopes are ignored.
    pub const MAX_LENGTH: usize = 512;

    /// The scope that requests a refresh token for use while the user is absent (OpenID Connect Core, section 11).
    pub(crate) const OFFLINE_ACCESS: &str = "offline_access";

    /// Creates an empty set.
    pub const fn new() -> Self {
        Scopes(Vec::new())
    }

    /// Parses scopes that are separated by spaces, as in the parameter `scope`. Invalid scopes are ignored.
    pub fn parse(text: &str) -> Self {
        text.split(' ').collect()
    }

    /// Adds a scope. Returns whether the set now contains it: `false` if the scope is invalid or the set is full.
    pub fn insert(&mut self, scope: &str) -> bool {
        let is_valid = (1..=Scopes::MAX_LENGTH).contains(&scope.len())
            && scope.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'));
        let is_new = is_valid && self.0.len() < Scopes::MAX && !self.contains(scope);
        self.0.extend(is_new.then(|| scope.to_string()));
        is_new || self.contains(scope)
    }

    /// Returns whether the set contains a scope.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|other| other == scope)
    }

    /// Returns whether the set contains all scopes of `other`.
    pub fn is_superset(&self, other: &Scopes) -> bool {
        other.iter().all(|scope| self.contains(scope))
    }

    /// Returns the set of all scopes that are in this set or in `other`.
    pub fn union(&self, other: &Scopes) -> Scopes {
        self.iter().chain(other.iter()).collect()
    }

    /// Returns the value of the parameter `scope`. `None` for an empty set, for which the parameter is omitted.
    pub(crate) fn parameter(&self) -> Option<String> {
        (!self.is_empty()).then(|| self.to_string())
    }

    /// Returns whether the set contains no scopes.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the number of scopes in the set.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Iterates over the scopes in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<'a> FromIterator<&'a str> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'a str>>(scopes: I) -> Self {
        let mut set = Scopes::new();
        for scope in scopes {
            set.insert(scope);
        }
        set
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

impl Serialize for Scopes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Scopes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Scopes::parse(&String::deserialize(deserializer)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn a_set_keeps_the_order_and_no_scope_twice() {
        let scopes = Scopes::parse("  b a b  c\u{e9} d\"x e\\y ");
        assert_eq!(scopes.to_string(), "b a");
        assert_eq!(scopes.union(&Scopes::parse("c a")).to_string(), "b a c");
        assert!(scopes.is_superset(&Scopes::parse("a")) && !scopes.is_superset(&Scopes::parse("a A")));
        assert!(scopes.is_superset(&Scopes::new()) && Scopes::new().is_empty());
    }

    #[test]
    fn a_set_has_a_limit() {
        let many: Vec<_> = (0..300).map(|number| format!("s{number}")).collect();
        let mut scopes: Scopes = many.iter().map(String::as_str).collect();
        assert_eq!(scopes.len(), Scopes::MAX);
        assert!(!scopes.insert("new") && scopes.insert("s0"));
        assert!(!Scopes::new().insert(&"x".repeat(Scopes::MAX_LENGTH + 1)));
    }

    #[test]
    fn a_set_is_stored_as_one_string() {
        let scopes = Scopes::parse("a b");
        let json = serde_json::to_string(&scopes).unwrap();
        assert_eq!(json, r#""a b""#);
        assert_eq!(serde_json::from_str::<Scopes>(&json).unwrap(), scopes);
        assert!(serde_json::from_str::<Scopes>("1").is_err());
    }
}
