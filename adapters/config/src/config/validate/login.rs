//! Validates the OAuth settings of a server.

use super::values::{Problems, check_value};
use crate::config::{McpConfig, OAuthConfig, Redirect, ValueGroup};
use crate::url::is_address;

/// Maximum length of a scope, in bytes.
const MAX_SCOPE: usize = 512;

pub(super) fn check(config: &McpConfig, problems: &mut Problems) {
    let oauth = &config.oauth;
    if !config.is_http() {
        // A server without HTTP may have `"oauth": false`, which changes nothing.
        let has_login = oauth.enabled && *oauth != OAuthConfig::default();
        problems.add_if(has_login, "oauth", "only a server over HTTP can have a login");
        return;
    }
    client(config, oauth, problems);
    let is_scope = |scope: &&String| {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && !b"\"\\".contains(&byte);
        (1..=MAX_SCOPE).contains(&scope.len()) && scope.bytes().all(is_allowed)
    };
    for scope in oauth.scopes.iter().filter(|scope| !is_scope(scope)) {
        problems.add("oauth.scopes", format!("`{}` is not a scope", scope.escape_debug()));
    }
    let is_account = |account: &String| {
        !account.trim().is_empty() && !account.chars().any(char::is_control) && account.chars().count() <= 100
    };
    let message = "the name of an account must be one line of at most 100 characters, and not empty";
    problems.add_if(!oauth.account.as_ref().is_none_or(is_account), "oauth.account", message);
    let message = "the redirect URI must be a URL of this machine, such as http://127.0.0.1:3118/callback: `http`, then \
                   `127.0.0.1`, `[::1]` or `localhost`, a port, and a path without a query";
    let is_elsewhere = oauth.redirect_uri.is_some() && oauth.redirect().is_none();
    problems.add_if(is_elsewhere, "oauth.redirect_uri", message);
}

/// Checks the identifier, the secret and the issuer of the client.
fn client(config: &McpConfig, oauth: &OAuthConfig, problems: &mut Problems) {
    let (has_id, has_secret) = (oauth.client_id.is_some(), oauth.client_secret.is_some());
    let is_id = |id: &String| !id.is_empty() && id.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let message = "the identifier of the client must be ASCII text, and not empty";
    problems.add_if(!oauth.client_id.as_ref().is_none_or(is_id), "oauth.client_id", message);
    if let Some(secret) = &oauth.client_secret {
        let message = "a secret requires the identifier of its client. Set `oauth.client_id`";
        problems.add_if(!has_id, "oauth.client_secret", message);
        check_value(config, ValueGroup::OAuth, "client_secret", secret, problems);
    }
    let message = "the issuer must be a URL that begins with `https://`, or with `http://` on this machine";
    problems.add_if(!oauth.issuer.as_deref().is_none_or(is_secure), "oauth.issuer", message);
    match oauth.auth_method.as_deref() {
        None | Some("none") => {}
        Some("client_secret_basic" | "client_secret_post") => {
            let message = "this method requires the client's secret. Set `oauth.client_secret`";
            problems.add_if(has_id && !has_secret, "oauth.auth_method", message);
        }
        Some(_) => {
            let message = "the method must be `client_secret_basic`, `client_secret_post` or, for a client without a secret, `none`";
            problems.add("oauth.auth_method", message);
        }
    }
    let is_document = |url: &String| is_address(url) && is_https(url);
    let message = "the URL of the client's metadata document must begin with `https://`";
    let has_other = !oauth.client_metadata_url.as_ref().is_none_or(is_document);
    problems.add_if(has_other, "oauth.client_metadata_url", message);
    let message =
        "a login without a user requires a client with a secret. Set `oauth.client_id` and `oauth.client_secret`";
    let lacks_client = oauth.client_credentials && !(has_id && has_secret);
    problems.add_if(lacks_client, "oauth.client_credentials", message);
}

fn is_https(url: &str) -> bool {
    url.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://"))
}

fn is_secure(url: &str) -> bool {
    let is_local = || url.split('/').nth(2).is_some_and(|host| Redirect::parse(&format!("http://{host}/")).is_some());
    is_address(url) && (is_https(url) || is_local())
}
