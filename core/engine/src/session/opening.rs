//! What a session does to open its connection: the other half of [`handshake`](super::handshake), which decides.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use serde::Serialize;

use super::closed::Closed;
use super::config::Config;
use super::engine::Session;
use super::event::Event;
use super::handshake::Action;
use super::server::{Phase, ServerInfo};
use crate::json::Json;
use crate::json::append::{push, push_raw, push_string};
use crate::method::{Discover, Initialize, Method};
use crate::revisions::Barred;
use crate::rpc::write::{self, Meta, Push};
use crate::time::Timestamp;
use crate::types::{DiscoverResult, Era, InitializeResult, ProtocolVersion};

impl Session {
    /// Does what the handshake says.
    pub(super) fn act(&mut self, action: Action, now: Timestamp, out: &mut Vec<u8>) {
        if !matches!(action, Action::Nothing) {
            self.silent_at = None;
        }
        match action {
            Action::Nothing => {}
            Action::SendDiscover(version) => {
                self.meta = modern_meta(&self.config, version);
                self.silent_at = self.handshake.is_probing().then(|| now + self.config.probe_timeout);
                self.discover =
                    Some(self.open_with(Discover::NAME, &|out: &mut Vec<u8>| write::push_object(out, &()), out));
            }
            Action::SendInitialize(version) => {
                self.meta = String::new();
                let Config { capabilities, client_info, .. } = &self.config;
                let (capabilities, client_info) = (json(capabilities), json(client_info));
                let params = |out: &mut Vec<u8>| {
                    push(out, b"{\"protocolVersion\":");
                    push_string(out, version.as_str());
                    push(out, b",\"capabilities\":");
                    push_raw(out, capabilities.get());
                    push(out, b",\"clientInfo\":");
                    push_raw(out, client_info.get());
                    push(out, b"}");
                    Ok(())
                };
                self.initialize = Some(self.open_with(Initialize::NAME, &params, out));
            }
            Action::OpenModern(version, result) => {
                self.meta = modern_meta(&self.config, version);
                let told = result.implementation_in_meta();
                let DiscoverResult { capabilities, instructions, server_info, .. } = result;
                let implementation = told.or(server_info);
                self.open(ServerInfo {
                    era: Era::Modern,
                    protocol_version: version,
                    implementation,
                    capabilities,
                    instructions,
                });
            }
            Action::OpenLegacy(version, result) => {
                self.meta = String::new();
                // It has no parameters that could fail to serialise.
                let _ = write::notification(out, "notifications/initialized", &|out: &mut Vec<u8>| {
                    write::push_object(out, &())
                });
                let InitializeResult { server_info: implementation, capabilities, instructions, .. } = result;
                self.open(ServerInfo {
                    era: Era::Legacy,
                    protocol_version: version,
                    implementation,
                    capabilities,
                    instructions,
                });
            }
            Action::Fail(error) => self.end(Closed::NotOpened(Arc::new(error))),
            Action::Restart => {}
        }
    }

    pub(super) fn open_with(&mut self, method: &str, params: Push<'_>, out: &mut Vec<u8>) -> u64 {
        let id = self.next_id;
        self.next_id += 1;
        // What it is made of has no part that could fail to serialise.
        let meta = Meta { protocol: &self.meta, ..Meta::default() };
        let _ = write::request(out, id, method, params, meta);
        id
    }

    fn open(&mut self, server: ServerInfo) {
        self.phase = Phase::Ready;
        self.connect_by = None;
        self.silent_at = None;
        self.era = Some(server.era);
        self.note_capabilities(server.capabilities.as_ref());
        self.tasks.open(&server);
        self.barred = Barred::of(server.protocol_version, server.capabilities.as_ref());
        self.version = Some(server.protocol_version);
        self.server = Some(Arc::new(server));
        self.events.push_back(Event::Connected);
    }
}

/// The members of `_meta` that the modern era wants in each request (2026-07-28, basic/index, "Per-request protocol
/// fields"), as JSON text without braces.
pub(super) fn modern_meta(config: &Config, version: ProtocolVersion) -> String {
    let mut meta = alloc::format!(
        r#""io.modelcontextprotocol/protocolVersion":"{version}","io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientCapabilities":{}"#,
        json(&config.client_info),
        json(&config.capabilities),
    );
    if let Some(level) = &config.log_level {
        meta.push_str(r#","io.modelcontextprotocol/logLevel":"#);
        meta.push_str(json(level).get());
    }
    meta.shrink_to_fit();
    meta
}

/// What this side says of itself has no part that could fail to serialise.
fn json(value: &impl Serialize) -> Json {
    Json::from_value(value).unwrap_or_default()
}
