//! Whom to trust, and the handshake.

use std::sync::Arc;

use futures_rustls::TlsConnector;
use futures_rustls::pki_types::{CertificateDer, ServerName};
use futures_rustls::rustls::crypto::ring;
use futures_rustls::rustls::{ClientConfig, RootCertStore};

use crate::connect::ConnectFailure;
use mcpwire_driver::http::Socket;

/// What TLS goes by: with HTTP/2 to servers, without it to proxies.
#[derive(Clone)]
pub(crate) struct Tls {
    server: TlsConnector,
    proxy: TlsConnector,
}

impl Tls {
    pub(crate) fn new(trusted: Vec<Vec<u8>>) -> Result<Self, String> {
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots(trusted)?)
            .with_no_client_auth();
        let proxy = TlsConnector::from(Arc::new(config.clone()));
        let mut config = config;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Tls { server: TlsConnector::from(Arc::new(config)), proxy })
    }

    /// Makes a connection a secure one. Whether it speaks HTTP/2.
    pub(crate) async fn server(&self, host: &str, socket: Socket) -> Result<(Socket, bool), ConnectFailure> {
        let stream = self.server.connect(name(host)?, socket).await.map_err(ConnectFailure::tls)?;
        let is_http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
        Ok((Box::pin(stream), is_http2))
    }

    pub(crate) async fn proxy(&self, host: &str, socket: Socket) -> Result<Socket, ConnectFailure> {
        let stream = self.proxy.connect(name(host)?, socket).await.map_err(ConnectFailure::tls)?;
        Ok(Box::pin(stream))
    }
}

fn name(host: &str) -> Result<ServerName<'static>, ConnectFailure> {
    let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    ServerName::try_from(host).map_err(ConnectFailure::tls)
}

fn roots(trusted: Vec<Vec<u8>>) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    #[cfg(feature = "webpki-roots")]
    roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    #[cfg(feature = "native-roots")]
    {
        // Some of a system's certificates are no good; the others count.
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    for certificate in trusted {
        let certificate = CertificateDer::from(certificate);
        roots.add(certificate).map_err(|error| format!("a certificate that is to be trusted is none: {error}"))?;
    }
    Ok(roots)
}
