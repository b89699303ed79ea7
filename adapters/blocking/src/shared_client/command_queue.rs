//! [`CommandQueue`]: the commands for the thread that owns the client.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use mcpwire_core::Tool;

use super::listing::WaitingCall;
use super::slot::ResultSender;
use crate::cancel::Canceller;

/// A command for the thread that owns the client.
pub(super) enum ClientCommand {
    List {
        sender: ResultSender<Vec<Tool>>,
    },
    Call(WaitingCall),
    /// Cancel the calls whose futures were dropped.
    CancelDropped,
}

/// A queue that any thread can send commands to.
pub(super) struct CommandQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
    /// Wakes the thread while it waits for the server.
    canceller: Canceller,
}

#[derive(Default)]
struct QueueState {
    commands: Vec<ClientCommand>,
    is_closed: bool,
}

impl CommandQueue {
    pub(super) fn new(canceller: Canceller) -> Self {
        CommandQueue { state: Mutex::default(), changed: Condvar::new(), canceller }
    }

    /// Adds a command. Drops the command and its [`ResultSender`] if the queue is closed.
    pub(super) fn push(&self, command: ClientCommand) {
        let mut state = self.lock();
        if state.is_closed {
            drop(state);
            return;
        }
        state.commands.push(command);
        drop(state);
        self.wake();
    }

    /// Closes the queue, which ends the thread.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.wake();
    }

    /// Removes and returns the commands, or `None` if the queue is closed.
    pub(super) fn take(&self) -> Option<Vec<ClientCommand>> {
        let mut state = self.lock();
        let commands = mem::take(&mut state.commands);
        if state.is_closed { None } else { Some(commands) }
    }

    /// Returns whether the queue is closed or has commands.
    pub(super) fn has_changed(&self) -> bool {
        let state = self.lock();
        state.is_closed || !state.commands.is_empty()
    }

    /// Waits until the queue is closed or has a command.
    pub(super) fn wait(&self) {
        let is_unchanged = |state: &mut QueueState| !state.is_closed && state.commands.is_empty();
        drop(self.changed.wait_while(self.lock(), is_unchanged));
    }

    fn wake(&self) {
        self.changed.notify_one();
        self.canceller.wake();
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
