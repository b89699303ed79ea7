//! Servers that say nothing, or nothing to the point, or not in time. On standard error they say how far they are.

use std::thread;
use std::time::Duration;

use crate::json::Raw;
use crate::server::{self, Manners};
use crate::wire::{Message, Wire};
use crate::{sleep_for_ever, system};

pub(crate) struct Silent;

impl Manners for Silent {
    fn message(&mut self, _wire: &mut Wire, message: &Message) {
        eprintln!("bad-habits: no word about {}", message.method());
    }
}

pub(crate) struct SilentOnProbe;

impl Manners for SilentOnProbe {
    fn discover(&mut self, _wire: &mut Wire, _request: &Message) {}
}

/// Waits this many milliseconds before it answers a call. The argument `steps` asks for so many waits, with a progress
/// notification after each.
pub(crate) struct Slow(pub(crate) usize);

impl Manners for Slow {
    fn call_tool(&mut self, wire: &mut Wire, request: &Message) {
        eprintln!("bad-habits: this will take its time");
        let steps = request.argument("steps").and_then(Raw::number).unwrap_or(1);
        for step in 1..=steps {
            wait(self.0);
            if let Some(token) = request.progress_token() {
                let progress = format!(
                    r#""progressToken":{token},"progress":{step},"total":{steps},"message":"step {step} of {steps}""#
                );
                wire.notify("notifications/progress", &progress);
            }
        }
        server::call_tool(wire, request);
    }
}

pub(crate) struct SlowStart(pub(crate) usize);

impl Manners for SlowStart {
    fn begin(&mut self, _wire: &mut Wire) {
        wait(self.0);
    }
}

pub(crate) struct NeverReads;

impl Manners for NeverReads {
    fn begin(&mut self, _wire: &mut Wire) {
        sleep_for_ever();
    }
}

/// Reads up to the list of tools, which the client may want before it calls one. It notices that more is written.
pub(crate) struct StopsReading;

impl Manners for StopsReading {
    fn list_tools(&mut self, wire: &mut Wire, request: &Message) {
        server::list_tools(wire, request, server::TOOLS);
        eprintln!("bad-habits: I have read enough");
        system::wait_for_input();
        eprintln!("bad-habits: still they write");
        sleep_for_ever();
    }
}

pub(crate) struct Chatters;

impl Manners for Chatters {
    fn call_tool(&mut self, wire: &mut Wire, _request: &Message) {
        loop {
            wire.log("still talking");
            wait(10);
        }
    }
}

fn wait(milliseconds: usize) {
    thread::sleep(Duration::from_millis(milliseconds as u64));
}
