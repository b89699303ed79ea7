//! The metadata of an authorization server (RFC 8414).

use serde_json::{Map, Value, json};

use super::deviation::{Deviation, Endpoint, MetadataPlace};
use super::state::State;
use super::url::{path, split_origin};

impl State {
    /// Returns the path at which the metadata is published.
    pub(super) fn metadata_path(&self) -> Option<String> {
        let issuer = path(&self.issuer);
        Some(match self.metadata_place? {
            MetadataPlace::OAuth => format!("/.well-known/oauth-authorization-server{issuer}"),
            MetadataPlace::OpenId => format!("/.well-known/openid-configuration{issuer}"),
            MetadataPlace::OpenIdAfterPath => format!("{issuer}/.well-known/openid-configuration"),
        })
    }

    /// Returns the true URL of an endpoint.
    pub(super) fn endpoint_url(&self, endpoint: Endpoint) -> String {
        let (origin, _) = split_origin(&self.issuer);
        format!("{origin}{}{}", path(&self.issuer), endpoint.path())
    }

    /// Returns the metadata document.
    pub(super) fn metadata(&self) -> Value {
        let mut document = json!({
            "issuer": self.issuer,
            "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token", "client_credentials"],
            "token_endpoint_auth_methods_supported": self.auth_methods,
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "dpop_signing_alg_values_supported": ["ES256", "EdDSA"],
        });
        if let Value::Object(members) = &mut document {
            self.add_optional_members(members);
            for deviation in &self.deviations {
                deviate(members, deviation);
            }
            members.retain(|_, value| !value.is_null());
        }
        document
    }

    fn add_optional_members(&self, members: &mut Map<String, Value>) {
        for endpoint in Endpoint::ALL {
            let is_offered = match endpoint {
                Endpoint::Registration => self.registers_clients,
                Endpoint::DeviceAuthorization => self.grants_devices,
                _ => true,
            };
            if let Some(name) = endpoint.member().filter(|_| is_offered) {
                members.insert(name.into(), self.endpoint_url(endpoint).into());
            }
        }
        if self.grants_devices
            && let Some(Value::Array(grants)) = members.get_mut("grant_types_supported")
        {
            grants.push("urn:ietf:params:oauth:grant-type:device_code".into());
        }
        if !self.scopes_supported.is_empty() {
            members.insert("scopes_supported".into(), json!(self.scopes_supported));
        }
        if self.takes_documents {
            members.insert("client_id_metadata_document_supported".into(), true.into());
        }
    }
}

/// Changes the document as a deviation says.
fn deviate(members: &mut Map<String, Value>, deviation: &Deviation) {
    const ISS: &str = "authorization_response_iss_parameter_supported";
    let (name, value) = match deviation {
        Deviation::OmitCodeChallengeMethods => ("code_challenge_methods_supported", Value::Null),
        Deviation::IssuerInMetadata(issuer) => ("issuer", issuer.clone().into()),
        Deviation::AdvertiseConfidentialMethodsOnly => {
            ("token_endpoint_auth_methods_supported", json!(["client_secret_basic", "client_secret_post"]))
        }
        Deviation::NoIss | Deviation::UnpromisedIss => (ISS, Value::Null),
        Deviation::EndpointUrl(endpoint, url) => match endpoint.member() {
            Some(name) => (name, url.clone().into()),
            None => return,
        },
        Deviation::MetadataMember(name, value) => (name.as_str(), value.clone()),
        _ => return,
    };
    members.insert(name.to_owned(), value);
}
