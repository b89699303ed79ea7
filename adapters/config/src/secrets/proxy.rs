//! [`proxy_secrets`]: the passwords of proxies.

use std::env;

use super::Secret;

/// The environment variables that name proxies, as HTTP clients read them.
const VARIABLES: [&str; 6] = ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];

/// Returns the secrets of the proxies that requests may use: of the proxy `chosen`, or of those in the environment variables. A proxy
/// or server may repeat them in an error.
pub fn proxy_secrets(chosen: Option<&str>) -> Vec<Secret> {
    match chosen {
        Some(proxy) => login_in(proxy).into_iter().collect(),
        None => VARIABLES.iter().filter_map(|name| login_in(&env::var(name).ok()?)).collect(),
    }
}

/// Returns the user and password of a proxy, as a URL. A proxy may be written without a scheme.
fn login_in(proxy: &str) -> Option<Secret> {
    let rest = proxy.split_once("://").map_or(proxy, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let (login, _) = authority.rsplit_once('@')?;
    let has_password = login.split_once(':').is_some_and(|(_, password)| !password.is_empty());
    // The redactor finds the user and the password in a URL, also encoded.
    has_password.then(|| Secret::new(format!("http://{login}@")))
}
