//! What a request has to do with tasks, and what it carries for that.

use alloc::vec::Vec;

use crate::json::append::push_number;
use crate::method::{CallTool, Method};
use crate::session::config::{RequestOptions, TaskMode};
use crate::session::engine::Session;
use crate::session::opening::modern_meta;
use crate::types::TaskForm;

/// What a request has to do with tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tasked {
    /// Nothing.
    #[default]
    No,
    /// It says that its answer may be a task, which its caller looks at.
    Declared,
    /// A task that it is answered with is followed.
    Followed,
}

/// Whether requests of a method are about tasks.
fn is_about_tasks(method: &str) -> bool {
    method.starts_with("tasks/")
}

impl Session {
    /// What a request that is to be sent has to do with tasks, and what it carries for that besides its parameters.
    pub(in crate::session) fn prepare_task(
        &mut self,
        method: &str,
        options: &RequestOptions,
    ) -> (Tasked, Option<Vec<u8>>) {
        let is_declared = options.task != TaskMode::Session || is_about_tasks(method);
        if is_declared {
            self.make_task_meta();
        }
        let param = self.task_param(method, options);
        if self.follows(method, options, param.is_some()) {
            (Tasked::Followed, param)
        } else if is_declared {
            (Tasked::Declared, param)
        } else {
            (Tasked::No, None)
        }
    }

    /// Whether the answer of a call may be a task that is to be followed.
    fn follows(&self, method: &str, options: &RequestOptions, asks: bool) -> bool {
        method == CallTool::NAME
            && match options.task {
                TaskMode::Session => !self.meta.is_empty() && self.config.capabilities.has_tasks(),
                TaskMode::Follow => !self.meta.is_empty() || asks,
                TaskMode::Handle => false,
            }
    }

    /// What makes a call of 2025-11-25 ask for a task ("Task Parameters"), where the server takes that: a member for the end
    /// of its parameters.
    fn task_param(&self, method: &str, options: &RequestOptions) -> Option<Vec<u8>> {
        // Without such a word of the server's it is not to be tried ("Tool-Level Negotiation").
        if options.task == TaskMode::Session || !self.tasks.takes_calls || method != CallTool::NAME {
            return None;
        }
        let mut param = Vec::from(&b",\"task\":{"[..]);
        if let Some(ttl) = options.task_ttl {
            param.extend_from_slice(b"\"ttl\":");
            push_number(&mut param, u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
        }
        param.push(b'}');
        Some(param)
    }

    /// Makes what is said in `_meta` by requests that have to do with tasks: servers refuse them to clients that have not
    /// declared the extension, which is done in each request.
    pub(super) fn make_task_meta(&mut self) {
        if !self.meta.is_empty() && !self.config.capabilities.has_tasks() && self.tasks.meta.is_none() {
            // Said in these requests, and in no other.
            let before = self.config.capabilities.extensions.clone();
            self.config.capabilities.declare_tasks();
            let meta = self.tasks.version.map(|version| modern_meta(&self.config, version));
            self.config.capabilities.extensions = before;
            self.tasks.meta = Some(meta.unwrap_or_default());
        }
    }

    /// What is said in `_meta` by requests that have to do with tasks.
    pub(in crate::session) fn task_meta(&self) -> &str {
        self.tasks.meta.as_deref().unwrap_or(&self.meta)
    }

    /// The form in which tasks are spoken of in this session.
    pub(super) fn task_form(&self) -> TaskForm {
        // Only in the modern era there is something to say in `_meta`.
        if self.meta.is_empty() { TaskForm::Experimental } else { TaskForm::Extension }
    }
}
