//! TLS of the client: whose certificates are good.

use std::path::PathBuf;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CipherSuite, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};

use super::target::Target;

/// Whose certificates are good.
///
/// See [`Plan::trust`](super::Plan::trust).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Trust {
    /// Those of the authorities that this machine trusts.
    #[default]
    System,
    /// Those of the authorities in this PEM file.
    File(PathBuf),
    /// All: for a server of one's own, with a certificate of its own.
    All,
}

/// What every TLS connection of a load is made with.
#[derive(Debug, Clone)]
pub(crate) struct Tls {
    pub(crate) config: Arc<ClientConfig>,
    pub(crate) name: ServerName<'static>,
}

impl Tls {
    /// None, if the target wants none.
    pub(crate) fn of(target: &Target, trust: &Trust, protocol: &[u8]) -> Result<Option<Self>, String> {
        if !target.is_tls() {
            return Ok(None);
        }
        let host = target.host().trim_matches(['[', ']']);
        let name = ServerName::try_from(host.to_owned())
            .map_err(|_| format!("\"{host}\" is no name that a certificate can have"))?;
        let provider = Arc::new(provider());
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let mut config = match trust {
            Trust::All => {
                builder.dangerous().with_custom_certificate_verifier(Arc::new(Anybody(provider))).with_no_client_auth()
            }
            Trust::System => builder.with_root_certificates(of_system()?).with_no_client_auth(),
            Trust::File(path) => builder.with_root_certificates(of_file(path)?).with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.to_vec()];
        Ok(Some(Self { config: Arc::new(config), name }))
    }
}

/// With the cipher first that browsers name first, so that all servers choose it, whether they follow the client or
/// not, and what is compared is not AES with 128 bits and with 256.
fn provider() -> CryptoProvider {
    let mut provider = ring::default_provider();
    provider.cipher_suites.sort_by_key(|suite| suite.suite() != CipherSuite::TLS13_AES_128_GCM_SHA256);
    provider
}

fn of_system() -> Result<RootCertStore, String> {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if store.is_empty() {
        return Err("this machine trusts no authority; name one (--ca FILE), or trust anybody (--insecure)".into());
    }
    Ok(store)
}

fn of_file(path: &PathBuf) -> Result<RootCertStore, String> {
    let wrong = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
    let mut store = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
        store.add(certificate.map_err(|error| wrong(&error))?).map_err(|error| wrong(&error))?;
    }
    if store.is_empty() { Err(wrong(&"there is no certificate in it")) } else { Ok(store) }
}

/// Believes any certificate, but not a signature that is wrong.
#[derive(Debug)]
struct Anybody(Arc<CryptoProvider>);

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}
