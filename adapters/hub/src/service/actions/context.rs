//! [`Context`]: the parts of the hub that actions work with.

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

/// The parts of a hub that actions use. Cheap to clone, so that each task has its own.
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

/// The attempt to which an action belongs, with the configuration at that time.
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
