//! Guesses which plain values of a configuration are secrets, by their names and their form.

use std::env;

use super::secret::Secret;
use crate::url::{has_password, login};

/// The text that is shown in place of a secret.
pub(crate) const HIDDEN: &str = "<secret>";

/// Prefixes of the access tokens of well-known services.
const PREFIXES: [&[&str]; 12] = [
    // OpenAI, Anthropic
    &["sk-"],
    // Stripe
    &["sk_live_", "sk_test_", "rk_live_", "pk_live_"],
    // GitHub
    &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
    // GitLab
    &["glpat-"],
    // Slack
    &["xoxb-", "xoxp-", "xoxa-", "xapp-"],
    // AWS
    &["AKIA", "ASIA"],
    // Google
    &["AIza", "ya29."],
    // JSON Web Tokens
    &["eyJ"],
    // npm, PyPI
    &["npm_", "pypi-"],
    // Hugging Face
    &["hf_"],
    // DigitalOcean
    &["dop_v1_"],
    // Linear
    &["lin_api_"],
];

/// Texts that mark a variable or header as secret if its name contains them anywhere.
const WITHIN: [&str; 7] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL", "PASSPHRASE"];

/// Words that mark a variable or header as secret if its name contains them as a whole word. For example, `API_KEY` is secret,
/// but `KEYBOARD` is not.
const WORDS: [&str; 9] = ["KEY", "PAT", "AUTH", "AUTHORIZATION", "PASS", "DSN", "COOKIE", "BEARER", "JWT"];

/// Returns whether variables or headers with this name usually contain secrets, such as `API_KEY`.
pub(crate) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_word = |word: &str| WORDS.contains(&word);
    WITHIN.iter().any(|part| name.contains(part)) || name.split(|c: char| !c.is_ascii_alphanumeric()).any(is_word)
}

/// Returns whether `text` looks like a secret: a token with a known prefix, a credential such as `Bearer TOKEN`, or a URL with
/// a password. The name of the value is not considered.
pub(crate) fn is_secret_text(text: &str) -> bool {
    let text = text.trim();
    let is_token = |text: &str| text.len() >= 16 && !text.contains(char::is_whitespace);
    let known = PREFIXES.iter().copied().flatten().any(|prefix| text.starts_with(prefix)) && is_token(text);
    known || scheme(text).is_some_and(|(_, token)| is_token(token)) || (text.contains("://") && has_password(text))
}

/// Returns whether `text`, the value of the variable or header `name`, is probably a secret. That is so if the name suggests
/// it, or if the text looks like a secret.
pub fn is_secret(name: &str, text: &str) -> bool {
    let is_path = text.starts_with(['/', '~', '.']) || text.contains(":\\");
    let is_plain = text.len() < 4 || text.parse::<f64>().is_ok() || matches!(text, "true" | "false" | "none" | "null");
    is_secret_text(text) || (is_secret_name(name) && !is_path && !is_plain && !text.starts_with("http"))
}

/// Returns the secrets that a command line probably contains, such as `X` in `--token X`, `--api-key=X` or `API_KEY=X`.
pub(crate) fn secrets_in_args(args: &[String]) -> impl Iterator<Item = Secret> {
    parts_of_args(args).filter_map(|(_, secret)| secret.map(Secret::new))
}

/// Returns a command line to show to the user, in which `<secret>` replaces each probable secret.
pub(crate) fn hide_in_args(args: &[String]) -> Vec<String> {
    let hide = |(plain, secret): (&str, Option<&str>)| match secret {
        Some(secret) if !is_reference(secret) => format!("{plain}{HIDDEN}"),
        secret => [plain, secret.unwrap_or_default()].concat(),
    };
    parts_of_args(args).map(hide).collect()
}

/// Returns whether a text is a placeholder and not a secret itself, such as `{name}`, or `<secret>` in a text that is shown.
fn is_reference(text: &str) -> bool {
    text.starts_with(['<', '{'])
}

/// Splits each argument into the text before a secret and the secret at its end. The second part is `None` if the argument
/// contains no secret.
fn parts_of_args(args: &[String]) -> impl Iterator<Item = (&str, Option<&str>)> {
    args.iter().enumerate().map(|(at, arg)| {
        let before = at.checked_sub(1).map(|before| args[before].as_str());
        let variable = || {
            let (name, value) = arg.split_once('=').filter(|(name, value)| is_secret(name, value))?;
            let is_word = !name.contains(char::is_whitespace) && !value.contains(char::is_whitespace);
            is_word.then(|| arg.split_at(arg.len() - value.len()))
        };
        let split = split_secret(before, arg).or_else(variable);
        split.map_or((arg.as_str(), None), |(plain, secret)| (plain, Some(secret)))
    })
}

/// Returns a URL to show to the user, in which `<secret>` replaces the user and the password, and the probable secrets in the
/// query.
pub(crate) fn hide_in_url(url: &str) -> String {
    let (address, query) = url.split_at(url.find('?').unwrap_or(url.len()));
    let mut shown = match (address.split_once("://"), login(address)) {
        (Some((scheme, rest)), Some(login)) => format!("{scheme}://{HIDDEN}{}", &rest[login.len()..]),
        _ => address.to_owned(),
    };
    let (query, fragment) = query.split_at(query.find('#').unwrap_or(query.len()));
    let hide = |pair: &str| match pair.split_once('=') {
        Some((name, value)) if !is_reference(value) && is_secret(name, value) => format!("{name}={HIDDEN}"),
        _ => pair.to_owned(),
    };
    if let Some(pairs) = query.strip_prefix('?') {
        shown.extend(["?", &pairs.split('&').map(hide).collect::<Vec<_>>().join("&")]);
    }
    shown + fragment
}

/// Splits the argument `arg` before its secret: `--token=abc` into `--token=` and `abc`. Returns `None` if the argument contains no
/// secret.
///
/// `before` is the previous argument: after `--token`, the whole argument `abc` is a secret.
pub(crate) fn split_secret<'t>(before: Option<&str>, arg: &'t str) -> Option<(&'t str, &'t str)> {
    let is_option = |text: &str| text.starts_with('-');
    if let Some((option, value)) = arg.split_once('=')
        && is_option(option)
    {
        let found = is_secret(option.trim_start_matches('-'), value);
        return found.then(|| arg.split_at(option.len() + 1));
    }
    if is_option(arg) {
        return None;
    }
    let named = before.is_some_and(|before| {
        is_option(before) && !before.contains('=') && is_secret(before.trim_start_matches('-'), arg)
    });
    // `--header "Authorization: Bearer abc"`
    let header = arg.split_once(':').filter(|(name, value)| is_secret_name(name) && is_secret_text(value));
    if let Some((name, value)) = header {
        let token = scheme(value.trim_start()).map_or(value.trim_start(), |(_, token)| token);
        let at = arg.len() - token.len();
        return (at > name.len()).then(|| arg.split_at(at));
    }
    (named || is_secret_text(arg)).then_some(("", arg))
}

/// Splits a credential such as `Bearer abc` into its authentication scheme and the rest. Returns `None` for other texts.
pub(crate) fn scheme(text: &str) -> Option<(&str, &str)> {
    let (scheme, token) = text.split_once(' ')?;
    let known = ["bearer", "basic", "token", "apikey"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    (known && !token.trim().is_empty()).then_some((scheme, token))
}

/// Returns whether `text` is a placeholder such as `<YOUR_TOKEN>`, which the user has to replace by a value.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    (text.starts_with('<') && text.ends_with('>'))
        || ["YOUR_", "YOUR-", "CHANGEME", "REPLACE_", "REPLACE-", "XXXX", "..."].iter().any(|part| upper.contains(part))
}

/// The environment variables that name proxies, as HTTP clients read them.
const PROXY_VARIABLES: [&str; 6] = ["ALL_PROXY", "all_proxy", "HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];

/// Returns the secrets of the proxies that requests may use, to redact them in errors. `chosen` is the configured proxy. If it is
/// `None`, the proxies in the environment variables are used.
pub fn proxy_secrets(chosen: Option<&str>) -> Vec<Secret> {
    let proxies: Vec<String> = match chosen {
        Some(proxy) => vec![proxy.to_owned()],
        None => PROXY_VARIABLES.iter().filter_map(|name| env::var(name).ok()).collect(),
    };
    // The redactor finds the user and the password in a URL, also encoded. A proxy may be written without a scheme.
    let secret = |proxy: &String| Some(Secret::new(format!("http://{}@", login(proxy)?)));
    proxies.iter().filter(|proxy| has_password(proxy)).filter_map(secret).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_told_from_other_texts() {
        for (name, text) in [
            ("GITHUB_PERSONAL_ACCESS_TOKEN", "abcd1234"),
            ("BRAVE_API_KEY", "BSA123456"),
            ("x-api-key", "abcd1234"),
            ("Authorization", "Bearer abcdefghijklmnop"),
            ("ANYTHING", "ghp_0123456789abcdef0123"),
            ("DATABASE_URL", "postgres://me:hunter2@localhost/x"),
            ("db_password", "hunter2"),
        ] {
            assert!(is_secret(name, text), "{name}={text}");
        }
        for (name, text) in [
            ("MAX_TOKENS", "4096"),
            ("KEY_FILE", "/home/me/key.pem"),
            ("KEYBOARD", "german"),
            ("DEBUG", "true"),
            ("TOKEN", ""),
            ("LANG", "en_US.UTF-8"),
            ("DATABASE_URL", "postgres://localhost/x"),
            ("PATH", "/usr/bin:/bin"),
            ("AUTH_URL", "https://example.com/login"),
        ] {
            assert!(!is_secret(name, text), "{name}={text}");
        }
        assert!(is_placeholder("<YOUR_TOKEN>") && is_placeholder("your_api_key") && !is_placeholder("abc"));
    }
}
