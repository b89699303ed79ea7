//! [`ClientOptions`]: limits, certificates and proxy of a [`Client`](crate::Client).

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_rustls::rustls::ClientConfig;
use mcpwire_driver::McpServerDef;
use mcpwire_driver::http::DefinitionSetting;

use crate::tls::{Authority, Pem, TlsOptions};

/// Options of a [`Client`](crate::Client). Start with [`ClientOptions::default`] or [`ClientOptions::of`].
///
/// Certificates are read and checked by [`Client::new`](crate::Client::new).
#[derive(Clone)]
#[non_exhaustive]
#[must_use = "options have no effect until they are used"]
pub struct ClientOptions {
    /// Maximum time for the name lookup and the TCP connection, however many addresses the host has. The default is 10 s: enough for
    /// TCP to retransmit a packet twice.
    pub connect_timeout: Duration,
    /// Maximum time for the handshakes with a proxy and for TLS. The default is 10 s.
    pub handshake_timeout: Duration,
    /// Maximum number of busy HTTP/1.1 connections, and of idle connections in the pool. The default is 64. Long-lived event streams are
    /// not counted.
    pub max_connections: usize,
    /// Maximum time that an idle connection stays in the pool. The default is 60 s, because many servers close idle connections after
    /// 75 s.
    pub idle_timeout: Duration,
    /// Maximum size of the head of a response, in bytes. The default is 64 KiB. The maximum number of headers is 100.
    pub max_head: usize,
    /// Whether to refuse to connect to addresses that are not public: loopback, private, link-local and reserved ones. The default is
    /// `false`.
    ///
    /// Names are checked after they were resolved: of their addresses, only the public ones are tried. For a request through a proxy, only
    /// IP addresses in the URL are checked, because the proxy resolves names.
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
    /// Returns the options for requests to this server: the defaults with the Unix socket, certificates and proxy of the
    /// definition.
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
        /// Opens all connections to this Unix socket, regardless of the host in the URL, and without a proxy.
        fn unix_socket(path: impl Into<PathBuf>) => unix_socket = Some(path.into());

        /// Uses a proxy for all requests, in place of the proxies of the environment.
        ///
        /// The URL starts with `http://` or `https://`, and may contain user and password.
        fn proxy(url: impl Into<String>) => proxy = Some(url.into());
    }

    /// Trusts a CA certificate in DER form, in addition to the default ones.
    pub fn trust(mut self, certificate: impl Into<Vec<u8>>) -> Self {
        self.tls.authorities.push(Authority::Der(certificate.into()));
        self
    }

    /// Trusts the CA certificates of a PEM text, in addition to the default ones.
    pub fn trust_pem(mut self, certificates: impl Into<Vec<u8>>) -> Self {
        self.tls.authorities.push(Authority::Pem(Pem::Text(certificates.into())));
        self
    }

    /// Trusts the CA certificates of a PEM file, in addition to the default ones.
    pub fn trust_pem_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.tls.authorities.push(Authority::Pem(Pem::File(path.into())));
        self
    }

    mcpwire_client::setters! {
        /// Presents a client certificate to servers that request one (mutual TLS).
        ///
        /// Both parameters are PEM texts: the certificate with the chain to its CA, and the private key.
        fn client_certificate(chain: impl Into<Vec<u8>>, key: impl Into<Vec<u8>>)
            => tls.identity = Some((Pem::Text(chain.into()), Pem::Text(key.into())));

        /// Presents a client certificate from PEM files to servers that request one (mutual TLS).
        ///
        /// The files contain the certificate with the chain to its CA, and the private key. They may be the same file.
        fn client_certificate_files(chain: impl Into<PathBuf>, key: impl Into<PathBuf>)
            => tls.identity = Some((Pem::File(chain.into()), Pem::File(key.into())));

        /// Uses a TLS configuration of the program, in place of the default one.
        ///
        /// The other options for certificates cannot be combined with it: [`Client::new`](crate::Client::new) fails. If the configuration has
        /// no ALPN protocols, the client offers HTTP/2 and HTTP/1.1. Use the re-exported [`rustls`](crate::rustls).
        fn tls_config(config: impl Into<Arc<ClientConfig>>) => tls.config = Some(config.into());
    }

    /// Returns whether the options contain this value of a server's definition.
    ///
    /// Compares values, because a client made for another server would connect elsewhere.
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
    /// Formats the options without the proxy, whose URL may contain a password, and without keys.
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
