//! Systems on which a process cannot be told from one that has its id later: none is ended.

use std::time::Duration;

pub(super) fn started(_: u32) -> Option<String> {
    None
}

/// Nobody knows, so nothing is taken for gone.
pub(super) fn exists(_: u32) -> bool {
    true
}

/// A process that may be ended: there is none.
pub(super) enum Target {}

impl Target {
    pub(super) fn find(_: u32, _: Option<&str>, _: &str) -> Option<Target> {
        None
    }

    pub(super) fn is_gone(&self) -> bool {
        match *self {}
    }
}

pub(super) fn end(_: &[&Target], _: Duration) {}
