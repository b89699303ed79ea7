//! Listing the tools of a server.

use std::future::Future;
use std::pin::Pin;

use mcpwire_client::{Error, Tools};
use mcpwire_core::RequestOptions;
use mcpwire_core::internal::ToolListing;

use crate::pending::{Sent, Turn};
use crate::shared::Lives;

/// A future that is awaited in several places, and compiled in one.
pub(crate) type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

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
                Turn::Done(list) => return list.map(Tools::new).map_err(|error| shared.request_error(error)),
            }
        }
    })
}
