//! [`Tools`]: a snapshot of a server's tool list.

use std::ops::Deref;
use std::sync::Arc;

use mcpwire_core::{InvalidItem, Tool, ToolList};

/// A snapshot of a server's tool list. It does not change when the server changes its tools.
///
/// Dereferences to a slice of [`Tool`]s. Clones are cheap and share the list.
#[derive(Clone, Debug)]
pub struct Tools(Arc<ToolList>);

impl Tools {
    /// Creates a snapshot that shares this tool list.
    pub fn new(list: Arc<ToolList>) -> Self {
        Tools(list)
    }

    /// Returns the entries of the server's list that are not valid tools, each with the reason.
    pub fn rejected(&self) -> &[InvalidItem] {
        &self.0.listed().rejected
    }

    /// Returns the tool with this name, or `None` if the list does not contain it.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.0.get(name)
    }

    /// Returns the tool list of the protocol engine that this snapshot shares.
    pub fn list(&self) -> &Arc<ToolList> {
        &self.0
    }
}

impl Deref for Tools {
    type Target = [Tool];

    fn deref(&self) -> &[Tool] {
        &self.0.listed().items
    }
}

impl AsRef<[Tool]> for Tools {
    fn as_ref(&self) -> &[Tool] {
        self
    }
}

impl<'t> IntoIterator for &'t Tools {
    type Item = &'t Tool;
    type IntoIter = std::slice::Iter<'t, Tool>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Tools {
    type Item = Tool;
    type IntoIter = IntoIter;

    fn into_iter(self) -> IntoIter {
        IntoIter { tools: self, next: 0 }
    }
}

/// An iterator that returns a copy of each tool in [`Tools`].
#[derive(Clone, Debug)]
pub struct IntoIter {
    tools: Tools,
    next: usize,
}

impl Iterator for IntoIter {
    type Item = Tool;

    fn next(&mut self) -> Option<Tool> {
        let tool = self.tools.deref().get(self.next)?.clone();
        self.next += 1;
        Some(tool)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.tools.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for IntoIter {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_iterated_by_reference_and_by_value() {
        let mut list = ToolList::default();
        list.replace(mcpwire_core::Json::parse(r#"[{"name":"a"},7,{"name":"b"}]"#).unwrap().decode().unwrap());
        let tools = Tools::new(Arc::new(list));
        let by_reference: Vec<_> = (&tools).into_iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(by_reference, ["a", "b"]);
        let mut by_value = tools.clone().into_iter();
        assert_eq!(by_value.len(), 2);
        assert_eq!(by_value.next().map(|tool| tool.name), Some("a".into()));
        assert_eq!(by_value.len(), 1);
        assert_eq!((tools.len(), tools.rejected().len(), tools.get("b").is_some()), (2, 1, true));
    }
}
