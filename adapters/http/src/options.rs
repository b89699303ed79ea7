//! [`ClientOptions`]: the timeouts, limits, certificates and proxy of a [`Client`](crate::Client).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_rustls::rustls::ClientConfig;
use mcpwire_driver::McpServerDef;
use mcpwire_driver::http::DefinitionSetting;

use crate::tls::{Authority, Pem, TlsOptions};

/// Options of a [`Client`](crate::Client): timeouts, limits, certificates and proxy.
///
/// Start with [`ClientOptions::default`], or with [`ClientOptions::of`] for the settings of a server's definition.
/// [`Client::new`](crate::Client::new) reads and checks the certificates.
#[derive(Clone)]
#[non_exhaustive]
#[must_use = "options have no effect until they are used"]
pub struct ClientOptions {
    /// Maximum time for the name lookup and the TCP connection together, however many addresses the host has. The default is 10
    /// s: enough for TCP to retransmit a packet twice.
    pub connect_timeout: Duration,
    /// Maximum time for the handshake with a proxy and the TLS handshake together. The default is 10 s.
    pub handshake_timeout: Duration,
    /// Maximum number of HTTP/1.1 connections with a request in flight, and also of idle connections in the pool. The default is
    /// 64. Further requests wait. Connections of long-lived event streams are not counted.
    pub max_connections: usize,
    /// Time after which an idle connection is closed. The default is 60 s, because many servers close idle connections after 75
    /// s.
    pub idle_timeout: Duration,
    /// Maximum size of the head of a response, in bytes. The default is 64 KiB, and the minimum 8 KiB. A head may also contain at
    /// most 100 headers.
    pub max_head: usize,
    /// Whether the client connects to public addresses only. If so, it refuses loopback, private, link-local and reserved
    /// addresses. The default is `false`.
    ///
    /// The client checks the addresses to which a name resolves, and tries only the public addresses. For a request through a
    /// proxy, it checks only an IP address in the URL, because the proxy resolves names.
    pub public_addresses_only: bool,
    pub(crate) tls: TlsOptions,
    pub(crate) proxy: Option<String>,
    pub(crate) unix_socket: Option<PathBuf>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            connect_timeout: Duration::from_secs(10),
            handshake_timeout: Duration::from_secs(10),
            max_connections: 64,
            idle_timeout: Duration::from_secs(60),
            max_head: 64 * 1024,
            public_addresses_only: false,
            tls: TlsOptions::default(),
            proxy: None,
            unix_socket: None,
        }
    }
}

impl ClientOptions {
    /// Creates options with the Unix socket, certificates and proxy of a server's definition, and default values for all other
    /// options.
    pub fn of(def: &McpServerDef) -> Self {
        let mut options = ClientOptions { unix_socket: def.unix_socket.clone(), ..ClientOptions::default() };
        options.proxy.clone_from(&def.proxy);
        if let Some(file) = &def.ca_file {
            options = options.trust_pem_file(file);
        }
        match (&def.client_certificate, &def.client_key) {
            (Some(chain), key) => options.client_certificate_files(chain, key.as_ref().unwrap_or(chain)),
            (None, _) => options,
        }
    }

    mcpwire_client::setters! {
        /// Makes the client connect to this Unix socket for all requests, whatever host the URL contains, and without a proxy.
        fn unix_socket(path: impl Into<PathBuf>) => unix_socket = Some(path.into());

        /// Makes the client use this proxy for all requests, instead of the proxies in variables such as `HTTPS_PROXY`.
        ///
        /// The URL must start with `http://` or `https://`, and may contain a user and password.
        fn proxy(url: impl Into<String>) => proxy = Some(url.into());
    }

    /// Makes the client trust a CA certificate in DER form, in addition to the default CA certificates.
    pub fn trust(mut self, certificate: impl Into<Vec<u8>>) -> Self {
        self.tls.authorities.push(Authority::Der(certificate.into()));
        self
    }

    /// Makes the client trust the CA certificates in a PEM text, in addition to the default CA certificates.
    pub fn trust_pem(mut self, certificates: impl Into<Vec<u8>>) -> Self {
        self.tls.authorities.push(Authority::Pem(Pem::Text(certificates.into())));
        self
    }

    /// Makes the client trust the CA certificates in a PEM file, in addition to the default CA certificates.
    pub fn trust_pem_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tls.authorities.push(Authority::Pem(Pem::File(path.into())));
        self
    }

    mcpwire_client::setters! {
        /// Sets the certificate that the client presents to servers that request a client certificate (mutual TLS).
        ///
        /// `chain` is a PEM text with the certificate and the chain to its CA. `key` is a PEM text with the private key.
        fn client_certificate(chain: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>)
            => tls.identity = Some((Pem::Text(chain.into()), Pem::Text(key.into())));

        /// Sets the PEM files of the certificate that the client presents to servers that request a client certificate (mutual
        /// TLS).
        ///
        /// The file `chain` contains the certificate and the chain to its CA. The file `key` contains the private key, and may be
        /// the same file.
        fn client_certificate_files(chain: impl Into<PathBuf>, key: impl Into<PathBuf>)
            => tls.identity = Some((Pem::File(chain.into()), Pem::File(key.into())));

        /// Sets a TLS configuration that the program has created with the re-exported [`rustls`](crate::rustls), instead of the
        /// default configuration.
        ///
        /// If other options for certificates are set too, [`Client::new`](crate::Client::new) fails. If the configuration has no
        /// ALPN protocols, the client offers HTTP/2 and HTTP/1.1.
        fn tls_config(config: impl Into<Arc<ClientConfig>>) => tls.config = Some(config.into());
    }

    /// Returns whether the options contain this setting of a server's definition with the same value.
    ///
    /// The values must be the same, because a client with the proxy or socket of another server would connect elsewhere.
    pub(crate) fn contain(&self, setting: DefinitionSetting<'_>) -> bool {
        let is_file = |pem: &Pem, path| matches!(pem, Pem::File(file) if file == path);
        let identity = self.tls.identity.as_ref();
        match setting {
            DefinitionSetting::UnixSocket(path) => self.unix_socket.as_deref() == Some(path),
            DefinitionSetting::Proxy(url) => self.proxy.as_deref() == Some(url),
            DefinitionSetting::CaFile(path) => {
                let mut authorities = self.tls.authorities.iter();
                authorities.any(|authority| matches!(authority, Authority::Pem(pem) if is_file(pem, path)))
            }
            DefinitionSetting::ClientCertificate(path) => identity.is_some_and(|(chain, _)| is_file(chain, path)),
            DefinitionSetting::ClientKey(path) => identity.is_some_and(|(_, key)| is_file(key, path)),
            _ => false,
        }
    }
}

impl fmt::Debug for ClientOptions {
    /// Omits the URL of the proxy and the private key, because they are secrets or contain secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("connect_timeout", &self.connect_timeout)
            .field("handshake_timeout", &self.handshake_timeout)
            .field("max_connections", &self.max_connections)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_head", &self.max_head)
            .field("public_addresses_only", &self.public_addresses_only)
            .field("trusted", &self.tls.authorities.len())
            .field("has_client_certificate", &self.tls.identity.is_some())
            .field("has_tls_config", &self.tls.config.is_some())
            .field("unix_socket", &self.unix_socket)
            .finish_non_exhaustive()
    }
}
