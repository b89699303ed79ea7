//! [`OAuthSettings`]: the settings of the OAuth flows for one server.

use alloc::format;
use alloc::string::{String, ToString};

use sha2::{Digest, Sha256};

use crate::encoding::hex;
use crate::error::quoted;
use crate::{AuthMethod, Error, ErrorKind, Scopes, Secret, Setting, Step};

/// Settings of the OAuth flows for one server: the client's identity, and exceptions for servers that deviate from the
/// specification.
#[derive(Clone, Debug)]
#[must_use = "settings have no effect until they are used"]
#[expect(clippy::struct_excessive_bools, reason = "each is a setting of its own")]
pub struct OAuthSettings {
    pub(crate) client_name: String,
    pub(crate) redirect_uri: String,
    pub(crate) client_id: Option<String>,
    pub(crate) client_secret: Option<Secret>,
    pub(crate) client_issuer: Option<String>,
    pub(crate) trusts_first_issuer: bool,
    pub(crate) auth_method: Option<AuthMethod>,
    pub(crate) metadata_url: Option<String>,
    pub(crate) client_uri: Option<String>,
    pub(crate) scopes: Option<Scopes>,
    pub(crate) device_grant: bool,
    pub(crate) dpop_bound_tokens: bool,
    // Exceptions for servers that deviate from the specification.
    pub(crate) omit_resource: bool,
    pub(crate) assume_pkce: bool,
    pub(crate) lenient_issuer: bool,
    pub(crate) accept_parent_resource: bool,
}

impl OAuthSettings {
    /// Creates settings for a client that authorization servers display as `client_name`.
    ///
    /// Authorization servers redirect the browser to `redirect_uri` after a login. It must be an `https` URL, or an
    /// `http` URL of this machine such as `http://127.0.0.1:49152/callback`.
    pub fn new(client_name: impl Into<String>, redirect_uri: impl Into<String>) -> Self {
        OAuthSettings {
            client_name: client_name.into(),
            redirect_uri: redirect_uri.into(),
            client_id: None,
            client_secret: None,
            client_issuer: None,
            trusts_first_issuer: false,
            auth_method: None,
            metadata_url: None,
            client_uri: None,
            scopes: None,
            device_grant: false,
            dpop_bound_tokens: false,
            omit_resource: false,
            assume_pkce: false,
            lenient_issuer: false,
            accept_parent_resource: false,
        }
    }

    mcpwire_text::setters! {
        /// Replaces the redirect URI, for programs that know their port only after they listen on it.
        fn redirect_uri(redirect_uri: impl Into<String>) => redirect_uri = redirect_uri.into();

        /// Sets the identifier of a client that is already registered. The client then neither registers itself nor
        /// uses a metadata document. Default: none.
        fn client_id(client_id: impl Into<String>) => client_id = Some(client_id.into());

        /// Sets the secret of the registered client. It requires [`client_issuer`](Self::client_issuer), unless the
        /// client was already used at its authorization server or [`trust_first_issuer`](Self::trust_first_issuer) is
        /// set.
        fn client_secret(secret: Secret) => client_secret = Some(secret);

        /// Sets the method by which the client authenticates, for authorization servers that accept only one method for
        /// a client.
        ///
        /// Default: for a client that registers itself, the method in its registration. For a client with a secret, the
        /// first suitable method that the authorization server lists.
        fn auth_method(method: AuthMethod) => auth_method = Some(method);

        /// Sets the issuer of the authorization server at which the client is registered. A login at any other
        /// authorization server fails. Default: none.
        fn client_issuer(issuer: impl Into<String>) => client_issuer = Some(issuer.into());

        /// Sets whether the client's secret may be sent to the first authorization server that the MCP server names.
        /// This applies only if [`client_issuer`](Self::client_issuer) is not set. Default: `false`, because a
        /// malicious MCP server could name its own authorization server and get the secret.
        fn trust_first_issuer(trusted: bool) => trusts_first_issuer = trusted;

        /// Sets the `https` URL of the client's metadata document (Client ID Metadata Document). Authorization servers
        /// that support such documents accept this URL as the client's identifier. Default: none.
        fn client_metadata_url(url: impl Into<String>) => metadata_url = Some(url.into());

        /// Sets the URL of the client's home page, which authorization servers may show to users. Default: none.
        fn client_uri(url: impl Into<String>) => client_uri = Some(url.into());

        /// Sets the scopes to request, instead of the scopes that the server names. The scopes of challenges are
        /// requested in addition.
        fn scopes(scopes: Scopes) => scopes = Some(scopes);

        /// Sets whether the client also registers for the device grant (RFC 8628), which programs without a browser
        /// need. Default: `false`.
        fn device_grant(wanted: bool) => device_grant = wanted;

        /// Sets whether the client's registration says that it uses only tokens that are bound to a DPoP key (RFC 9449,
        /// section 5.2). Default: `false`.
        fn dpop_bound_tokens(bound: bool) => dpop_bound_tokens = bound;

        /// Sets whether requests omit the parameter `resource`, because some authorization servers, such as Microsoft
        /// Entra, refuse it. Default: `false`, because the specification requires the parameter.
        fn omit_resource(omitted: bool) => omit_resource = omitted;

        /// Sets whether to use authorization servers whose metadata does not mention PKCE. Amazon Cognito and Microsoft
        /// Entra support PKCE without saying so. Default: `false`, because the specification requires such servers to
        /// be refused.
        fn assume_pkce(assumed: bool) => assume_pkce = assumed;

        /// Sets whether the issuer in the metadata of an authorization server may be missing, or differ by a slash at
        /// its end. Default: `false`, because the specification requires an identical issuer.
        fn lenient_issuer(lenient: bool) => lenient_issuer = lenient;

        /// Sets whether the metadata of an MCP server may always describe a parent of its URL, such as the origin.
        /// Tokens may then be valid at all servers below that parent.
        ///
        /// Default: `false`. Metadata about a parent is then accepted only from the well-known URL of that parent.
        fn accept_parent_resource(accepted: bool) => accept_parent_resource = accepted;
    }

    /// Returns the value of [`auth_method`](Self::auth_method), or `None` if no method is set.
    pub const fn auth_method_of_client(&self) -> Option<AuthMethod> {
        self.auth_method
    }

    /// Returns a hash of the settings, to detect whether a pending login was begun with other settings. The values of
    /// secrets do not affect the hash.
    ///
    /// Settings with their default value are not hashed, so that the hash stays the same if a later version adds
    /// settings.
    pub fn fingerprint(&self) -> String {
        // All fields are listed, so that the compiler reports a new field.
        let OAuthSettings {
            client_name,
            redirect_uri,
            client_id,
            client_secret,
            client_issuer,
            trusts_first_issuer,
            auth_method,
            metadata_url,
            client_uri,
            scopes,
            device_grant,
            dpop_bound_tokens,
            omit_resource,
            assume_pkce,
            lenient_issuer,
            accept_parent_resource,
        } = self;
        let scopes = scopes.as_ref().map(ToString::to_string);
        let flag = |is_set: &bool| is_set.then_some("");
        let mut hash = Sha256::new();
        for (name, value) in [
            ("client_name", Some(client_name.as_str())),
            ("redirect_uri", Some(redirect_uri.as_str()).filter(|uri| !uri.is_empty())),
            ("client_id", client_id.as_deref()),
            ("client_secret", client_secret.as_ref().map(|_| "")),
            ("client_issuer", client_issuer.as_deref()),
            ("auth_method", auth_method.map(AuthMethod::name)),
            ("client_metadata_url", metadata_url.as_deref()),
            ("client_uri", client_uri.as_deref()),
            ("scopes", scopes.as_deref()),
            ("trust_first_issuer", flag(trusts_first_issuer)),
            ("device_grant", flag(device_grant)),
            ("dpop_bound_tokens", flag(dpop_bound_tokens)),
            ("omit_resource", flag(omit_resource)),
            ("assume_pkce", flag(assume_pkce)),
            ("lenient_issuer", flag(lenient_issuer)),
            ("accept_parent_resource", flag(accept_parent_resource)),
        ] {
            for part in value.map(|value| [name, value]).into_iter().flatten() {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        hex(&hash.finalize())
    }

    /// Returns the identifier of the registered client, and whether the client has a secret. `None` if
    /// [`client_id`](Self::client_id) is not set.
    pub fn configured_client(&self) -> Option<(&str, bool)> {
        Some((self.client_id.as_deref()?, self.client_secret.is_some()))
    }

    /// Returns the issuer that [`client_issuer`](OAuthSettings::client_issuer) set, or `None` if it is not set.
    pub fn issuer_of_client(&self) -> Option<&str> {
        self.client_issuer.as_deref()
    }

    /// Checks that the credentials of a registered client may be sent to the authorization server `issuer`
    /// (basic/authorization/client-registration, "Authorization Server Binding").
    ///
    /// The client belongs to the issuer in the settings, or else to `used_before`, the issuer at which the client was
    /// used before. `has_secret` says whether the client authenticates with a secret, which would be revealed to the
    /// authorization server.
    ///
    /// # Errors
    /// Fails if the client belongs to another authorization server. Fails with [`ErrorKind::ClientIssuerRequired`] if
    /// the client has a secret and no known issuer, unless the settings [trust the first
    /// issuer](OAuthSettings::trust_first_issuer).
    pub fn check_client_issuer(
        &self,
        client_id: &str,
        has_secret: bool,
        used_before: Option<&str>,
        issuer: &str,
    ) -> Result<(), Error> {
        match self.client_issuer.as_deref().or(used_before) {
            Some(expected) if expected == issuer => Ok(()),
            Some(expected) => {
                let reason = format!(
                    "the client `{client_id}` is registered at `{expected}`, but the server now names `{}`",
                    quoted(issuer)
                );
                let before = "if the change is right, register a client there, and set its identifier and ";
                let error = Error::new(ErrorKind::Misconfigured, Step::Registration, reason);
                Err(error.with_setting(before, Setting::ClientIssuer, ""))
            }
            None if has_secret && !self.trusts_first_issuer => {
                let reason = format!(
                    "the secret of the client `{client_id}` was not sent to `{}`: no setting says that the client is \
                     registered there",
                    quoted(issuer)
                );
                let error = Error::new(ErrorKind::ClientIssuerRequired, Step::Registration, reason);
                let after = " to the authorization server that has issued the secret";
                Err(error.with_setting("set ", Setting::ClientIssuer, after))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::ISSUER;
    use alloc::vec::Vec;

    fn settings() -> OAuthSettings {
        OAuthSettings::new("test", "http://127.0.0.1/callback")
    }

    #[test]
    fn each_setting_changes_the_fingerprint_and_the_value_of_a_secret_does_not() {
        let all = [
            settings(),
            OAuthSettings::new("other", "http://127.0.0.1/callback"),
            settings().redirect_uri("http://127.0.0.1/other"),
            settings().client_id("a"),
            settings().client_secret(Secret::new("a")),
            settings().client_issuer("a"),
            settings().trust_first_issuer(true),
            settings().auth_method(AuthMethod::ClientSecretBasic),
            settings().auth_method(AuthMethod::ClientSecretPost),
            settings().client_metadata_url("a"),
            settings().client_uri("a"),
            settings().scopes(Scopes::parse("a")),
            settings().scopes(Scopes::parse("a b")),
            settings().device_grant(true),
            settings().dpop_bound_tokens(true),
            settings().omit_resource(true),
            settings().assume_pkce(true),
            settings().lenient_issuer(true),
            settings().accept_parent_resource(true),
        ];
        let all: Vec<_> = all.iter().map(OAuthSettings::fingerprint).collect();
        for (at, one) in all.iter().enumerate() {
            assert!(!all[at + 1..].contains(one), "{at}");
        }
        let secret = |value: &str| settings().client_secret(Secret::new(value)).fingerprint();
        assert_eq!(secret("a"), secret("b"));
    }

    /// Pending logins are stored with the fingerprint, so it must never change.
    #[test]
    fn the_fingerprint_is_the_same_in_all_versions() {
        let settings = settings().client_id("client-1").scopes(Scopes::parse("a b")).assume_pkce(true);
        assert_eq!(settings.fingerprint(), "bd9546f39a0f25c3da33d69baf0d4ea739e6021704d2ca358daf58f295ceb9f5");
    }

    #[test]
    fn the_credentials_of_a_client_go_only_to_the_issuer_of_the_settings_or_of_an_earlier_use() {
        let other = Some("https://other.example");
        let at = |issuer: &str| settings().client_issuer(issuer);
        let trusting = settings().trust_first_issuer(true);
        let (unknown, refused) = (Err(ErrorKind::ClientIssuerRequired), Err(ErrorKind::Misconfigured));
        for (name, settings, has_secret, used_before, result) in [
            ("a secret without an issuer", settings(), true, None, unknown),
            ("the issuer of an earlier use", settings(), true, Some(ISSUER), Ok(())),
            ("another issuer than that of an earlier use", settings(), true, other, refused),
            ("the issuer of the settings", at(ISSUER), true, None, Ok(())),
            ("the settings say more than an earlier use", at(ISSUER), true, other, Ok(())),
            ("another issuer than that of the settings", at("https://other.example"), true, Some(ISSUER), refused),
            ("the first issuer, which is trusted by name", trusting.clone(), true, None, Ok(())),
            ("another issuer than the first, which is trusted", trusting, true, other, refused),
            ("a client without a secret", settings(), false, None, Ok(())),
            ("a client without a secret at another issuer", settings(), false, other, refused),
            ("a part of the issuer", at(&ISSUER[..ISSUER.len() - 1]), true, None, refused),
            ("an issuer with a slash", at(&format!("{ISSUER}/")), true, None, refused),
            ("an issuer in capitals", at(&ISSUER.to_uppercase()), true, None, refused),
            ("an empty issuer", at(""), true, None, refused),
        ] {
            let checked = settings.check_client_issuer("mine", has_secret, used_before, ISSUER);
            assert_eq!(checked.map_err(|error| error.kind()), result, "{name}");
        }
    }

    #[test]
    fn the_error_names_the_client_the_issuer_and_the_setting() {
        let error = OAuthSettings::new("name", "").check_client_issuer("mine", true, None, ISSUER).unwrap_err();
        let text = error.to_string();
        for part in ["`mine`", ISSUER, "`client_issuer`"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
