//! Certificates and keys, and the streams of rustls.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::Settings;

pub(crate) use tokio_rustls::TlsAcceptor as Acceptor;
/// A socket with TLS.
pub(crate) type Stream<S> = tokio_rustls::server::TlsStream<S>;

/// The protocols for ALPN, best first (RFC 7301, 6).
const PROTOCOLS: [&[u8]; 3] = [b"h2", b"http/1.1", b"http/1.0"];

/// The TLS acceptor, if TLS is configured.
pub(crate) fn acceptor(tls: &Settings, http2: bool) -> Result<Option<Acceptor>, String> {
    let (chain, key) = match (&tls.certificate, &tls.key) {
        (Some(_), Some(_)) if tls.self_signed => {
            return Err(
                "tls.self_signed is for trying without a certificate, but tls.certificate is set, too".to_owned()
            );
        }
        (Some(certificate), Some(key)) => (read_chain(certificate)?, read_key(key)?),
        (Some(_), None) => return Err("tls.certificate (--tls-cert) is set, but tls.key (--tls-key) is not".to_owned()),
        (None, Some(_)) => return Err("tls.key (--tls-key) is set, but tls.certificate (--tls-cert) is not".to_owned()),
        (None, None) if tls.self_signed => self_signed()?,
        (None, None) => return Ok(None),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|error| mismatch(tls, &error))?;
    config.alpn_protocols = PROTOCOLS.iter().skip(usize::from(!http2)).map(|name| name.to_vec()).collect();
    Ok(Some(Acceptor::from(Arc::new(config))))
}

/// The socket beneath.
pub(crate) fn plain<S>(stream: &Stream<S>) -> &S {
    stream.get_ref().0
}

/// Whether the client has chosen HTTP/2.
pub(crate) fn is_http2<S>(stream: &Stream<S>) -> bool {
    stream.get_ref().1.alpn_protocol() == Some(b"h2")
}

fn mismatch(tls: &Settings, error: &rustls::Error) -> String {
    let name = |path: &Option<std::path::PathBuf>| path.as_deref().unwrap_or(Path::new("?")).display().to_string();
    let (certificate, key) = (name(&tls.certificate), name(&tls.key));
    match error {
        rustls::Error::InconsistentKeys(_) => {
            format!("the key in {key} does not belong to the certificate in {certificate}")
        }
        error => format!("certificate {certificate} with key {key}: {error}"),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn read_chain(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(path)?).collect();
    let chain = chain.map_err(|error| format!("{}: {error}", path.display()))?;
    if chain.is_empty() {
        return Err(format!(
            "{}: there is no certificate in it (a PEM file has -----BEGIN CERTIFICATE-----)",
            path.display()
        ));
    }
    Ok(chain)
}

fn read_key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    // What is no file is no key either, and has its own error below.
    let mode = fs::metadata(path).map_or(0, |metadata| metadata.permissions().mode() & 0o777);
    // A group may read it: Debian's ssl-cert does.
    if mode & 0o027 != 0 {
        let path = path.display();
        return Err(format!("{path}: it has mode {mode:03o}, so others may read or change it: chmod 600 {path}"));
    }
    PrivateKeyDer::from_pem_slice(&read(path)?).map_err(|error| match error {
        pem::Error::NoItemsFound => {
            format!("{}: there is no private key in it (a PEM file has -----BEGIN PRIVATE KEY-----)", path.display())
        }
        error => format!("{}: {error}", path.display()),
    })
}

type Identity = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn self_signed() -> Result<Identity, String> {
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let made = rcgen::generate_simple_self_signed(names).map_err(|error| error.to_string())?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}
