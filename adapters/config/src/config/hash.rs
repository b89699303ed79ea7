//! [`McpConfig::hash`]: a hash of the parts of a configuration that determine what is started. It shows whether cached tools and
//! the user's consent are still valid.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

use super::{EnvVarConfig, McpConfig, McpTransport};

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
            McpTransport::Http { url } => parts.all("http", [url]),
        }
        parts.optional(self.unix_socket.as_ref().map(|socket| socket.to_string_lossy()).as_deref());
        parts.all("runtime_args", &self.runtime_args);
        parts.all("args", &self.args);
        parts.all("inherit_env", &self.inherit_env);
        parts.optional(self.cwd.as_ref().map(|cwd| cwd.to_string_lossy()).as_deref());
        for (_, values) in self.value_groups() {
            parts.add("values");
            parts.count(values.len());
            for (name, value) in values {
                parts.add(name);
                parts.value(value);
            }
        }
        // Hashed only if they are set, so that the hash of a configuration without them is the same as in earlier versions.
        for (name, path) in self.http_files() {
            parts.all(name, [path.to_string_lossy()]);
        }
        if let Some(proxy) = &self.proxy {
            parts.all("proxy", [proxy]);
        }
        for (name, text) in self.oauth.described() {
            parts.all(name, [text]);
        }
        if let Some(secret) = &self.oauth.client_secret {
            parts.add("oauth.client_secret");
            parts.value(secret);
        }
        hex(&parts.0.finalize())
    }
}

/// Formats bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
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

    fn all<T: AsRef<str>>(&mut self, what: &str, parts: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator>) {
        self.add(what);
        let parts = parts.into_iter();
        self.count(parts.len());
        parts.for_each(|part| self.add(part.as_ref()));
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
