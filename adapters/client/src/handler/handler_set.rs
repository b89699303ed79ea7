//! [`HandlerSet`]: the handlers in the options of a connection, as a trait object.

use std::sync::Arc;

use mcpwire_core::Config;

use super::handlers::Handlers;
use super::pending::{ConnectionHandlers, HandlerDispatcher};
use crate::PanicCallbacks;

/// The handlers in the options of a connection.
///
/// A trait object, so that a client without handlers contains no code for them.
pub(crate) trait HandlerSet: Send + Sync {
    fn clone_box(&self) -> Box<dyn HandlerSet>;

    /// Returns the handlers, to add one.
    fn handlers(&mut self) -> &mut Handlers;

    /// Declares the capabilities of the handlers in the configuration.
    fn declare(&self, config: &mut Config);

    /// Creates the handlers of a connection to the server named `server`.
    fn connect(&self, server: Arc<str>, panics: PanicCallbacks) -> Arc<dyn ConnectionHandlers>;
}

impl HandlerSet for Handlers {
    fn clone_box(&self) -> Box<dyn HandlerSet> {
        Box::new(self.clone())
    }

    fn handlers(&mut self) -> &mut Handlers {
        self
    }

    fn declare(&self, config: &mut Config) {
        if self.form.is_some() || self.url.is_some() {
            config.answer_elicitation(self.form.is_some(), self.url.is_some());
        }
        if self.sampling.is_some() {
            config.answer_sampling();
        }
        if self.roots.is_some() {
            config.answer_roots();
        }
        for method in self.methods.iter().flat_map(|(methods, _)| methods) {
            config.answer(method);
        }
        if let Some(object) = &self.object {
            object.capabilities().declare(config);
        }
    }

    fn connect(&self, server: Arc<str>, panics: PanicCallbacks) -> Arc<dyn ConnectionHandlers> {
        Arc::new(HandlerDispatcher::new(self.clone(), server, panics))
    }
}
