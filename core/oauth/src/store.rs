//! [`StoredToken`]: the document that a program stores for each token, and [`TokenKey`], the key of that document.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::encoding::hex;
use crate::{Scopes, Secret, TokenEndpoint, TokenResponse, TokenType, UnixTime};

/// The format version that [`StoredToken`] writes.
const VERSION: u32 = 1;

/// The key of a stored token: the MCP server, and the user's account at that server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TokenKey {
    /// The resource as the metadata of the server spells it, or else the URL of the server.
    pub resource: String,
    /// The name that the user chose for the account. Empty if there is only one account.
    pub account: String,
}

impl TokenKey {
    /// Creates the key for an account at a server.
    pub fn new(resource: impl Into<String>, account: impl Into<String>) -> Self {
        TokenKey { resource: resource.into(), account: account.into() }
    }

    /// Returns a file name for the stored token: 64 hexadecimal digits, which are different for different keys.
    pub fn file_name(&self) -> String {
        let length = (self.resource.len() as u64).to_be_bytes();
        let hash = Sha256::new().chain_update(length).chain_update(&self.resource).chain_update(&self.account);
        hex(&hash.finalize())
    }
}

/// A token, with all data that is necessary to refresh it.
///
/// `Debug` shows no secrets. The document that [`to_bytes`](Self::to_bytes) writes contains them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredToken {
    version: u32,
    /// Number of times that the document was written. If a process finds a higher number in the store than it knows, it
    /// uses the stored token instead of refreshing its own.
    pub generation: u64,
    /// The token endpoint that issued the token. The refresh token is sent to no other issuer.
    pub endpoint: TokenEndpoint,
    /// The resource, usually the MCP server, for which the token was requested.
    pub resource: String,
    /// The identifier of the client that requested the token, to which refresh tokens are bound. `None` for a client
    /// without an identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The scopes that the client requested.
    #[serde(default, skip_serializing_if = "Scopes::is_empty")]
    pub scopes_requested: Scopes,
    /// The scopes that the authorization server granted. `None` if it did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes_granted: Option<Scopes>,
    /// The access token, which requests to the MCP server contain.
    pub access_token: Secret,
    /// How the client presents the access token to the MCP server.
    pub token_type: TokenType,
    /// When the access token was issued.
    pub obtained_at: UnixTime,
    /// When the access token expires. `None` if the authorization server did not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<UnixTime>,
    /// The refresh token, or `None` if the authorization server issued none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh_token: Option<Secret>,
    /// The thumbprint of the DPoP key to which the token is bound. `None` if the token is not bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dpop_key: Option<String>,
    /// Whether the authorization server refused a refresh with the parameter `resource`. Later refreshes omit the
    /// parameter.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub no_resource_on_refresh: bool,
    /// Identifies the login that produced the token. `None` in documents of earlier versions: see
    /// [`StoredToken::login`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    login: Option<String>,
    #[serde(flatten)]
    other: UnknownMembers,
}

/// Members that another version of this crate wrote. They are preserved. `Debug` shows only their names, because they
/// may be secrets.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct UnknownMembers(Map<String, Value>);

impl fmt::Debug for UnknownMembers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl StoredToken {
    /// Creates the document for a newly issued token.
    ///
    /// `previous` is the document that it replaces, for example from an earlier login, or `None`. The new document has
    /// a higher generation.
    pub fn new(
        endpoint: TokenEndpoint,
        resource: impl Into<String>,
        client_id: Option<&str>,
        scopes_requested: Scopes,
        response: TokenResponse,
        previous: Option<&StoredToken>,
    ) -> Self {
        let login = Some(login_of(&response.access_token));
        StoredToken {
            version: VERSION,
            generation: previous.map_or(0, |previous| previous.generation).saturating_add(1),
            endpoint,
            resource: resource.into(),
            client_id: client_id.map(Into::into),
            scopes_requested,
            scopes_granted: response.scopes,
            access_token: response.access_token,
            token_type: response.token_type,
            obtained_at: response.obtained_at,
            expires_at: response.expires_at,
            refresh_token: response.refresh_token,
            dpop_key: response.dpop_key,
            no_resource_on_refresh: false,
            login,
            other: UnknownMembers::default(),
        }
    }

    /// Returns the new document after a refresh. The refresh token and the scopes stay the same if the response does
    /// not contain them.
    pub(crate) fn refreshed(&self, response: TokenResponse) -> Self {
        StoredToken {
            generation: self.generation.saturating_add(1),
            scopes_granted: response.scopes.or_else(|| self.scopes_granted.clone()),
            access_token: response.access_token,
            token_type: response.token_type,
            obtained_at: response.obtained_at,
            expires_at: response.expires_at,
            refresh_token: response.refresh_token.or_else(|| self.refresh_token.clone()),
            login: Some(self.login()),
            ..self.clone()
        }
    }

    /// Parses a stored document. Fails if the document is damaged, or was written by a later version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, StoreError> {
        /// Only the version, because the other members may differ in later versions.
        #[derive(Deserialize)]
        struct Header {
            version: u32,
        }

        let damaged = |_| StoreError::Damaged;
        let Header { version } = serde_json::from_slice(bytes).map_err(damaged)?;
        if version > VERSION {
            return Err(StoreError::LaterVersion(version));
        }
        serde_json::from_slice(bytes).map_err(damaged)
    }

    /// Returns the document as JSON, to store it. It contains secrets.
    pub fn to_bytes(&self) -> Vec<u8> {
        // The document consists of text, numbers and JSON values, so the serialization cannot fail.
        serde_json::to_vec_pretty(self).unwrap_or_default()
    }

    /// Returns whether the token was requested for `resource` and issued by the authorization server `issuer`. Only
    /// then may it be sent to that server. Both are compared byte by byte.
    pub fn belongs_to(&self, resource: &str, issuer: &str) -> bool {
        self.resource == resource && self.endpoint.issuer == issuer
    }

    /// Returns an identifier of the login, or of the grant without a user, that produced the token. A refresh does not
    /// change it.
    ///
    /// Earlier versions did not store the identifier. For their documents it is derived from the access token, so it
    /// changes if such a version refreshes the token.
    fn login(&self) -> String {
        self.login.clone().unwrap_or_else(|| login_of(&self.access_token))
    }

    /// Returns whether the token gives the same access as `other`: both come from the same login and have the same
    /// scopes.
    ///
    /// The scopes are compared because an authorization server may return the same access token with other scopes.
    pub fn has_access_of(&self, other: &StoredToken) -> bool {
        let is_same_login = self.access_token == other.access_token || self.login() == other.login();
        let (scopes, others) = (self.scopes(), other.scopes());
        is_same_login && scopes.is_superset(others) && others.is_superset(scopes)
    }

    /// Returns the granted scopes, or the requested scopes if the authorization server did not say which it granted.
    pub fn scopes(&self) -> &Scopes {
        self.scopes_granted.as_ref().unwrap_or(&self.scopes_requested)
    }

    /// Returns whether the access token has expired. `false` if its expiry time is not known.
    pub fn is_expired(&self, now: UnixTime) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// Returns the time at which to refresh the token, so that it does not expire in use. This is a tenth of its
    /// lifetime before it expires, but at most one minute. `None` if the expiry time is not known.
    pub fn refresh_at(&self) -> Option<UnixTime> {
        let expires_at = self.expires_at?;
        let life = expires_at.duration_since(self.obtained_at);
        let early = (life / 10).min(core::time::Duration::from_secs(60));
        Some(self.obtained_at + (life.saturating_sub(early)))
    }
}

/// Derives the identifier of a login from its first access token: the first 128 bits of the SHA-256 hash.
fn login_of(first_token: &Secret) -> String {
    hex(&Sha256::digest(first_token.expose())[..16])
}

/// The reason why a stored token cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// This crate did not write the document, or the document was damaged.
    #[error("the stored token is damaged; log in again")]
    Damaged,
    /// A later version of this crate wrote the document. Contains the format version.
    #[error("the stored token has format {0}, which this version does not know; update the program, or log in again")]
    LaterVersion(u32),
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;
    use crate::testing::{ISSUER, NOW, RESOURCE, stored};
    use alloc::string::ToString;
    use core::time::Duration;
    use serde_json::json;

    fn life(seconds: u64) -> StoredToken {
        let mut token = stored(1);
        token.obtained_at = NOW;
        token.expires_at = Some(NOW + Duration::from_secs(seconds));
        token
    }

    #[test]
    fn o8_a_stored_token_expires_at_the_same_time_after_a_restart() {
        let token = life(3600);
        let json: Value = serde_json::from_slice(&token.to_bytes()).unwrap();
        assert_eq!(json["expires_at"], json!(NOW.as_secs() + 3600));
        assert_eq!(json.get("expires_in"), None);
        assert_eq!(StoredToken::from_bytes(&token.to_bytes()), Ok(token));
    }

    #[test]
    fn o6_short_lived_tokens_are_refreshed_shortly_before_they_expire_and_not_on_each_call() {
        let lead = |life_: u64| life(life_).expires_at.unwrap().duration_since(life(life_).refresh_at().unwrap());
        assert_eq!(lead(3600), Duration::from_secs(60));
        assert_eq!(lead(600), Duration::from_secs(60));
        assert_eq!(lead(60), Duration::from_secs(6));
        assert_eq!(lead(10), Duration::from_secs(1));
        assert_eq!(lead(0), Duration::ZERO);
        let mut endless = stored(1);
        endless.expires_at = None;
        assert_eq!((endless.refresh_at(), endless.is_expired(NOW + Duration::from_secs(1 << 40))), (None, false));
        assert!(!life(10).is_expired(NOW + Duration::from_secs(9)));
        assert!(life(10).is_expired(NOW + Duration::from_secs(10)));
    }

    #[test]
    fn o18_each_account_of_a_server_has_a_token_of_its_own() {
        let name = |resource: &str, account: &str| TokenKey::new(resource, account).file_name();
        let names =
            [name("https://a/", ""), name("https://a/", "work"), name("https://a/wo", "rk"), name("https://b/", "")];
        for (index, one) in names.iter().enumerate() {
            assert_eq!(one.len(), 64);
            assert!(one.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')));
            assert!(!names[index + 1..].contains(one), "{one}");
        }
        assert_eq!(name("https://a/", "work"), name("https://a/", "work"));
    }

    #[test]
    fn a10_t3_a_token_belongs_to_one_resource_and_one_authorization_server() {
        let token = stored(1);
        assert!(token.belongs_to(RESOURCE, ISSUER));
        assert!(!token.belongs_to(RESOURCE, "https://auth.example.com/"), "compared as bytes");
        assert!(!token.belongs_to("https://mcp.example.com", ISSUER));
    }

    #[test]
    fn t4_debug_output_shows_no_secrets() {
        let mut json: Value = serde_json::from_slice(&stored(1).to_bytes()).unwrap();
        json["from_the_future"] = json!({"token": "later-1"});
        let text = format!("{:?}", StoredToken::from_bytes(json.to_string().as_bytes()).unwrap());
        assert!(text.contains("from_the_future"), "{text}");
        assert!(!["access-1", "refresh-1", "later-1"].iter().any(|secret| text.contains(secret)), "{text}");
    }

    #[test]
    fn o19_the_refresh_token_can_be_kept_apart_from_the_rest() {
        let mut token = stored(1);
        let secret = token.refresh_token.take().unwrap();
        let file = token.to_bytes();
        assert!(!String::from_utf8(file.clone()).unwrap().contains(secret.expose()));
        let mut read = StoredToken::from_bytes(&file).unwrap();
        read.refresh_token = Some(secret);
        assert_eq!(read, stored(1));
    }

    #[test]
    fn unknown_members_survive_a_refresh_and_later_versions_are_refused() {
        let mut json: Value = serde_json::from_slice(&stored(1).to_bytes()).unwrap();
        json["from_the_future"] = json!({"a": [1]});
        let token = StoredToken::from_bytes(json.to_string().as_bytes()).unwrap();
        let refreshed: Value =
            serde_json::from_slice(&token.refreshed(crate::testing::issued("x")).to_bytes()).unwrap();
        assert_eq!(refreshed["from_the_future"], json!({"a": [1]}));
        assert_eq!(refreshed["version"], json!(1));
        json["version"] = json!(2);
        let error = StoredToken::from_bytes(json.to_string().as_bytes()).unwrap_err();
        assert_eq!(error, StoreError::LaterVersion(2));
        assert!(error.to_string().contains("update the program"));
        let other = br#"{"version":3,"tokens":["of another form"]}"#;
        assert_eq!(StoredToken::from_bytes(other), Err(StoreError::LaterVersion(3)));
        for damaged in ["", "{}", "null", "{\"version\":1}"] {
            assert_eq!(StoredToken::from_bytes(damaged.as_bytes()), Err(StoreError::Damaged), "{damaged}");
        }
    }

    #[test]
    fn t7_a_refresh_keeps_what_the_response_does_not_name_and_takes_the_newest_refresh_token() {
        let mut old = stored(1);
        old.scopes_granted = Some(Scopes::parse("a"));
        let kept = old.refreshed(crate::testing::issued("access-2"));
        assert_eq!((kept.generation, kept.access_token.expose()), (2, "access-2"));
        assert_eq!(kept.refresh_token.as_ref().unwrap().expose(), "refresh-1");
        assert_eq!(kept.scopes().to_string(), "a");
        let mut response = crate::testing::issued("access-3");
        response.refresh_token = Some(Secret::new("refresh-3"));
        response.scopes = Some(Scopes::parse("a b"));
        let newest = kept.refreshed(response);
        assert_eq!(newest.refresh_token.as_ref().unwrap().expose(), "refresh-3");
        assert_eq!((newest.scopes().to_string().as_str(), newest.generation), ("a b", 3));
    }

    #[test]
    fn a_new_login_replaces_the_document_with_a_greater_generation() {
        let old = stored(7);
        let mut response = crate::testing::issued("n");
        response.dpop_key = Some("thumb".into());
        let new =
            StoredToken::new(old.endpoint.clone(), RESOURCE, Some("c2"), Scopes::parse("s"), response, Some(&old));
        assert_eq!((new.generation, new.client_id.as_deref(), new.dpop_key.as_deref()), (8, Some("c2"), Some("thumb")));
        assert_eq!(new.scopes().to_string(), "s", "the requested scopes if the server names none");
    }
}
