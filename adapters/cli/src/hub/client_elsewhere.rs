//! The client of the running hub on systems without Unix sockets. There, each command uses a hub in its own process.

use std::convert::Infallible;

use mcpwire_blocking::protocol::Json;
use mcpwire_hub::HubError;
use mcpwire_hub::layout::Layout;

use super::protocol::{OnProgress, Request};

/// A connection to the running hub, which cannot exist on this system because there are no Unix sockets.
pub(super) struct Client(Infallible);

impl Client {
    #[expect(clippy::unnecessary_wraps, reason = "the signature is the one on Unix")]
    pub(super) fn connect(_: &Layout) -> Result<Option<Client>, HubError> {
        Ok(None)
    }

    pub(super) fn ask(&mut self, _: &Request, _: OnProgress<'_>) -> Result<Json, HubError> {
        match self.0 {}
    }
}
