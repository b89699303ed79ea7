//! [`ClientInformation`]: the identifier and credentials of the client at an authorization server.
//! [`ClientAuthentication`]: how a client authenticates at a token endpoint (RFC 6749, section 2.3, and RFC 7523).

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::encoding::{Form, encode};
use crate::error::quoted;
use crate::jose;
use crate::{AuthMethod, Entropy, Error, ErrorKind, Secret, Setting, SigningAlgorithm, Step, TokenEndpoint, UnixTime};

/// How a client got its identifier (basic/authorization/client-registration).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ClientSource {
    /// The user or the program has configured the identifier.
    PreRegistered,
    /// The identifier is the URL of the client's metadata document. It is valid at every authorization server that
    /// supports such documents.
    MetadataDocument,
    /// The authorization server issued the identifier when the client registered (RFC 7591).
    Registered,
}

/// The identifier and credentials of a client at one authorization server.
///
/// Store this value under the issuer and the redirect URI. Pass it to the next [`Registration`](crate::Registration) or
/// [`Login`](crate::Login), so that the client does not register at each login. A program that listens on a local port
/// first tries the port of the stored redirect URI, because many authorization servers refuse another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ClientInformation {
    /// How the client got its identifier.
    pub source: ClientSource,
    /// The issuer of the authorization server at which the client is known.
    pub issuer: String,
    /// The redirect URI with which the client was registered.
    pub redirect_uri: String,
    /// The client's identifier, `client_id`.
    pub client_id: String,
    /// The client's secret, or `None` for a client without a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// When the client's secret expires. `None` if the secret does not expire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret_expires_at: Option<UnixTime>,
    /// The method by which the client authenticates at the token endpoint. `None` if the registration does not name a
    /// method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth_method: Option<AuthMethod>,
    /// The access token with which the client can change its registration (RFC 7592). `None` if the server issued none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_access_token: Option<Secret>,
    /// The URL at which the client can change its registration (RFC 7592). `None` if the server named none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registration_client_uri: Option<String>,
    /// When the client was registered. For a client that need not register, when it was first used.
    pub registered_at: UnixTime,
}

impl ClientInformation {
    /// Creates the information of a client without a secret.
    pub(crate) fn new(
        source: ClientSource,
        client_id: &str,
        issuer: &str,
        redirect_uri: &str,
        registered_at: UnixTime,
    ) -> Self {
        ClientInformation {
            source,
            issuer: issuer.to_string(),
            redirect_uri: redirect_uri.to_string(),
            client_id: client_id.to_string(),
            client_secret: None,
            client_secret_expires_at: None,
            auth_method: None,
            registration_access_token: None,
            registration_client_uri: None,
            registered_at,
        }
    }

    /// Returns whether the client can use this registration again. It must be a registration at `issuer` for
    /// `redirect_uri`, with a secret that has not expired.
    pub fn is_registered_for(&self, issuer: &str, redirect_uri: &str, now: UnixTime) -> bool {
        self.source == ClientSource::Registered
            && self.issuer == issuer
            && self.redirect_uri == redirect_uri
            && self.client_secret_expires_at.is_none_or(|end| now < end)
    }

    /// Chooses how the client authenticates at a token endpoint. `key` is the signing key of a client that uses
    /// `private_key_jwt`, or `None`.
    pub fn authentication(
        &self,
        endpoint: &TokenEndpoint,
        key: Option<&ClientKey>,
    ) -> Result<ClientAuthentication, Error> {
        let supported = endpoint.auth_methods.as_deref();
        ClientAuthentication::choose(&self.client_id, self.client_secret.as_ref(), key, self.auth_method, supported)
    }
}

/// Time after which a signed client assertion expires. Two minutes allow for small differences between the clocks.
const ASSERTION_LIFE: Duration = Duration::from_secs(120);

/// Describes the key with which a client authenticates by `private_key_jwt`. The private key itself stays with the
/// program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientKey {
    algorithm: SigningAlgorithm,
    key_id: Option<String>,
}

impl ClientKey {
    /// Describes a key by its signature algorithm, without a key identifier.
    pub const fn new(algorithm: SigningAlgorithm) -> Self {
        ClientKey { algorithm, key_id: None }
    }

    /// Sets the identifier under which the key was registered. Assertions contain it as `kid`. Default: none.
    pub fn key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = Some(key_id.into());
        self
    }
}

/// The identifier of a client, and the credential with which it authenticates at a token endpoint.
///
/// `Debug` does not show the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientAuthentication {
    client_id: Option<String>,
    credential: Credential,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Credential {
    None,
    Basic(Secret),
    Post(Secret),
    PrivateKeyJwt(ClientKey),
}

impl ClientAuthentication {
    /// Creates a public client, which sends its identifier but has no secret.
    pub fn public(client_id: impl Into<String>) -> Self {
        Self::new(Some(client_id.into()), Credential::None)
    }

    /// Creates a client that sends no identifier, for grants whose assertion identifies the client.
    pub fn anonymous() -> Self {
        Self::new(None, Credential::None)
    }

    /// Creates a client that sends its secret in the `Authorization` header (HTTP Basic).
    pub fn client_secret_basic(client_id: impl Into<String>, secret: Secret) -> Self {
        Self::new(Some(client_id.into()), Credential::Basic(secret))
    }

    /// Creates a client that sends its secret in the body of the request.
    pub fn client_secret_post(client_id: impl Into<String>, secret: Secret) -> Self {
        Self::new(Some(client_id.into()), Credential::Post(secret))
    }

    /// Creates a client that authenticates with an assertion signed by `key`.
    pub fn private_key_jwt(client_id: impl Into<String>, key: ClientKey) -> Self {
        Self::new(Some(client_id.into()), Credential::PrivateKeyJwt(key))
    }

    const fn new(client_id: Option<String>, credential: Credential) -> Self {
        ClientAuthentication { client_id, credential }
    }

    /// Chooses how a client authenticates, from its credentials and the methods that the authorization server supports.
    ///
    /// `registered` is the method in the client's registration, if it names one. `supported` is
    /// `token_endpoint_auth_methods_supported`. A key is preferred to a secret. A secret is sent by the first listed
    /// method that uses a secret, or by `client_secret_basic` if there is no list (RFC 8414). A client without secret
    /// and key is public even if the list lacks `none`, because some authorization servers omit it.
    pub fn choose(
        client_id: &str,
        secret: Option<&Secret>,
        key: Option<&ClientKey>,
        registered: Option<AuthMethod>,
        supported: Option<&[String]>,
    ) -> Result<Self, Error> {
        let with = |method| {
            let credential = match method {
                AuthMethod::None => Credential::None,
                AuthMethod::ClientSecretBasic => Credential::Basic(secret?.clone()),
                AuthMethod::ClientSecretPost => Credential::Post(secret?.clone()),
                AuthMethod::PrivateKeyJwt => Credential::PrivateKeyJwt(key?.clone()),
            };
            Some(Self::new(Some(client_id.into()), credential))
        };
        if let Some(client) = registered.and_then(with) {
            return Ok(client);
        }
        if secret.is_none() && key.is_none() {
            return Ok(Self::public(client_id));
        }
        let is_supported = |method: &AuthMethod| match supported {
            Some(names) => names.iter().any(|name| name == method.name()),
            None => *method != AuthMethod::None,
        };
        let strongest_first =
            [Some(AuthMethod::PrivateKeyJwt), AuthMethod::of_secret(supported), Some(AuthMethod::None)];
        strongest_first.into_iter().flatten().filter(is_supported).find_map(with).ok_or_else(|| {
            let names = supported.unwrap_or_default().join(", ");
            let names = quoted(&names);
            let has = if secret.is_some() { "a secret" } else { "a key" };
            let reason =
                alloc::format!("the authorization server lists the methods {names} only, and this client has {has}");
            Error::new(ErrorKind::Misconfigured, Step::Token, reason).with_setting(
                "if the list is wrong, the setting ",
                Setting::AuthMethod,
                " names the method of the client",
            )
        })
    }

    /// Adapts how the client authenticates to another endpoint. The client sends its secret by the other method if
    /// `supported` lists only that method. Without a list, nothing changes.
    ///
    /// If the list has only methods with a secret, a public client sends an empty secret (RFC 6749, section 2.3.1),
    /// because the revocation endpoint of the Python SDK requires the parameter.
    pub fn at_endpoint(self, supported: Option<&[String]>) -> Self {
        let lists = |method: AuthMethod| supported.into_iter().flatten().any(|name| name == method.name());
        let (basic, post) = (lists(AuthMethod::ClientSecretBasic), lists(AuthMethod::ClientSecretPost));
        let credential = match self.credential {
            Credential::Basic(secret) if post && !basic => Credential::Post(secret),
            Credential::Post(secret) if basic && !post => Credential::Basic(secret),
            Credential::None if self.client_id.is_some() && post && !lists(AuthMethod::None) => {
                Credential::Post(Secret::new(""))
            }
            other => other,
        };
        ClientAuthentication { credential, ..self }
    }

    /// Returns the client's identifier, or `None` if the client sends no identifier.
    pub fn client_id(&self) -> Option<&str> {
        self.client_id.as_deref()
    }

    /// Returns the method by which the client authenticates, as metadata names it.
    pub const fn method(&self) -> AuthMethod {
        match self.credential {
            Credential::None => AuthMethod::None,
            Credential::Basic(_) => AuthMethod::ClientSecretBasic,
            Credential::Post(_) => AuthMethod::ClientSecretPost,
            Credential::PrivateKeyJwt(_) => AuthMethod::PrivateKeyJwt,
        }
    }

    /// Returns the client's secret, or `None` if the client has no secret.
    pub(crate) const fn secret(&self) -> Option<&Secret> {
        match &self.credential {
            Credential::Basic(secret) | Credential::Post(secret) => Some(secret),
            Credential::None | Credential::PrivateKeyJwt(_) => None,
        }
    }

    /// Returns the encoded credentials for HTTP Basic, or `None` if the client authenticates by another method.
    pub(crate) fn basic(&self) -> Option<String> {
        let Credential::Basic(secret) = &self.credential else { return None };
        let client_id = self.client_id.as_deref().unwrap_or_default();
        // RFC 6749, section 2.3.1: identifier and secret are form-encoded before base64, so that they may contain a
        // colon.
        Some(BASE64_STANDARD.encode(encode_for_basic(client_id) + ":" + &encode_for_basic(secret.expose())))
    }

    /// Returns the bytes to sign for a client assertion, as text. `None` if the client authenticates by another method.
    /// `issuer` becomes the audience.
    pub(crate) fn assertion_input(&self, issuer: &str, now: UnixTime, entropy: &mut Entropy) -> Option<String> {
        let Credential::PrivateKeyJwt(key) = &self.credential else { return None };
        let client_id = self.client_id.as_deref()?;
        let mut header = json!({"alg": key.algorithm.name(), "typ": "JWT"});
        if let Some(key_id) = &key.key_id {
            header["kid"] = key_id.as_str().into();
        }
        let (iat, exp, jti) = (now.as_secs(), (now + ASSERTION_LIFE).as_secs(), entropy.next_text());
        let claims = json!({"iss": client_id, "sub": client_id, "aud": issuer, "iat": iat, "exp": exp, "jti": jti});
        Some(jose::signing_input(&header, &claims))
    }

    /// Adds the client's identifier and credential to a request. `assertion` is the signed
    /// [`assertion_input`](Self::assertion_input), or `None` for other methods.
    pub(crate) fn apply(
        &self,
        form: Form,
        headers: &mut Vec<(Cow<'static, str>, String)>,
        assertion: Option<&str>,
    ) -> Form {
        let client_id = self.client_id.as_deref();
        match &self.credential {
            Credential::None => form.with_optional("client_id", client_id),
            Credential::Basic(_) => {
                headers.extend(self.basic().map(|basic| ("authorization".into(), "Basic ".to_string() + &basic)));
                // RFC 6749 does not require `client_id` here. Some servers, such as servers with the Python SDK, need
                // it to find the client.
                form.with_optional("client_id", client_id)
            }
            Credential::Post(secret) => {
                form.with_optional("client_id", client_id).with("client_secret", secret.expose())
            }
            // The assertion already identifies the client (RFC 7523, section 3).
            Credential::PrivateKeyJwt(_) => form
                .with("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
                .with_optional("client_assertion", assertion),
        }
    }
}

/// Encodes a value for HTTP Basic. A space becomes `%20`, because some servers do not decode `+`.
fn encode_for_basic(text: &str) -> String {
    encode(text).replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jose::tests::read;
    use alloc::format;

    fn apply(client: &ClientAuthentication, assertion: Option<&str>) -> (String, Vec<(Cow<'static, str>, String)>) {
        let mut headers = Vec::new();
        let form = client.apply(Form::new().with("a", "b"), &mut headers, assertion);
        (form.into_string(), headers)
    }

    fn supported(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn t8_basic_encodes_both_values_as_forms_before_base64() {
        let client = ClientAuthentication::client_secret_basic("my client:1", Secret::new("p%ss:wörd+ "));
        let (form, headers) = apply(&client, None);
        assert_eq!(form, "a=b&client_id=my+client%3A1", "some servers look for the client in the body");
        let value = headers[0].1.strip_prefix("Basic ").unwrap();
        let decoded = String::from_utf8(BASE64_STANDARD.decode(value).unwrap()).unwrap();
        assert_eq!((&*headers[0].0, &*decoded), ("authorization", "my%20client%3A1:p%25ss%3Aw%C3%B6rd%2B%20"));
    }

    #[test]
    fn t8_post_and_public_clients_name_themselves_in_the_body() {
        let post = apply(&ClientAuthentication::client_secret_post("c", Secret::new("s&s")), None);
        assert_eq!(post, ("a=b&client_id=c&client_secret=s%26s".into(), Vec::new()));
        assert_eq!(apply(&ClientAuthentication::public("c"), None), ("a=b&client_id=c".into(), Vec::new()));
        assert_eq!(apply(&ClientAuthentication::anonymous(), None), ("a=b".into(), Vec::new()));
    }

    #[test]
    fn cc3_an_assertion_names_client_issuer_and_a_short_life() {
        let key = ClientKey::new(SigningAlgorithm::Rs256).key_id("k1");
        let client = ClientAuthentication::private_key_jwt("my-client", key);
        let (now, mut entropy) = (UnixTime::from_secs(1000), Entropy::new([1; 32]));
        let mut next = || client.assertion_input("https://auth.example.com/", now, &mut entropy).unwrap();
        let (one, other) = (next(), next());
        assert_ne!(one, other, "the identifiers differ");
        let (header, claims, _) = read(&jose::with_signature(&one, b"s"));
        assert_eq!(header, json!({"alg": "RS256", "typ": "JWT", "kid": "k1"}));
        let jti = claims["jti"].as_str().unwrap();
        assert_eq!(
            claims,
            json!({"iss": "my-client", "sub": "my-client", "aud": "https://auth.example.com/", "iat": 1000,
                "exp": 1120, "jti": jti})
        );
        assert_eq!(
            apply(&client, Some("x.y.z")).0,
            "a=b&client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer\
             &client_assertion=x.y.z",
            "cc1: no client_id"
        );
        let public = ClientAuthentication::public("c");
        assert_eq!(public.assertion_input("i", now, &mut entropy), None);
    }

    #[test]
    fn t8_the_method_is_one_that_the_authorization_server_supports() {
        use AuthMethod::{ClientSecretBasic as Basic, ClientSecretPost as Post, None as Public, PrivateKeyJwt as Jwt};
        let (secret, key) = (Secret::new("s"), ClientKey::new(SigningAlgorithm::Es256));
        let choose = |secret, key, registered, names: Option<&[&str]>| {
            let names = names.map(supported);
            ClientAuthentication::choose("c", secret, key, registered, names.as_deref()).map(|client| client.method())
        };
        let (secret, key) = (Some(&secret), Some(&key));
        assert_eq!(choose(secret, None, None, None), Ok(Basic), "the default of RFC 8414");
        assert_eq!(choose(secret, None, None, Some(&["client_secret_post", "client_secret_basic"])), Ok(Post));
        assert_eq!(choose(secret, None, None, Some(&["x", "client_secret_basic", "client_secret_post"])), Ok(Basic));
        assert_eq!(choose(secret, None, None, Some(&["client_secret_post", "none"])), Ok(Post));
        assert_eq!(choose(secret, None, None, Some(&["none"])), Ok(Public));
        assert_eq!(choose(secret, key, None, Some(&["client_secret_basic", "private_key_jwt"])), Ok(Jwt));
        assert_eq!(choose(None, key, None, None), Ok(Jwt));
        assert_eq!(choose(secret, None, Some(Post), Some(&["client_secret_basic"])), Ok(Post), "as registered");
        assert_eq!(choose(None, None, Some(Basic), Some(&["client_secret_basic"])), Ok(Public), "no secret came");
        assert_eq!(choose(None, None, None, Some(&["client_secret_basic"])), Ok(Public), "authentik");
        assert_eq!(choose(None, None, None, None), Ok(Public));
    }

    #[test]
    fn a_secret_is_sent_to_another_endpoint_by_a_method_that_the_endpoint_lists() {
        use AuthMethod::{ClientSecretBasic as Basic, ClientSecretPost as Post};
        let method = |client: ClientAuthentication, names: Option<&[&str]>| {
            client.at_endpoint(names.map(supported).as_deref()).method()
        };
        let basic = || ClientAuthentication::client_secret_basic("c", Secret::new("s"));
        let post = || ClientAuthentication::client_secret_post("c", Secret::new("s"));
        assert_eq!(
            (method(basic(), Some(&["client_secret_post"])), method(post(), Some(&["client_secret_post"]))),
            (Post, Post)
        );
        assert_eq!(
            (method(basic(), Some(&["client_secret_basic"])), method(post(), Some(&["client_secret_basic"]))),
            (Basic, Basic)
        );
        assert_eq!((method(basic(), None), method(post(), None)), (Basic, Post));
        assert_eq!((method(basic(), Some(&["x"])), method(post(), Some(&["x"]))), (Basic, Post));
        let public = |names| apply(&ClientAuthentication::public("c").at_endpoint(Some(&supported(names))), None).0;
        assert_eq!(public(&["client_secret_post", "client_secret_basic"]), "a=b&client_id=c&client_secret=");
        assert_eq!(public(&["client_secret_post", "none"]), "a=b&client_id=c");
        assert_eq!(public(&["client_secret_basic"]), "a=b&client_id=c");
        assert_eq!(
            apply(&ClientAuthentication::anonymous().at_endpoint(Some(&supported(&["client_secret_post"]))), None).0,
            "a=b"
        );
    }

    #[test]
    fn t8_a_client_without_a_credential_that_is_taken_is_an_error_that_says_so() {
        let (secret, key) = (Secret::new("hidden"), ClientKey::new(SigningAlgorithm::Es256));
        let names = supported(&["tls_client_auth"]);
        let error = ClientAuthentication::choose("c", Some(&secret), None, None, Some(&names)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Misconfigured);
        let text = error.to_string();
        assert!(
            text.contains("tls_client_auth only") && text.contains("a secret;") && text.contains("`auth_method`"),
            "{text}"
        );
        let error = ClientAuthentication::choose("c", None, Some(&key), None, Some(&names)).unwrap_err();
        assert!(error.to_string().contains("this client has a key;"), "{error}");
    }

    #[test]
    fn names_and_debug_output_are_safe_to_use() {
        use AuthMethod::{ClientSecretBasic, ClientSecretPost, PrivateKeyJwt};
        for method in [AuthMethod::None, ClientSecretBasic, ClientSecretPost, PrivateKeyJwt] {
            assert_eq!(AuthMethod::from_name(method.name()), Some(method));
            assert_eq!(serde_json::to_value(method).unwrap(), json!(method.name()));
        }
        assert_eq!(AuthMethod::from_name("client_secret_jwt"), None);
        let client = ClientAuthentication::client_secret_basic("c", Secret::new("hidden"));
        assert!(!format!("{client:?}").contains("hidden"));
        assert_eq!(client.client_id(), Some("c"));
    }
}
