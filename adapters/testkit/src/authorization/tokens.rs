//! [`Tokens`]: the codes and tokens that an authorization server has issued.

use std::collections::BTreeMap;
use std::time::Duration;

/// The `grant_type` of the device grant (RFC 8628).
pub(super) const DEVICE_CODE: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The permission of a token: which client may use it, which MCP server accepts it, its scopes and its key.
#[derive(Clone, Debug)]
pub(super) struct Permission {
    pub(super) client_id: String,
    /// The resource identifier of the only MCP server that accepts the token. `None` if all servers accept it.
    pub(super) resource: Option<String>,
    pub(super) scopes: Vec<String>,
    /// The thumbprint of the DPoP key to which the token is bound. `None` for a bearer token.
    pub(super) key: Option<String>,
}

/// An issued authorization code, which a client can exchange for tokens once.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) permission: Permission,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) expires_at: Duration,
}

/// A device login: a device waits until its user allows the login on another device.
#[derive(Clone, Debug)]
pub(super) struct DeviceCode {
    pub(super) secret: String,
    pub(super) user_code: String,
    pub(super) permission: Permission,
    pub(super) expires_at: Duration,
    pub(super) interval: Duration,
    /// The time of the device's last token request. `None` before the first request.
    pub(super) last_request: Option<Duration>,
    /// Whether the user allows the login. `None` until the user decides.
    pub(super) decision: Option<bool>,
}

/// A login of a user. It has a chain of refresh tokens, in which each token replaces the previous one.
#[derive(Debug)]
struct Login {
    permission: Permission,
    /// The newest refresh token. `None` if the login has no refresh tokens.
    refresh_token: Option<String>,
    /// The previous refresh token. `None` if there is none, or if it was accepted once more.
    last_refresh_token: Option<String>,
    is_revoked: bool,
}

#[derive(Debug)]
pub(super) struct AccessToken {
    login: usize,
    expires_at: Duration,
    is_revoked: bool,
}

/// The authorization codes, logins and tokens of an authorization server.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    pub(super) codes: BTreeMap<String, Code>,
    /// The login that each used authorization code has started, to revoke it if the code is used again.
    used_codes: BTreeMap<String, usize>,
    logins: Vec<Login>,
    pub(super) access: BTreeMap<String, AccessToken>,
    /// The login of each refresh token, including replaced tokens, by the token.
    refresh: BTreeMap<String, usize>,
    /// Number of logins that were revoked because a refresh token was used twice.
    pub(super) reused: usize,
}

impl Tokens {
    /// Removes and returns an authorization code, or returns `None` if the code is unknown or used. A second use of a code
    /// revokes the tokens of the first use (RFC 6749, section 4.1.2).
    pub(super) fn take_code(&mut self, text: &str) -> Option<Code> {
        if let Some(login) = self.used_codes.get(text) {
            self.logins[*login].is_revoked = true;
        }
        self.codes.remove(text)
    }

    pub(super) fn add_login(&mut self, permission: Permission, code: Option<&str>) -> usize {
        let login = self.logins.len();
        self.logins.push(Login { permission, refresh_token: None, last_refresh_token: None, is_revoked: false });
        if let Some(code) = code {
            self.used_codes.insert(code.to_owned(), login);
        }
        login
    }

    /// Returns the permission of the login with this index.
    pub(super) fn permission_of(&self, login: usize) -> &Permission {
        &self.logins[login].permission
    }

    pub(super) fn add_access_token(&mut self, text: String, login: usize, expires_at: Duration) {
        self.access.insert(text, AccessToken { login, expires_at, is_revoked: false });
    }

    pub(super) fn set_refresh_token(&mut self, text: String, login: usize) {
        self.refresh.insert(text.clone(), login);
        let login = &mut self.logins[login];
        login.last_refresh_token = login.refresh_token.replace(text);
    }

    /// Accepts a refresh token, and returns the index of its login. A replaced token revokes the login, because a thief may have
    /// used it, unless `accepts_last` allows the previous token once more. The error is the reason of the refusal.
    pub(super) fn use_refresh_token(
        &mut self,
        text: &str,
        client_id: &str,
        accepts_last: bool,
    ) -> Result<usize, &'static str> {
        let number = *self.refresh.get(text).ok_or("the refresh token is unknown")?;
        let login = &mut self.logins[number];
        if login.permission.client_id != client_id {
            return Err("the refresh token belongs to another client");
        }
        if login.is_revoked {
            return Err("the login is revoked");
        }
        let is_accepted_again = accepts_last && login.last_refresh_token.take_if(|last| last == text).is_some();
        if login.refresh_token.as_deref() != Some(text) && !is_accepted_again {
            login.is_revoked = true;
            self.reused += 1;
            return Err("the refresh token was used before, so the login is revoked");
        }
        Ok(number)
    }

    pub(super) fn is_refresh_token_valid(&self, text: &str) -> bool {
        let login = self.refresh.get(text).map(|login| &self.logins[*login]);
        login.is_some_and(|login| !login.is_revoked && login.refresh_token.as_deref() == Some(text))
    }

    /// Returns the permission of an access token, or `None` if the token is unknown, expired or revoked.
    pub(super) fn permission(&self, token: &str, now: Duration) -> Option<&Permission> {
        let token = self.access.get(token).filter(|token| !token.is_revoked && now < token.expires_at)?;
        let login = &self.logins[token.login];
        (!login.is_revoked).then_some(&login.permission)
    }

    /// Revokes a token, if it belongs to this client. The revocation of a refresh token revokes its whole login.
    pub(super) fn revoke(&mut self, token: &str, client_id: &str) {
        if let Some(login) = self.refresh.get(token) {
            let login = &mut self.logins[*login];
            login.is_revoked |= login.permission.client_id == client_id;
        }
        if let Some(token) = self.access.get_mut(token) {
            token.is_revoked |= self.logins[token.login].permission.client_id == client_id;
        }
    }

    pub(super) fn revoke_access_tokens(&mut self) {
        self.access.values_mut().for_each(|token| token.is_revoked = true);
    }

    pub(super) fn revoke_all(&mut self) {
        self.logins.iter_mut().for_each(|login| login.is_revoked = true);
    }
}
