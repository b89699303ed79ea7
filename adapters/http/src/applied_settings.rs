//! [`AppliedSettings`]: the settings of a server's definition that a client applies.

use std::path::PathBuf;

use mcpwire_driver::http::DefinitionSetting;

use crate::ClientOptions;
use crate::tls::{Authority, Pem};

/// The values of a [`ClientOptions`] that the definition of a server can contain, too.
pub(crate) struct AppliedSettings {
    unix_socket: Option<PathBuf>,
    proxy: Option<String>,
    ca_files: Vec<PathBuf>,
    client_certificate: Option<PathBuf>,
    client_key: Option<PathBuf>,
}

impl AppliedSettings {
    pub(crate) fn new(options: &ClientOptions) -> Self {
        let ca_files = options.tls.authorities.iter().filter_map(|authority| match authority {
            Authority::Pem(pem) => file(pem),
            Authority::Der(_) => None,
        });
        let identity = options.tls.identity.as_ref();
        AppliedSettings {
            unix_socket: options.unix_socket.clone(),
            proxy: options.proxy.clone(),
            ca_files: ca_files.collect(),
            client_certificate: identity.and_then(|(chain, _)| file(chain)),
            client_key: identity.and_then(|(_, key)| file(key)),
        }
    }

    /// Compares values, because a client made for another server would connect elsewhere.
    pub(crate) fn contains(&self, setting: DefinitionSetting<'_>) -> bool {
        match setting {
            DefinitionSetting::UnixSocket(path) => self.unix_socket.as_deref() == Some(path),
            DefinitionSetting::Proxy(url) => self.proxy.as_deref() == Some(url),
            DefinitionSetting::CaFile(path) => self.ca_files.iter().any(|file| file == path),
            DefinitionSetting::ClientCertificate(path) => self.client_certificate.as_deref() == Some(path),
            DefinitionSetting::ClientKey(path) => self.client_key.as_deref() == Some(path),
            _ => false,
        }
    }
}

fn file(pem: &Pem) -> Option<PathBuf> {
    match pem {
        Pem::File(path) => Some(path.clone()),
        Pem::Text(_) => None,
    }
}
