//! [`Tools`]: the tools of a server, as they were listed at one time.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_core::{CacheHints, CallError, ListTools, ListToolsResult, Rejected, RequestOptions, Tool, ToolList};
use mcpwire_process::Error;

use crate::features::list_all;
use crate::shared::Lives;

/// A future that is awaited in several places, and compiled in one.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The tools of a server, as they were listed at one time. Cheap to clone, and a slice of [`Tool`]s to look at.
#[derive(Clone, Debug)]
pub struct Tools(pub(crate) Arc<ToolList>);

impl Tools {
    /// What was left out of the list, and why.
    pub fn rejected(&self) -> &[Rejected] {
        &self.0.listed().rejected
    }

    /// The list itself, to be kept and shared.
    pub fn list(&self) -> &Arc<ToolList> {
        &self.0
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

/// Lists the server's tools, all pages, and keeps the list. `fresh` asks for all of them anew.
pub(crate) fn list(life: &Lives, fresh: bool) -> Boxed<'_, Result<Tools, Error>> {
    Box::pin(async move {
        let mut options = RequestOptions::new();
        options.fresh = fresh;
        let changes = life.shared().lock().tools_changes;
        let mut list = ToolList::default();
        let mut hints: Option<CacheHints> = None;
        let mut keep_hints = |page: &ListToolsResult| {
            let of_page = CacheHints::of(page);
            hints = Some(hints.map_or(of_page, |hints| hints.and(of_page)));
        };
        list.replace(list_all::<ListTools>(life, options, &mut keep_hints).await?);
        list.set_hints(hints.unwrap_or_default());
        let mut state = life.shared().lock();
        if state.tools_changes != changes {
            // It changed while it was on its way: it is shown, and not believed.
            list.invalidate();
        }
        state.tools = Arc::new(list);
        Ok(Tools(Arc::clone(&state.tools)))
    })
}

/// What an error of a call of `tool` means, after a look at the list of tools if that is what it takes.
pub(crate) fn explain<'a>(life: &'a Lives, tool: &'a str, error: CallError) -> Boxed<'a, Error> {
    Box::pin(async move {
        let needed = life.shared().lock().tools.is_needed_for(&error);
        if needed {
            // Without the list, the error stays what the server said. An error is reason to doubt what was kept.
            let _ = list(life, true).await;
        }
        let tools = Arc::clone(&life.shared().lock().tools);
        life.shared().call_error(tools.explain(tool, error))
    })
}
