//! A certificate authority of this user, which browsers are made to trust once. Its key stays on this machine, and by
//! its certificate it can vouch for names of this machine only.

use std::fs::{self, File};
use std::io::Write;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa, Issuer,
    KeyPair, KeyUsagePurpose, NameConstraints, date_time_ymd,
};
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::ServerCertVerifier;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use tokio_rustls::rustls::{ClientConfig, RootCertStore, ServerConfig};

use super::Tls;

const CERTIFICATE: &str = "authority.pem";
const KEY: &str = "authority.key";

/// Where the authority is: of all applications of this user.
pub(super) fn folder() -> Result<PathBuf, String> {
    let of = |variable: &str| std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from);
    let data = of("XDG_DATA_HOME").or_else(|| of("HOME").map(|home| home.join(".local/share")));
    let data = data.ok_or("--tls keeps its authority in XDG_DATA_HOME or HOME: neither variable is set")?;
    Ok(data.join("skep-dev"))
}

/// With a new certificate of the authority in `folder`, in files below `own` for the application.
pub(super) fn tls(folder: &Path, own: &Path) -> Result<Tls, String> {
    let (authority, key) = authority(folder)?;
    let issuer = Issuer::new(of_authority(), key);
    let leaf_key = KeyPair::generate().map_err(wrong)?;
    let leaf = leaf().and_then(|leaf| leaf.signed_by(&leaf_key, &issuer)).map_err(wrong)?;
    let roots = Arc::new(roots(authority).map_err(|error| damaged(folder, error))?);
    check(leaf.der(), &roots).map_err(|error| damaged(folder, error))?;
    let (certificate, key) = (own.join("certificate.pem"), own.join("certificate.key"));
    write(&certificate, &leaf.pem())?;
    write(&key, &leaf_key.serialize_pem())?;
    let settings = [("certificate", &certificate), ("key", &key)];
    let [certificate, key] = settings.map(|(name, file)| format!("tls.{name}={}", file.display()));
    // The application's own settings may ask for a certificate that it makes up.
    let settings = [certificate, key, "tls.self_signed=false".to_owned()];
    let key = PrivatePkcs8KeyDer::from(leaf_key.serialize_der());
    let server = server(vec![leaf.der().clone()], key.into())?;
    let file = folder.join(CERTIFICATE);
    Ok(Tls { acceptor: Arc::new(server).into(), connector: Arc::new(client(roots)?).into(), settings, authority: file })
}

/// The authority of this folder, which is made the first time.
fn authority(folder: &Path) -> Result<(CertificateDer<'static>, KeyPair), String> {
    let (certificate, key) = (folder.join(CERTIFICATE), folder.join(KEY));
    if !certificate.exists() || !key.exists() {
        let made = KeyPair::generate().map_err(wrong)?;
        let signed = of_authority().self_signed(&made).map_err(wrong)?;
        write(&key, &made.serialize_pem())?;
        write(&certificate, &signed.pem())?;
    }
    let pem = fs::read_to_string(&key).map_err(|error| damaged(folder, error))?;
    let key = KeyPair::from_pem(&pem).map_err(|error| damaged(folder, error))?;
    let certificate = CertificateDer::from_pem_file(&certificate).map_err(|error| damaged(folder, error))?;
    Ok((certificate, key))
}

fn damaged(folder: &Path, error: impl std::fmt::Display) -> String {
    let folder = folder.display();
    format!(
        "the authority of --tls in {folder} is of no use: {error}; delete the folder, and the next start makes another"
    )
}

/// Whether the authority's certificate is of its key, and of what this version signs: else no browser would trust it.
fn check(leaf: &CertificateDer<'_>, roots: &Arc<RootCertStore>) -> Result<(), String> {
    let client = WebPkiServerVerifier::builder_with_provider(Arc::clone(roots), Arc::new(default_provider()));
    let client = client.build().map_err(|error| error.to_string())?;
    let name = ServerName::try_from("localhost").map_err(|error| error.to_string())?;
    let trusted = client.verify_server_cert(leaf, &[], &name, &[], UnixTime::now());
    trusted.map(drop).map_err(|error| format!("its certificate does not vouch for its key ({error})"))
}

/// What is signed, apart from the key: the same each time, so that certificates name their issuer.
fn of_authority() -> CertificateParams {
    let mut params = dated(CertificateParams::default());
    params.distinguished_name.push(DnType::CommonName, "skep dev, on this machine only");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    // Who gets hold of the key can pretend to be this machine, and no site on the internet.
    params.name_constraints = Some(NameConstraints {
        permitted_subtrees: vec![
            GeneralSubtree::DnsName("localhost".to_owned()),
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(Ipv4Addr::new(127, 0, 0, 0).into(), 8)),
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(Ipv6Addr::LOCALHOST.into(), 128)),
        ],
        excluded_subtrees: Vec::new(),
    });
    params
}

fn leaf() -> Result<CertificateParams, rcgen::Error> {
    let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let mut params = dated(CertificateParams::new(names)?);
    params.distinguished_name.push(DnType::CommonName, "skep dev");
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    Ok(params)
}

fn dated(mut params: CertificateParams) -> CertificateParams {
    params.distinguished_name = rcgen::DistinguishedName::new();
    (params.not_before, params.not_after) = (date_time_ymd(2026, 1, 1), date_time_ymd(2046, 1, 1));
    params
}

fn server(chain: Vec<CertificateDer<'static>>, key: PrivateKeyDer<'static>) -> Result<ServerConfig, String> {
    let config =
        ServerConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    let config = config.map_err(wrong)?.with_no_client_auth().with_single_cert(chain, key);
    let mut config = config.map_err(wrong)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

fn roots(authority: CertificateDer<'static>) -> Result<RootCertStore, tokio_rustls::rustls::Error> {
    let mut roots = RootCertStore::empty();
    roots.add(authority)?;
    Ok(roots)
}

fn client(roots: Arc<RootCertStore>) -> Result<ClientConfig, String> {
    let config =
        ClientConfig::builder_with_provider(Arc::new(default_provider())).with_safe_default_protocol_versions();
    Ok(config.map_err(wrong)?.with_root_certificates(roots).with_no_client_auth())
}

/// Writes a file that only its owner reads, as a whole.
fn write(file: &Path, text: &str) -> Result<(), String> {
    let new = file.with_extension(format!("{}.new", std::process::id()));
    let _ = fs::remove_file(&new);
    let written = fs::create_dir_all(file.parent().unwrap_or(file))
        .and_then(|()| File::options().write(true).create_new(true).mode(0o600).open(&new))
        .and_then(|mut new| new.write_all(text.as_bytes()))
        .and_then(|()| fs::rename(&new, file));
    written.map_err(|error| format!("{}: {error}", file.display()))
}

fn wrong(error: impl std::fmt::Display) -> String {
    format!("no certificate for --tls: {error}")
}

#[cfg(test)]
#[path = "../../tests/unit/authority.rs"]
mod tests;
