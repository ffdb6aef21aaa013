//! The certificates that TLS begins with.

use rustls_native_certs::CertificateResult;
use rustls_pki_types::CertificateDer;

/// The certificates of the authorities that this system trusts: those of OpenSSL's usual places, or of `SSL_CERT_FILE`
/// and `SSL_CERT_DIR`. If none is found, or some cannot be read, the log says so; `user` is who needs them.
#[must_use]
pub fn system_roots(user: &str) -> Vec<CertificateDer<'static>> {
    let CertificateResult { certs, errors, .. } = rustls_native_certs::load_native_certs();
    if certs.is_empty() {
        tracing::warn!(
            target: "skep::tls", ?errors,
            "this system has no certificates of authorities, so no server is trusted by {user}: install \
             `ca-certificates`"
        );
    } else if let Some(error) = errors.first() {
        tracing::warn!(target: "skep::tls", %error, "not all certificates of the system's authorities could be read");
    }
    certs
}
