//! [`State`]: the state of an authorization server, and its metadata (RFC 8414).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::client::Client;
use super::deviation::{Deviation, Endpoint, MetadataPlace};
use super::proofs::{Proofs, sha256};
use super::tokens::{DEVICE_CODE, DeviceCode, Tokens};
use super::url::{origin, path};
use crate::http::HttpAnswer;
use crate::lock;

/// The state and the settings of an authorization server. Each endpoint is implemented in a file of its own.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub(super) struct State {
    pub(super) issuer: String,
    /// The well-known path at which the metadata is published. `None` if it is not published.
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
    /// The metadata documents of clients, by the URL that is the client identifier.
    pub(super) documents: BTreeMap<String, Value>,
    /// The identifiers (`jti`) of all client assertions so far. Each assertion is accepted once.
    pub(super) assertions: BTreeSet<String>,
    pub(super) proofs: Proofs,
    pub(super) tokens: Tokens,
    pub(super) devices: Vec<DeviceCode>,
    /// The identifiers of the MCP servers for which tokens are issued. If empty, tokens are issued for all.
    pub(super) resources: Vec<Arc<Mutex<String>>>,
    /// Responses that a test has scripted, each for the next request to its endpoint.
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
            auth_methods: methods.map(Into::into).into(),
            registers_clients: true,
            grants_devices: true,
            token_lifetime: Duration::from_secs(3600),
            ..State::default()
        }
    }

    /// Returns the endpoint that has this URL, or `None` if no endpoint has it.
    pub(super) fn endpoint_of(&self, url: &str) -> Option<Endpoint> {
        let (asked, issuer) = (path(url), path(&self.issuer));
        if self.metadata_path().is_some_and(|place| place == asked) {
            return Some(Endpoint::Metadata);
        }
        let below = asked.strip_prefix(issuer)?;
        Endpoint::ALL.into_iter().find(|endpoint| *endpoint != Endpoint::Metadata && endpoint.path() == below)
    }

    /// Returns the URL at which an endpoint is reached, even if the metadata contains another one. For metadata that is not
    /// published, returns the origin.
    pub(super) fn endpoint_url(&self, endpoint: Endpoint) -> String {
        let path = match endpoint {
            Endpoint::Metadata => self.metadata_path().unwrap_or_default(),
            other => format!("{}{}", path(&self.issuer), other.path()),
        };
        format!("{}{path}", origin(&self.issuer))
    }

    pub(super) fn deviates(&self, deviation: &Deviation) -> bool {
        self.deviations.contains(deviation)
    }

    /// Returns the first `Some` that `select` returns for a deviation, starting with the latest deviation. `None` if there is
    /// none.
    pub(super) fn deviation<'s, T>(&'s self, select: impl FnMut(&'s Deviation) -> Option<T>) -> Option<T> {
        self.deviations.iter().rev().find_map(select)
    }

    /// Creates a secret that contains the name of its kind, such as `access-token`. Secrets of different issuers differ.
    pub(super) fn new_secret(&mut self, kind: &str) -> String {
        let secret = format!("{kind}-{}-{}", self.next_number(), &sha256(&self.issuer)[..6]);
        self.secrets.push(secret.clone());
        secret
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.last_number += 1;
        self.last_number
    }

    /// Returns whether the server issues tokens for this resource, which is the identifier of an MCP server.
    pub(super) fn knows_resource(&self, resource: &str) -> bool {
        self.resources.is_empty() || self.resources.iter().any(|known| *lock(known) == resource)
    }

    /// Returns the path at which the metadata is published, or `None` if it is not published.
    fn metadata_path(&self) -> Option<String> {
        let issuer = path(&self.issuer);
        Some(match self.metadata_place? {
            MetadataPlace::OAuth => format!("/.well-known/oauth-authorization-server{issuer}"),
            MetadataPlace::OpenId => format!("/.well-known/openid-configuration{issuer}"),
            MetadataPlace::OpenIdAfterPath => format!("{issuer}/.well-known/openid-configuration"),
        })
    }

    /// Returns the metadata document of the server, with all deviations applied.
    pub(super) fn metadata(&self) -> Value {
        let mut grants = vec!["authorization_code", "refresh_token", "client_credentials"];
        grants.extend(self.grants_devices.then_some(DEVICE_CODE));
        let mut document = json!({
            "issuer": self.issuer,
            "response_types_supported": ["code"],
            "grant_types_supported": grants,
            "token_endpoint_auth_methods_supported": self.auth_methods,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "dpop_signing_alg_values_supported": ["ES256", "EdDSA"],
        });
        for endpoint in Endpoint::ALL {
            let is_offered = match endpoint {
                Endpoint::Registration => self.registers_clients,
                Endpoint::DeviceAuthorization => self.grants_devices,
                _ => true,
            };
            if let Some(name) = endpoint.member().filter(|_| is_offered) {
                document[name] = self.endpoint_url(endpoint).into();
            }
        }
        if !self.scopes_supported.is_empty() {
            document["scopes_supported"] = json!(self.scopes_supported);
        }
        if self.takes_documents {
            document["client_id_metadata_document_supported"] = true.into();
        }
        with_members(document, self.deviations.iter().filter_map(metadata_member))
    }
}

/// Returns the name and the value of the metadata member that a deviation changes, or `None` if the deviation does not change the
/// metadata.
fn metadata_member(deviation: &Deviation) -> Option<(&str, Value)> {
    Some(match deviation {
        Deviation::OmitCodeChallengeMethods => ("code_challenge_methods_supported", Value::Null),
        Deviation::IssuerInMetadata(issuer) => ("issuer", issuer.clone().into()),
        Deviation::AdvertiseConfidentialMethodsOnly => {
            ("token_endpoint_auth_methods_supported", json!(["client_secret_basic", "client_secret_post"]))
        }
        Deviation::NoIss | Deviation::UnpromisedIss => ("authorization_response_iss_parameter_supported", Value::Null),
        Deviation::EndpointUrl(endpoint, url) => (endpoint.member()?, url.clone().into()),
        Deviation::MetadataMember(name, value) => (name, value.clone()),
        _ => return None,
    })
}

/// Adds or replaces members of a JSON document. Removes members whose new value is `null`.
pub(super) fn with_members<'m>(document: Value, members: impl Iterator<Item = (&'m str, Value)>) -> Value {
    let Value::Object(mut document) = document else { return document };
    document.extend(members.map(|(name, value)| (name.to_owned(), value)));
    document.into_iter().filter(|(_, value)| !value.is_null()).collect::<Map<_, _>>().into()
}
