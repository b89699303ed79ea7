//! [`Tools`]: the tools of a server, as they were listed at one time.

use std::future::Future;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;

use mcpwire_client::Error;
use mcpwire_core::internal::ToolListing;
use mcpwire_core::{InvalidItem, RequestOptions, Tool, ToolList};

use crate::pending::{Sent, Turn};
use crate::shared::Lives;

/// A future that is awaited in several places, and compiled in one.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The tools of a server, as they were listed at one time. Cheap to clone, and a slice of [`Tool`]s to look at.
#[derive(Clone, Debug)]
pub struct Tools(pub(crate) Arc<ToolList>);

impl Tools {
    /// What was left out of the list, and why.
    pub fn rejected(&self) -> &[InvalidItem] {
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
        let shared = life.shared();
        let options = shared.traced(&RequestOptions::new()).into_owned();
        let mut listing = ToolListing::new(options, shared.lock().engine.session().config(), shared.clock.now());
        loop {
            match Sent::step(life, false, |tools, calls, now| listing.poll(tools, calls, now)) {
                Turn::Wait(sent) => sent.receive(|reply| listing.receive(reply)).await?,
                Turn::Again => {}
                Turn::Done(list) => return list.map(Tools).map_err(|error| shared.request_error(error)),
            }
        }
    })
}
