//! [`Tokens`]: the codes and tokens that an authorization server has issued.

use std::collections::BTreeMap;
use std::time::Duration;

/// What a client may do: for whom, where and with which key.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Permission {
    pub(super) client_id: String,
    pub(super) resource: Option<String>,
    pub(super) scopes: Vec<String>,
    /// The thumbprint of the key to which tokens are bound (DPoP).
    pub(super) key: Option<String>,
}

/// An authorization code.
#[derive(Clone, Debug)]
pub(super) struct Code {
    pub(super) permission: Permission,
    pub(super) redirect_uri: String,
    pub(super) challenge: String,
    pub(super) expires_at: Duration,
}

/// A login on another device.
#[derive(Clone, Debug)]
pub(super) struct DeviceCode {
    pub(super) secret: String,
    pub(super) user_code: String,
    pub(super) permission: Permission,
    pub(super) expires_at: Duration,
    pub(super) interval: Duration,
    pub(super) last_request: Option<Duration>,
    /// The decision of the user.
    pub(super) decision: Option<bool>,
}

/// A login: its access tokens, and a chain of refresh tokens, each of which replaces the one before.
#[derive(Clone, Debug)]
pub(super) struct Login {
    pub(super) permission: Permission,
    /// The newest refresh token.
    pub(super) refresh_token: Option<String>,
    /// The refresh token before the newest one, until it is used once more.
    pub(super) last_refresh_token: Option<String>,
    pub(super) is_revoked: bool,
}

#[derive(Clone, Debug)]
pub(super) struct AccessToken {
    pub(super) login: usize,
    pub(super) expires_at: Duration,
    pub(super) is_revoked: bool,
}

/// The codes and tokens that an authorization server has issued.
#[derive(Debug, Default)]
pub(super) struct Tokens {
    codes: BTreeMap<String, Code>,
    /// The logins of codes that were used.
    used_codes: BTreeMap<String, usize>,
    logins: Vec<Login>,
    access: BTreeMap<String, AccessToken>,
    /// The logins of all refresh tokens.
    refresh: BTreeMap<String, usize>,
    /// The number of logins that were revoked because a refresh token was used twice.
    pub(super) reused: usize,
}

/// Why a refresh token is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RefreshRefused(pub(super) &'static str);

impl Tokens {
    pub(super) fn add_code(&mut self, text: String, code: Code) {
        self.codes.insert(text, code);
    }

    /// Takes a code, which can be used once. A second use revokes the tokens of the first (RFC 6749, section 4.1.2).
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

    pub(super) fn login(&self, login: usize) -> Option<&Login> {
        self.logins.get(login)
    }

    pub(super) fn add_access_token(&mut self, text: String, login: usize, expires_at: Duration) {
        self.access.insert(text, AccessToken { login, expires_at, is_revoked: false });
    }

    pub(super) fn set_refresh_token(&mut self, text: String, login: usize) {
        self.refresh.insert(text.clone(), login);
        let login = &mut self.logins[login];
        login.last_refresh_token = login.refresh_token.replace(text);
    }

    /// Returns the login of a refresh token. The use of an old one revokes the login, because one of both users is a thief.
    pub(super) fn use_refresh_token(
        &mut self,
        text: &str,
        client_id: &str,
        accepts_last: bool,
    ) -> Result<usize, RefreshRefused> {
        let number = *self.refresh.get(text).ok_or(RefreshRefused("the refresh token is unknown"))?;
        let login = &mut self.logins[number];
        if login.permission.client_id != client_id {
            return Err(RefreshRefused("the refresh token belongs to another client"));
        }
        if login.is_revoked {
            return Err(RefreshRefused("the login is revoked"));
        }
        let is_accepted_again = accepts_last && login.last_refresh_token.take_if(|last| last == text).is_some();
        if login.refresh_token.as_deref() != Some(text) && !is_accepted_again {
            login.is_revoked = true;
            self.reused += 1;
            return Err(RefreshRefused("the refresh token was used before, so the login is revoked"));
        }
        Ok(number)
    }

    pub(super) fn is_refresh_token_valid(&self, text: &str) -> bool {
        let login = self.refresh.get(text).and_then(|login| self.logins.get(*login));
        login.is_some_and(|login| !login.is_revoked && login.refresh_token.as_deref() == Some(text))
    }

    /// Returns the permission of a valid access token.
    pub(super) fn permission(&self, token: &str, now: Duration) -> Option<&Permission> {
        let token = self.access.get(token).filter(|token| !token.is_revoked && now < token.expires_at)?;
        self.login(token.login).filter(|login| !login.is_revoked).map(|login| &login.permission)
    }

    pub(super) fn is_access_token(&self, token: &str) -> bool {
        self.access.contains_key(token)
    }

    /// Revokes a token of a client: all of its login if it is a refresh token.
    pub(super) fn revoke(&mut self, token: &str, client_id: &str) {
        let login = self.refresh.get(token).and_then(|login| self.logins.get_mut(*login));
        if let Some(login) = login.filter(|login| login.permission.client_id == client_id) {
            login.is_revoked = true;
        }
        if let Some(token) = self.access.get_mut(token) {
            token.is_revoked |=
                self.logins.get(token.login).is_some_and(|login| login.permission.client_id == client_id);
        }
    }

    pub(super) fn revoke_access_tokens(&mut self) {
        self.access.values_mut().for_each(|token| token.is_revoked = true);
    }

    pub(super) fn revoke_all(&mut self) {
        self.logins.iter_mut().for_each(|login| login.is_revoked = true);
    }
}
