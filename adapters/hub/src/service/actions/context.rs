//! [`Context`] contains the parts of the hub that the actions of the supervisor use.

use std::sync::Arc;

use mcpwire_supervisor::{Failure, Generation, ServerId, Stage};

use super::super::attempts::{AttemptKey, Attempts};
use super::super::failures;
use super::super::options::Settings;
use super::super::state::State;
use super::super::tool_cache::ToolCache;
use crate::config::McpConfig;
use crate::redact::Redactor;
use crate::tasks::Tasks;

/// The parts of a hub that the actions of the supervisor use. Cheap to clone, so that each background task has a copy.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) state: Arc<State>,
    pub(crate) attempts: Arc<Attempts>,
    pub(crate) settings: Arc<Settings>,
    pub(crate) tool_cache: Arc<ToolCache>,
}

impl Context {
    pub(super) fn tasks(&self) -> &Tasks {
        &self.settings.tasks
    }
}

/// The server and the attempt to run it to which an operation belongs, with the configuration at the start of the
/// operation.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) id: ServerId,
    pub(super) generation: Generation,
    pub(super) config: Arc<McpConfig>,
    pub(super) redactor: Redactor,
}

impl Target {
    pub(super) fn key(&self) -> AttemptKey {
        (self.id, self.generation)
    }

    pub(super) fn failure(&self, error: &mcpwire_driver::Error, stage: Stage) -> Failure {
        failures::of_start(error, stage, &self.config, &self.redactor)
    }
}
