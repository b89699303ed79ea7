//! [`TlsOptions`]: the certificates that a client trusts and presents. [`Tls`]: performs TLS handshakes.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use futures_rustls::TlsConnector;
use futures_rustls::pki_types::pem::PemObject;
use futures_rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::{ClientConfig, RootCertStore};
use mcpwire_driver::http::Socket;
use mcpwire_driver::protocol::http::{Failure, FailureKind};
use mcpwire_files::read_regular;

/// The TLS options in [`ClientOptions`](crate::ClientOptions): certificates, or a whole TLS configuration.
#[derive(Clone, Default)]
pub(crate) struct TlsOptions {
    /// The TLS configuration that the program has created. If it is set, the other options must be empty.
    pub(crate) config: Option<Arc<ClientConfig>>,
    /// CA certificates to trust, in addition to those that the crate features select.
    pub(crate) authorities: Vec<Authority>,
    /// The client certificate with the chain to its CA, and the private key. `None` if the client presents no certificate.
    pub(crate) identity: Option<(Pem, Pem)>,
}

#[derive(Clone)]
pub(crate) enum Authority {
    Der(Vec<u8>),
    Pem(Pem),
}

/// A PEM text, or the path of a PEM file that is read when it is needed.
#[derive(Clone)]
pub(crate) enum Pem {
    Text(Vec<u8>),
    File(PathBuf),
}

impl Pem {
    /// Returns the PEM text, and reads the file if it is in a file. `what` describes the content in errors, such as `client key`.
    fn read(&self, what: &str) -> Result<Vec<u8>, String> {
        match self {
            Pem::Text(text) => Ok(text.clone()),
            Pem::File(path) => read_regular(path, MAX_PEM_BYTES)
                .map_err(|error| format!("cannot read the {what} `{}`: {error}", path.display())),
        }
    }

    fn certificates(&self, what: &str) -> Result<Vec<CertificateDer<'static>>, String> {
        let text = self.read(what)?;
        let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
        match certificates {
            Ok(certificates) if certificates.is_empty() => Err(self.invalid(what, "found no PEM section CERTIFICATE")),
            Ok(certificates) => Ok(certificates),
            Err(error) => Err(self.invalid(what, &error.to_string())),
        }
    }

    fn private_key(&self, what: &str) -> Result<PrivateKeyDer<'static>, String> {
        let text = self.read(what)?;
        PrivateKeyDer::from_pem_slice(&text).map_err(|error| self.invalid(what, &error.to_string()))
    }

    fn invalid(&self, what: &str, why: &str) -> String {
        match self {
            Pem::Text(_) => format!("invalid {what}: {why}"),
            Pem::File(path) => format!("invalid {what} in `{}`: {why}", path.display()),
        }
    }
}

/// Maximum size of a PEM file, in bytes. 16 MiB: all CA certificates of a system together have less than 1 MiB.
const MAX_PEM_BYTES: u64 = 16 << 20;

const CA_CERTIFICATE: &str = "CA certificate";
const CLIENT_CERTIFICATE: &str = "client certificate";
const CLIENT_KEY: &str = "client key";

impl TlsOptions {
    /// Creates the TLS configuration for connections to servers from these options.
    ///
    /// # Errors
    /// If a certificate or key is invalid or cannot be read. The text names the file.
    fn config(&self) -> Result<ClientConfig, String> {
        if let Some(config) = &self.config {
            if !self.authorities.is_empty() || self.identity.is_some() {
                return Err("certificates cannot be combined with a TLS configuration of the program. \
                            Add them to that configuration"
                    .into());
            }
            return Ok(ClientConfig::clone(config));
        }
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots(&self.authorities)?);
        let Some((chain, key)) = &self.identity else { return Ok(builder.with_no_client_auth()) };
        let certificates = chain.certificates(CLIENT_CERTIFICATE)?;
        let key = key.private_key(CLIENT_KEY)?;
        builder
            .with_client_auth_cert(certificates, key)
            .map_err(|error| chain.invalid("client certificate or key", &error.to_string()))
    }
}

fn roots(authorities: &[Authority]) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    #[cfg(feature = "webpki-roots")]
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    #[cfg(feature = "native-roots")]
    {
        // Skips invalid certificates, because most systems have some.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    roots.add_parsable_certificates(certificates_of_environment(env::var_os("SSL_CERT_FILE")));
    for authority in authorities {
        match authority {
            Authority::Der(der) => roots
                .add(CertificateDer::from(der.as_slice()))
                .map_err(|error| format!("invalid {CA_CERTIFICATE}: {error}"))?,
            Authority::Pem(pem) => {
                for certificate in pem.certificates(CA_CERTIFICATE)? {
                    roots.add(certificate).map_err(|error| pem.invalid(CA_CERTIFICATE, &error.to_string()))?;
                }
            }
        }
    }
    Ok(roots)
}

/// Returns the CA certificates in the file that the environment variable `SSL_CERT_FILE` names, as OpenSSL does.
///
/// Skips a file or certificate that cannot be read, because the program did not set the variable.
pub(crate) fn certificates_of_environment(file: Option<OsString>) -> Vec<CertificateDer<'static>> {
    let text = file.filter(|file| !file.is_empty());
    let text = text.and_then(|file| read_regular(file.as_ref(), MAX_PEM_BYTES).ok()).unwrap_or_default();
    CertificateDer::pem_slice_iter(&text).filter_map(Result::ok).collect()
}

/// Performs TLS handshakes with servers and proxies.
#[derive(Clone)]
pub(crate) struct Tls {
    server: TlsConnector,
    /// The configuration for connections to proxies. It offers no ALPN protocols, because these connections use HTTP/1.1.
    proxy: TlsConnector,
}

impl Tls {
    /// Reads the certificates and keys, and creates the TLS configurations for servers and proxies.
    ///
    /// # Errors
    /// If a certificate or key is invalid or cannot be read. The text names the file.
    pub(crate) fn new(options: &TlsOptions) -> Result<Self, String> {
        let mut server = options.config()?;
        let mut proxy = server.clone();
        proxy.alpn_protocols.clear();
        if server.alpn_protocols.is_empty() {
            server.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        }
        Ok(Tls { server: TlsConnector::from(Arc::new(server)), proxy: TlsConnector::from(Arc::new(proxy)) })
    }

    /// Performs the TLS handshake with a server. Returns the encrypted stream, and whether the server has selected HTTP/2.
    pub(crate) async fn handshake_with_server(&self, host: &str, socket: Socket) -> Result<(Socket, bool), Failure> {
        let stream = self.server.connect(server_name(host)?, socket).await.map_err(failed)?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((Box::pin(stream), is_http2))
    }

    pub(crate) async fn handshake_with_proxy(&self, host: &str, socket: Socket) -> Result<Socket, Failure> {
        let stream = self.proxy.connect(server_name(host)?, socket).await.map_err(failed)?;
        Ok(Box::pin(stream))
    }
}

fn server_name(host: &str) -> Result<ServerName<'static>, Failure> {
    ServerName::try_from(bare(host).to_owned()).map_err(failed)
}

fn failed(error: impl fmt::Display) -> Failure {
    Failure::new(FailureKind::Tls, error.to_string())
}

/// Returns the host of a URL without the brackets around an IPv6 address.
pub(crate) fn bare(host: &str) -> &str {
    host.trim_start_matches('[').trim_end_matches(']')
}
