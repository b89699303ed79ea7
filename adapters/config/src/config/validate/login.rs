//! Validates how the client logs in to a server.

use super::Problems;
use super::values::check_value;
use crate::config::{McpConfig, OAuthConfig, Redirect, ValueGroup};
use crate::url::is_address;

/// Maximum number of bytes of a scope.
const MAX_SCOPE: usize = 512;

pub(super) fn check(config: &McpConfig, problems: &mut Problems) {
    let oauth = &config.oauth;
    if !config.is_http() {
        // `false` says nothing wrong about a server without HTTP.
        if oauth.enabled && *oauth != OAuthConfig::default() {
            problems.add("oauth", "only a server over HTTP can have a login");
        }
        return;
    }
    client(config, oauth, problems);
    for scope in &oauth.scopes {
        let is_scope = (1..=MAX_SCOPE).contains(&scope.len())
            && scope.bytes().all(|byte| byte.is_ascii_graphic() && !b"\"\\".contains(&byte));
        if !is_scope {
            problems.add("oauth.scopes", format!("`{}` is not a scope", scope.escape_debug()));
        }
    }
    if let Some(account) = &oauth.account
        && (account.trim().is_empty() || account.chars().any(char::is_control) || account.chars().count() > 100)
    {
        problems
            .add("oauth.account", "the name of an account must be one line of at most 100 characters, and not empty");
    }
    if let Some(uri) = &oauth.redirect_uri
        && Redirect::parse(uri).is_none()
    {
        let message = "the redirect URI must be a URL of this machine, such as http://127.0.0.1:3118/callback: `http`, then \
                       `127.0.0.1`, `[::1]` or `localhost`, a port, and a path without a query";
        problems.add("oauth.redirect_uri", message);
    }
}

/// Checks the identifier, the secret and the issuer of the client.
fn client(config: &McpConfig, oauth: &OAuthConfig, problems: &mut Problems) {
    if let Some(id) = &oauth.client_id
        && (id.is_empty() || !id.bytes().all(|byte| matches!(byte, b' '..=b'~')))
    {
        problems.add("oauth.client_id", "the identifier of the client must be ASCII text, and not empty");
    }
    if let Some(secret) = &oauth.client_secret {
        if oauth.client_id.is_none() {
            problems
                .add("oauth.client_secret", "a secret requires the identifier of its client. Set `oauth.client_id`");
        }
        check_value(config, ValueGroup::OAuth, "client_secret", secret, problems);
    }
    if let Some(issuer) = &oauth.issuer
        && !is_secure(issuer)
    {
        problems.add("oauth.issuer", SECURE_URL);
    }
    match oauth.auth_method.as_deref() {
        None | Some("none") => {}
        Some("client_secret_basic" | "client_secret_post") => {
            if oauth.client_id.is_some() && oauth.client_secret.is_none() {
                problems
                    .add("oauth.auth_method", "this method requires the client's secret. Set `oauth.client_secret`");
            }
        }
        Some(_) => problems.add(
            "oauth.auth_method",
            "the method must be `client_secret_basic`, `client_secret_post` or, for a client without a secret, `none`",
        ),
    }
    if let Some(url) = &oauth.client_metadata_url
        && !(is_address(url) && is_https(url))
    {
        problems
            .add("oauth.client_metadata_url", "the URL of the client's metadata document must begin with `https://`");
    }
    if oauth.client_credentials && (oauth.client_id.is_none() || oauth.client_secret.is_none()) {
        let message =
            "a login without a user requires a client with a secret. Set `oauth.client_id` and `oauth.client_secret`";
        problems.add("oauth.client_credentials", message);
    }
}

const SECURE_URL: &str = "the issuer must be a URL that begins with `https://`, or with `http://` on this machine";

fn is_https(url: &str) -> bool {
    url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

fn is_secure(url: &str) -> bool {
    let is_local = || url.split('/').nth(2).is_some_and(|host| Redirect::parse(&format!("http://{host}/")).is_some());
    is_address(url) && (is_https(url) || is_local())
}
