//! The hash of the parts of a configuration that determine what is started.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::{EnvVarConfig, McpConfig, McpTransport, OAuthConfig};

impl McpConfig {
    /// Returns the SHA-256 hash, in hexadecimal, of everything in the configuration that determines what is started: package,
    /// arguments, URL, certificates, proxy, working directory, and the variables and headers with their values or secret
    /// references.
    ///
    /// The cached tools of the server and the consent of the user are valid while the hash stays the same. The values of stored
    /// secrets, the name of the server, timeouts and limits do not affect it.
    pub fn hash(&self) -> String {
        let mut parts = Parts(Sha256::new());
        parts.add("package");
        parts.add(self.package.package_type.as_str());
        parts.add(&self.package.identifier);
        parts.optional(self.package.version.as_deref());
        parts.optional(self.package.runtime_hint.as_deref());
        match &self.transport {
            McpTransport::Stdio => parts.add("stdio"),
            McpTransport::Http { url } => parts.all("http", [url.as_str()]),
        }
        parts.optional(self.unix_socket.as_ref().map(|socket| socket.to_string_lossy()).as_deref());
        parts.all("runtime_args", self.runtime_args.iter().map(String::as_str));
        parts.all("args", self.args.iter().map(String::as_str));
        parts.all("inherit_env", self.inherit_env.iter().map(String::as_str));
        parts.optional(self.cwd.as_ref().map(|cwd| cwd.to_string_lossy()).as_deref());
        for values in [&self.env_vars, &self.headers, &self.variables] {
            parts.add("values");
            parts.count(values.len());
            for (name, value) in values {
                parts.add(name);
                parts.value(value);
            }
        }
        // Added only if they are set, so that the hash of a configuration without them is the one of earlier versions.
        for (name, path) in self.http_files() {
            parts.all(name, [&*path.to_string_lossy()]);
        }
        if let Some(proxy) = &self.proxy {
            parts.all("proxy", [proxy.as_str()]);
        }
        parts.oauth(&self.oauth);
        let mut text = String::with_capacity(64);
        for byte in parts.0.finalize() {
            let _ = write!(text, "{byte:02x}");
        }
        text
    }
}

impl McpConfig {
    /// Returns the certificate files that are set in the configuration, each with the name of its field, such as `ca_file`.
    pub(crate) fn http_files(&self) -> impl Iterator<Item = (&'static str, &Path)> {
        let files = [
            ("ca_file", &self.ca_file),
            ("client_certificate", &self.client_certificate),
            ("client_key", &self.client_key),
        ];
        files.into_iter().filter_map(|(name, path)| Some((name, path.as_deref()?)))
    }
}

/// A SHA-256 hash of a list of texts. The length of each text is hashed too, so that `["ab"]` and `["a", "b"]` differ.
struct Parts(Sha256);

impl Parts {
    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_be_bytes());
    }

    fn add(&mut self, part: &str) {
        self.count(part.len());
        self.0.update(part.as_bytes());
    }

    fn optional(&mut self, part: Option<&str>) {
        self.count(usize::from(part.is_some()));
        self.add(part.unwrap_or_default());
    }

    fn all<'a>(&mut self, what: &str, parts: impl IntoIterator<Item = &'a str>) {
        self.add(what);
        let parts: Vec<&str> = parts.into_iter().collect();
        self.count(parts.len());
        for part in parts {
            self.add(part);
        }
    }

    /// Adds the settings of logins. Adds nothing for the default, so that the hash of a configuration without them is the one of
    /// earlier versions.
    fn oauth(&mut self, oauth: &OAuthConfig) {
        for (name, text) in oauth.described() {
            self.all(name, [&*text]);
        }
        if let Some(secret) = &oauth.client_secret {
            self.add("oauth.client_secret");
            self.value(secret);
        }
    }

    fn value(&mut self, value: &EnvVarConfig) {
        self.optional(value.secret_ref.as_deref());
        self.optional(value.literal());
        self.optional(value.fallback());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_changes_with_what_is_started_and_with_nothing_else() {
        let config = McpConfig::npm("a", "b").args(["c", "d"]).env(EnvVarConfig::value("E", "f"));
        let hash = config.hash();
        assert_eq!(hash.len(), 64);
        let mut same = config.clone();
        same.name = "other".into();
        same.enabled = false;
        same.limits.calls_per_minute = Some(1);
        same.consent = Some(hash.clone());
        assert_eq!(same.hash(), hash);
        let mut others = vec![config.clone(); 6];
        others[0].args = vec!["cd".into()];
        others[1].args = vec!["c".into()];
        others[1].runtime_args = vec!["d".into()];
        others[2].env_vars.clear();
        others[3] = others[3].clone().env(EnvVarConfig::value("E", "g"));
        others[4].cwd = Some("/".into());
        others[5].package.version = Some("1".into());
        let mut hashes: Vec<String> = others.iter().map(McpConfig::hash).collect();
        hashes.push(hash);
        hashes.sort();
        hashes.dedup();
        assert_eq!(hashes.len(), 7);
    }
}
