//! [`Tools`]: the tools of a server, as they were listed at one time.

use std::ops::Deref;
use std::sync::Arc;

use mcpwire_core::{Rejected, Tool, ToolList};

/// The tools of a server, as they were listed at one time. Cheap to clone, and a slice of [`Tool`]s to look at.
#[derive(Clone, Debug)]
pub struct Tools(pub(crate) Arc<ToolList>);

impl Tools {
    /// What was left out of the list, and why.
    pub fn rejected(&self) -> &[Rejected] {
        &self.0.listed().rejected
    }

    /// The tool of this name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }
}

impl Deref for Tools {
    type Target = [Tool];

    fn deref(&self) -> &[Tool] {
        &self.0.listed().items
    }
}

impl<'t> IntoIterator for &'t Tools {
    type Item = &'t Tool;
    type IntoIter = std::slice::Iter<'t, Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
