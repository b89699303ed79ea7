//! [`State`]: what an authorization server knows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::Value;

use super::client::Client;
use super::deviation::{Deviation, Endpoint, MetadataPlace};
use super::jwt::sha256;
use super::proofs::Proofs;
use super::tokens::{DeviceCode, Tokens};
use super::url::path;
use crate::http::{HttpAnswer, HttpRequest};

/// What an authorization server knows, and how it behaves. Its endpoints are in files of their own.
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(super) struct State {
    pub(super) issuer: String,
    pub(super) metadata_place: Option<MetadataPlace>,
    pub(super) scopes_supported: Vec<String>,
    pub(super) auth_methods: Vec<String>,
    pub(super) registers_clients: bool,
    pub(super) grants_devices: bool,
    pub(super) takes_documents: bool,
    pub(super) asks_users: bool,
    pub(super) token_lifetime: Duration,
    pub(super) latency: Duration,
    pub(super) deviations: Vec<Deviation>,
    pub(super) clients: BTreeMap<String, Client>,
    /// The metadata documents of clients, by URL.
    pub(super) documents: BTreeMap<String, Value>,
    /// The identifiers of all client assertions so far.
    pub(super) assertions: BTreeSet<String>,
    pub(super) proofs: Proofs,
    pub(super) tokens: Tokens,
    pub(super) devices: Vec<DeviceCode>,
    /// The identifiers of the resources for which there are tokens. Empty: all.
    pub(super) resources: Vec<Arc<Mutex<String>>>,
    pub(super) requests: Vec<HttpRequest>,
    /// Scripted answers, each for the next request to its endpoint.
    pub(super) next_answers: Vec<(Endpoint, HttpAnswer)>,
    pub(super) secrets: Vec<String>,
    last_number: u64,
}

impl State {
    pub(super) fn new(issuer: String) -> Self {
        let methods = ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"];
        State {
            issuer,
            metadata_place: Some(MetadataPlace::OAuth),
            scopes_supported: Vec::new(),
            auth_methods: methods.map(Into::into).into(),
            registers_clients: true,
            grants_devices: true,
            takes_documents: false,
            asks_users: false,
            token_lifetime: Duration::from_secs(3600),
            latency: Duration::ZERO,
            deviations: Vec::new(),
            clients: BTreeMap::new(),
            documents: BTreeMap::new(),
            assertions: BTreeSet::new(),
            proofs: Proofs::default(),
            tokens: Tokens::default(),
            devices: Vec::new(),
            resources: Vec::new(),
            requests: Vec::new(),
            next_answers: Vec::new(),
            secrets: Vec::new(),
            last_number: 0,
        }
    }

    pub(super) fn endpoint_of(&self, url: &str) -> Option<Endpoint> {
        let (asked, issuer) = (path(url), path(&self.issuer));
        if self.metadata_path().is_some_and(|place| place == asked) {
            return Some(Endpoint::Metadata);
        }
        let below = asked.strip_prefix(issuer)?;
        Endpoint::ALL.into_iter().find(|endpoint| *endpoint != Endpoint::Metadata && endpoint.path() == below)
    }

    pub(super) fn deviates(&self, deviation: &Deviation) -> bool {
        self.deviations.contains(deviation)
    }

    /// Returns a value of the deviations: the last one that `select` returns.
    pub(super) fn deviation<'s, T>(&'s self, select: impl FnMut(&'s Deviation) -> Option<T>) -> Option<T> {
        self.deviations.iter().rev().find_map(select)
    }

    /// Creates a secret of this kind. No two servers create the same.
    pub(super) fn new_secret(&mut self, kind: &str) -> String {
        let secret = format!("{kind}-{}-{}", self.next_number(), &sha256(&self.issuer)[..6]);
        self.secrets.push(secret.clone());
        secret
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Returns whether there are tokens for this resource.
    pub(super) fn knows_resource(&self, resource: &str) -> bool {
        self.resources.is_empty()
            || self.resources.iter().any(|known| *known.lock().unwrap_or_else(PoisonError::into_inner) == resource)
    }
}
