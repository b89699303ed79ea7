//! [`Tools`]: the tools of a server, as they were listed at one time.

use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_core::{
    CacheHints, CallError, ListTools, ListToolsResult, PagesTime, Phase, Rejected, RequestOptions, Searched, Tool,
    ToolList, ToolSearch,
};
use mcpwire_process::Error;

use crate::features::list_all;
use crate::pending::Sent;
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

/// Lists the server's tools, all pages, and keeps the list.
pub(crate) fn list(life: &Lives) -> Boxed<'_, Result<Tools, Error>> {
    Box::pin(async move {
        let changes = life.shared().lock().tools_changes;
        let mut list = ToolList::default();
        let mut hints: Option<CacheHints> = None;
        let mut keep_hints = |page: &ListToolsResult| {
            let of_page = CacheHints::of(page);
            hints = Some(hints.map_or(of_page, |hints| hints.and(of_page)));
        };
        list.replace(list_all::<ListTools>(life, RequestOptions::new(), &mut keep_hints).await?);
        list.set_hints(hints.unwrap_or_default());
        let mut state = life.shared().lock();
        if state.tools_changes != changes {
            // It changed while it was on its way: it is shown, and not believed.
            list.invalidate();
        }
        let list = Arc::new(list);
        state.tools.replace(Arc::clone(&list));
        Ok(Tools(list))
    })
}

/// Looks for a tool in the server's list, and takes note of what it says, if it does.
pub(crate) fn look_for<'a>(life: &'a Lives, tool: &'a str) -> Boxed<'a, ()> {
    Box::pin(async move {
        let shared = life.shared();
        let changes = shared.lock().tools_changes;
        let time =
            PagesTime::begin(&RequestOptions::new(), shared.lock().engine.session().config(), shared.clock.now());
        let mut search = ToolSearch::new(tool);
        loop {
            let options = RequestOptions::new().total_timeout(time.left(shared.clock.now()));
            let Ok(mut sent) = Sent::begin(life, &search.request(), &options, false) else { return };
            let Some(reply) = poll_fn(|cx| sent.poll(cx, &mut |_| {})).await else { return };
            match search.look_at(&reply) {
                Searched::AskForMore => {}
                _ => break,
            }
        }
        let mut state = shared.lock();
        let is_stale = state.tools_changes != changes;
        state.tools.note(search, is_stale);
    })
}

/// What is to be done before a tool is called.
pub(crate) enum Before<'c> {
    /// Nothing: it can be sent.
    Nothing,
    /// To look for the tool: the server's list says how it is called.
    Look(Boxed<'c, ()>),
    /// It is not sent.
    Refuse(Error),
}

/// Makes ready for a call of `tool`, and settles in which mode that is, where `options` say what the caller would like.
/// `looked` says that the tool has been looked for.
pub(crate) fn before<'c>(life: &'c Lives, tool: &'c str, options: &mut RequestOptions, looked: bool) -> Before<'c> {
    let shared = life.shared();
    let state = shared.lock();
    let server = shared.server.get().map(|server| &**server).filter(|server| server.takes_tasks());
    if !looked && state.tools.must_look_before(tool, server, options.task_mode()) {
        return Before::Look(look_for(life, tool));
    }
    if state.tools.knows(tool) == Some(false) && state.engine.session().phase() != Phase::Closed {
        drop(state);
        return Before::Refuse(shared.call_error(CallError::ToolNotFound { tool: tool.into(), error: None }));
    }
    match state.tools.settle_task_mode(tool, server, state.engine.session().config(), options) {
        Ok(()) => Before::Nothing,
        Err(error) => {
            drop(state);
            Before::Refuse(shared.refused(error))
        }
    }
}

/// What an error of a call of `tool` means, after a look at the list of tools if that is what it takes.
pub(crate) fn explain<'a>(life: &'a Lives, tool: &'a str, error: CallError) -> Boxed<'a, Error> {
    Box::pin(async move {
        let must_look = life.shared().lock().tools.must_look_after(tool, &error);
        if must_look {
            // Without the list, the error stays what the server said.
            look_for(life, tool).await;
        }
        let error = life.shared().lock().tools.explain(tool, error);
        life.shared().call_error(error)
    })
}
