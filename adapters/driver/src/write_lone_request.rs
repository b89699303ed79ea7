//! The task of a caller writes its request itself if no other request is in flight. This saves a switch to the driver, which
//! writes several requests together.

use std::task::Context;

use mcpwire_core::Timestamp;

use crate::locked_state::State;

impl State {
    /// Writes the engine's output, or wakes the driver to write it.
    pub(crate) fn send_or_wake_driver(&mut self) {
        let Some(engine) = self.engine.stream() else {
            // Over HTTP, only the driver sends requests.
            return self.wake_driver();
        };
        if engine.transmit().is_empty() {
            // The engine may have events without output, for example when the cache has answered a request.
            if engine.session().has_events() {
                self.wake_driver();
            }
            return;
        }
        if engine.session().in_flight() <= 1 && !self.is_traced {
            // Without a waker, the driver was already woken, and writes the output.
            let Some(driver) = &self.driver else { return };
            self.output.write(engine, &mut Context::from_waker(driver), None);
            if self.output.failure.is_none()
                && engine.transmit().is_empty()
                && !engine.session().has_events()
                && self.is_timer_set_by(self.engine.poll_timeout())
            {
                return;
            }
        }
        self.wake_driver();
    }

    /// Returns whether the driver's timer elapses in time for a deadline at `at`. `true` if there is no deadline (`None`).
    pub(crate) fn is_timer_set_by(&self, at: Option<Timestamp>) -> bool {
        at.is_none_or(|at| self.timer_deadline.is_some_and(|timer_deadline| timer_deadline <= at))
    }
}
