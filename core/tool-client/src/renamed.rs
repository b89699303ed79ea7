//! [`Renamed`]: a client that offers the tools of another client under other names.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

#[cfg(any(test, doc))]
use mcpwire_types::ErrorKind;
use mcpwire_types::{CallToolResult, Json, Tool};

use crate::filtered::not_found;
use crate::{BoxFuture, CallOptions, ToolClient, ToolError};

/// A client that offers the tools of another client under other names, for example to avoid equal names of several
/// servers.
///
/// Calls with the old names fail with [`ErrorKind::ToolNotFound`]. Errors of the other client contain the old names.
///
/// ```
/// # mod mcpwire { pub mod tool_client { pub use mcpwire_tool_client::{Renamed, ToolClient}; } }
/// use mcpwire::tool_client::{Renamed, ToolClient};
///
/// fn both(github: impl ToolClient + 'static, files: impl ToolClient + 'static) -> [Box<dyn ToolClient>; 2] {
///     [
///         Box::new(Renamed::with_prefix(github, "github_")), // `search` is called `github_search`
///         Box::new(Renamed::with_names(files, [("search", "find_file")])), // other names stay
///     ]
/// }
/// ```
#[derive(Debug)]
pub struct Renamed<C> {
    client: C,
    renaming: Renaming,
}

#[derive(Debug)]
enum Renaming {
    Prefix(String),
    /// The renamed tools, as pairs of the tool's own name and its new name. Other tools keep their names.
    Names(Vec<(String, String)>),
}

impl<C> Renamed<C> {
    /// Creates a client that adds `prefix` to the start of each tool name.
    pub fn with_prefix(client: C, prefix: impl Into<String>) -> Self {
        Renamed { client, renaming: Renaming::Prefix(prefix.into()) }
    }

    /// Creates a client that renames some tools. `names` contains pairs of a tool's own name and its new name. All
    /// other tools keep their names.
    ///
    /// If a new name equals the own name of a tool that keeps its name, that tool is not offered.
    pub fn with_names<N: Into<String>, M: Into<String>>(client: C, names: impl IntoIterator<Item = (N, M)>) -> Self {
        let names = names.into_iter().map(|(own, new)| (own.into(), new.into())).collect();
        Renamed { client, renaming: Renaming::Names(names) }
    }

    /// Returns the wrapped client, which offers the tools under their own names.
    pub fn into_inner(self) -> C {
        self.client
    }
}

impl Renaming {
    /// Returns the new name of the tool `own`, or `None` if the tool is not offered because another tool has its name.
    fn new_name(&self, own: &str) -> Option<String> {
        match self {
            Renaming::Prefix(prefix) => Some(format!("{prefix}{own}")),
            Renaming::Names(names) => match names.iter().find(|(name, _)| name == own) {
                Some((_, new)) => Some(new.clone()),
                None => names.iter().all(|(_, new)| new != own).then(|| own.into()),
            },
        }
    }

    /// Returns the own name of the tool with the new name `new`, or `None` if no tool can have this name.
    fn own_name<'n>(&'n self, new: &'n str) -> Option<&'n str> {
        match self {
            Renaming::Prefix(prefix) => new.strip_prefix(&**prefix),
            Renaming::Names(names) => match names.iter().find(|(_, name)| name == new) {
                Some((own, _)) => Some(&**own),
                None => names.iter().all(|(own, _)| own != new).then_some(new),
            },
        }
    }
}

impl<C: ToolClient> Renamed<C> {
    /// Returns the own name of the tool with the new name `new`.
    ///
    /// # Errors
    /// [`ErrorKind::ToolNotFound`] if no tool can have this name.
    fn own_name<'n>(&'n self, new: &'n str) -> Result<&'n str, ToolError> {
        self.renaming.own_name(new).ok_or_else(|| not_found(self.client.server_name(), new))
    }
}

impl<C: ToolClient> ToolClient for Renamed<C> {
    fn server_name(&self) -> Option<&str> {
        self.client.server_name()
    }

    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<Tool>, ToolError>> {
        Box::pin(async move {
            let tools = self.client.list_tools().await?.into_iter();
            let renamed = tools.filter_map(|mut tool| {
                tool.name = self.renaming.new_name(&tool.name)?;
                Some(tool)
            });
            Ok(renamed.collect())
        })
    }

    fn call_tool<'a>(&'a self, name: &'a str, arguments: &'a Json) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move { self.client.call_tool(self.own_name(name)?, arguments).await })
    }

    fn call_tool_with<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a Json,
        options: CallOptions<'a>,
    ) -> BoxFuture<'a, Result<CallToolResult, ToolError>> {
        Box::pin(async move { self.client.call_tool_with(self.own_name(name)?, arguments, options).await })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{FakeClient, block_on, names};

    /// Asserts that each listed name calls a tool. Its own name is at the same position in `own`.
    fn assert_calls(client: &Renamed<FakeClient>, own: &[&str]) {
        for (name, own) in names(client).iter().zip(own) {
            let (arguments, options) = (Json::default(), CallOptions::new());
            assert_eq!(block_on(client.call_tool(name, &arguments)).unwrap().text(), *own);
            assert_eq!(block_on(client.call_tool_with(name, &arguments, options)).unwrap().text(), *own);
        }
    }

    fn assert_not_found(client: &Renamed<FakeClient>, name: &str) {
        let arguments = Json::default();
        let error = block_on(client.call_tool(name, &arguments)).unwrap_err();
        assert_eq!(
            (error.kind(), error.server(), error.tool()),
            (ErrorKind::ToolNotFound, client.server_name(), Some(name))
        );
        assert!(client.client.called().iter().all(|called| called != name));
    }

    #[test]
    fn a_prefix_is_added_to_all_names() {
        let mut client = FakeClient::new(["a", "b"]);
        client.server = Some("server");
        let client = Renamed::with_prefix(client, "x_");
        assert_eq!(names(&client), ["x_a", "x_b"]);
        assert_not_found(&client, "c");
        assert_calls(&client, &["a", "b"]);
    }

    #[test]
    fn names_are_exchanged() {
        let client = Renamed::with_names(FakeClient::new(["a", "b", "c"]), [("a", "b"), ("b", "a")]);
        assert_eq!(names(&client), ["b", "a", "c"]);
        assert_calls(&client, &["a", "b", "c"]);
    }

    #[test]
    fn an_old_name_is_not_found() {
        let client = Renamed::with_names(FakeClient::new(["a", "b"]), [("a", "z")]);
        assert_eq!(names(&client), ["z", "b"]);
        assert_not_found(&client, "a");
        assert_calls(&client, &["a", "b"]);
    }

    #[test]
    fn a_tool_whose_name_is_taken_is_not_offered() {
        let client = Renamed::with_names(FakeClient::new(["a", "b"]), [("a", "b")]);
        assert_eq!(names(&client), ["b"]);
        assert_calls(&client, &["a"]);
    }
}
