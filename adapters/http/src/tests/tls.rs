//! Tests of trusted certificates, client certificates, and errors for invalid ones.

use std::fs;
use std::path::PathBuf;

use futures_rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use futures_rustls::rustls::server::WebPkiClientVerifier;
use futures_rustls::rustls::{ClientConfig, RootCertStore};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use mcpwire_driver::McpServerDef;

use super::*;
use crate::tls::certificates_of_environment;

/// A certificate and its private key.
struct Identity {
    certificate: rcgen::Certificate,
    key: KeyPair,
}

/// A CA, and the certificates of a server and of a client that it has signed.
struct Certificates {
    authority: rcgen::Certificate,
    server: Identity,
    client: Identity,
}

fn certificates() -> Certificates {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = params.self_signed(&key).unwrap();
    let issuer = Issuer::new(params, key);
    let signed = |name: &str| {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new([name.to_owned()]).unwrap();
        Identity { certificate: params.signed_by(&key, &issuer).unwrap(), key }
    };
    Certificates { server: signed("localhost"), client: signed("client.invalid"), authority }
}

fn roots(certificates: &Certificates) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    roots.add(certificates.authority.der().clone()).unwrap();
    roots
}

fn der(identity: &Identity) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
    let key = PrivatePkcs8KeyDer::from(identity.key.serialize_der());
    (vec![identity.certificate.der().clone()], key.into())
}

/// Starts a server that requires a client certificate of the CA (mutual TLS).
fn mutual_tls_server(certificates: &Certificates, alpn: &str) -> TlsServer {
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots(certificates)), Arc::clone(&provider));
    let (chain, key) = der(&certificates.server);
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![alpn.as_bytes().to_vec()];
    start(config, Vec::new(), |io| block_on(serve(io)))
}

fn request(options: ClientOptions, server: &TlsServer) -> Result<String, Failure> {
    block_on(fetch(&client(options), &server.url))
}

#[test]
fn a_client_certificate_is_presented_to_a_server_that_requests_one() {
    let certificates = certificates();
    let client = &certificates.client;
    let trusting = || ClientOptions::default().trust_pem(certificates.authority.pem());
    for (alpn, version) in [("http/1.1", "HTTP/1.1"), ("h2", "HTTP/2.0")] {
        let server = mutual_tls_server(&certificates, alpn);
        let options = trusting().client_certificate(client.certificate.pem(), client.key.serialize_pem());
        assert_eq!(request(options, &server).unwrap(), version);
        request(trusting(), &server).expect_err("the server needs a client certificate");
    }
}

#[test]
fn certificates_and_keys_are_read_from_files() {
    let certificates = certificates();
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let authority = file("ca.pem", &format!("the CA of a test\n{}", certificates.authority.pem()));
    let client = &certificates.client;
    let both = file("both.pem", &(client.certificate.pem() + &client.key.serialize_pem()));
    let server = mutual_tls_server(&certificates, "h2");
    let options = ClientOptions::default().trust_pem_file(&authority).client_certificate_files(&both, &both);
    assert_eq!(request(options, &server).unwrap(), "HTTP/2.0");

    // The same by the definition of a server, whose key is in the file of the certificate by default.
    let mut def = McpServerDef::http(&server.url);
    (def.ca_file, def.client_certificate) = (Some(authority), Some(both));
    assert_eq!(request(ClientOptions::of(&def), &server).unwrap(), "HTTP/2.0");
    def.proxy = Some("http://127.0.0.1:1".into());
    request(ClientOptions::of(&def), &server).expect_err("nobody listens at the proxy's port");
}

#[test]
fn the_file_of_the_environment_is_read_as_far_as_it_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    fs::write(&file, certificates().authority.pem()).unwrap();
    assert_eq!(certificates_of_environment(Some(file.into())).len(), 1);
    assert!(certificates_of_environment(Some(folder.path().join("absent").into())).is_empty());
    assert!(certificates_of_environment(Some("".into())).is_empty() && certificates_of_environment(None).is_empty());
}

#[cfg(unix)]
#[test]
fn a_certificate_file_that_is_a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe.pem");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let message = error(ClientOptions::default().trust_pem_file(&pipe));
    assert!(message.contains("it is a named pipe, not a regular file"), "{message}");
    assert!(certificates_of_environment(Some(pipe.into())).is_empty());
}

#[test]
fn a_tls_configuration_of_the_program_is_used() {
    let certificates = certificates();
    let (chain, key) = der(&certificates.client);
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots(&certificates))
        .with_client_auth_cert(chain, key)
        .unwrap();
    let server = mutual_tls_server(&certificates, "h2");
    assert_eq!(request(ClientOptions::default().tls_config(config.clone()), &server).unwrap(), "HTTP/2.0");
    let mut http1 = config.clone();
    http1.alpn_protocols = vec![b"http/1.1".to_vec()];
    let server = tls_server(&["h2", "http/1.1"]);
    let failure = request(ClientOptions::default().tls_config(config), &server).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Tls, "only the CA of the configuration is trusted: {failure}");
    let server = mutual_tls_server(&certificates, "http/1.1");
    assert_eq!(request(ClientOptions::default().tls_config(Arc::new(http1)), &server).unwrap(), "HTTP/1.1");
}

/// Returns the error message of a client with these options.
fn error(options: ClientOptions) -> String {
    match Client::new(Arc::new(Threads), options) {
        Ok(_) => panic!("the options are valid"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_the_invalid_certificate_and_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let shown = |path: &PathBuf| format!("`{}`", path.display());
    let certificates = certificates();
    let (chain, key) = (certificates.client.certificate.pem(), certificates.client.key.serialize_pem());
    let options = ClientOptions::default;

    let absent = path("absent.pem");
    let message = error(options().trust_pem_file(&absent));
    assert!(message.contains(&format!("cannot read the CA certificate {}", shown(&absent))), "{message}");

    let empty = path("empty.pem");
    fs::write(&empty, "no certificates here").unwrap();
    let message = error(options().trust_pem_file(&empty));
    assert!(message.contains(&format!("invalid CA certificate in {}", shown(&empty))), "{message}");
    assert!(message.contains("CERTIFICATE"), "{message}");

    let message = error(options().trust_pem("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"));
    assert!(message.contains("invalid CA certificate: "), "{message}");
    let message = error(options().trust([1, 2, 3]));
    assert!(message.contains("invalid CA certificate: "), "{message}");

    let message = error(options().client_certificate_files(&absent, &absent));
    assert!(message.contains(&format!("cannot read the client certificate {}", shown(&absent))), "{message}");
    let certificate = path("client.pem");
    fs::write(&certificate, &chain).unwrap();
    let message = error(options().client_certificate_files(&certificate, &certificate));
    assert!(message.contains(&format!("invalid client key in {}", shown(&certificate))), "{message}");

    let other = KeyPair::generate().unwrap().serialize_pem();
    let message = error(options().client_certificate(chain.clone(), other));
    assert!(message.contains("invalid client certificate or key: "), "{message}");

    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots(&certificates))
        .with_no_client_auth();
    let message = error(options().client_certificate(chain, key).tls_config(config));
    assert!(message.contains("cannot be combined"), "{message}");
}

#[test]
fn debug_output_contains_no_keys() {
    let options = ClientOptions::default().client_certificate("chain", "s3cret").proxy("http://u:s3cret@proxy");
    assert!(!format!("{options:?}").contains("s3cret"));
}
