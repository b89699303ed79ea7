//! The commands for the thread that owns the client.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use mcpwire_core::{CallToolResult, Json, Tool};

use super::slot::Sender;
use crate::cancel::Canceller;

/// What the thread is to do.
pub(super) enum Command {
    /// List the tools.
    List { sender: Sender<Vec<Tool>> },
    /// Call a tool.
    Call { name: Box<str>, arguments: Json, sender: Sender<CallToolResult> },
    /// Cancel the calls whose futures were dropped.
    CancelDropped,
}

/// Commands from any thread for the one that owns the client.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Wakes the thread while it waits for the server.
    canceller: Canceller,
}

#[derive(Default)]
struct State {
    commands: Vec<Command>,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(canceller: Canceller) -> Self {
        Queue { state: Mutex::default(), changed: Condvar::new(), canceller }
    }

    /// Adds a command. After [`Queue::close`], the command is dropped, and with it the sender of its result.
    pub(super) fn push(&self, command: Command) {
        let mut state = self.lock();
        if state.is_closed {
            drop(state);
            return;
        }
        state.commands.push(command);
        drop(state);
        self.wake();
    }

    /// Ends the thread.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.wake();
    }

    /// Returns the commands, or `None` after [`Queue::close`].
    pub(super) fn take(&self) -> Option<Vec<Command>> {
        let mut state = self.lock();
        let commands = mem::take(&mut state.commands);
        if state.is_closed { None } else { Some(commands) }
    }

    /// Returns whether [`Queue::take`] has something to return.
    pub(super) fn has_changed(&self) -> bool {
        let state = self.lock();
        state.is_closed || !state.commands.is_empty()
    }

    /// Waits for a command or for the end.
    pub(super) fn wait(&self) {
        let is_unchanged = |state: &mut State| !state.is_closed && state.commands.is_empty();
        drop(self.changed.wait_while(self.lock(), is_unchanged));
    }

    fn wake(&self) {
        self.changed.notify_one();
        self.canceller.wake();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
