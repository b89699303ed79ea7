//! [`DefinitionSetting`]: a setting of a server's definition that only the HTTP client can apply, such as a proxy.

use std::fmt;
use std::path::Path;

use crate::McpServerDef;

/// A setting of a server's definition that the HTTP client must apply, because it opens the connections.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum DefinitionSetting<'a> {
    /// [`McpServerDef::unix_socket`]: connects to this Unix socket only.
    UnixSocket(&'a Path),
    /// [`McpServerDef::proxy`]: uses the proxy with this URL, which may contain a password.
    Proxy(&'a str),
    /// [`McpServerDef::ca_file`]: trusts the CA certificates of this PEM file.
    CaFile(&'a Path),
    /// [`McpServerDef::client_certificate`]: presents the client certificate of this PEM file.
    ClientCertificate(&'a Path),
    /// [`McpServerDef::client_key`]: uses the private key of this PEM file for the client certificate.
    ClientKey(&'a Path),
}

impl DefinitionSetting<'_> {
    /// Returns the name of the corresponding field of [`McpServerDef`], for error messages.
    pub fn name(&self) -> &'static str {
        match self {
            DefinitionSetting::UnixSocket(_) => "unix_socket",
            DefinitionSetting::Proxy(_) => "proxy",
            DefinitionSetting::CaFile(_) => "ca_file",
            DefinitionSetting::ClientCertificate(_) => "client_certificate",
            DefinitionSetting::ClientKey(_) => "client_key",
        }
    }

    /// Returns the settings of this kind that a definition contains.
    pub fn all_of(def: &McpServerDef) -> impl Iterator<Item = DefinitionSetting<'_>> {
        let settings = [
            def.unix_socket.as_deref().map(DefinitionSetting::UnixSocket),
            def.proxy.as_deref().map(DefinitionSetting::Proxy),
            def.ca_file.as_deref().map(DefinitionSetting::CaFile),
            def.client_certificate.as_deref().map(DefinitionSetting::ClientCertificate),
            def.client_key.as_deref().map(DefinitionSetting::ClientKey),
        ];
        settings.into_iter().flatten()
    }
}

impl fmt::Debug for DefinitionSetting<'_> {
    /// Omits the value, because the URL of a proxy may contain a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("DefinitionSetting").field(&self.name()).finish()
    }
}
