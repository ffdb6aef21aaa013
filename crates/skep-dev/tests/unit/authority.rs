//! Unit tests of `authority`.

use std::os::unix::fs::PermissionsExt;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// Whether a client that trusts the authority takes this server for `name`.
async fn connects(tls: &Tls, acceptor: tokio_rustls::TlsAcceptor, name: &'static str) -> bool {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let stream = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let name = name.try_into().unwrap();
    let server = async {
        let (accepted, _) = listener.accept().await.unwrap();
        let mut accepted = acceptor.accept(accepted).await.ok()?;
        accepted.write_all(b"hello").await.ok()?;
        accepted.shutdown().await.ok()
    };
    let client = async {
        let mut text = String::new();
        tls.connector.connect(name, stream).await.ok()?.read_to_string(&mut text).await.ok()?;
        Some(text == "hello")
    };
    tokio::join!(server, client).1 == Some(true)
}

#[tokio::test]
async fn the_authority_is_made_once_and_its_owners() {
    let (data, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = data.path().join("skep-dev");
    let first = tls(&folder, own.path()).unwrap();
    let certificate = fs::read_to_string(first.authority()).unwrap();
    for name in ["localhost", "127.0.0.1", "::1"] {
        assert!(connects(&first, first.acceptor.clone(), name).await, "{name}");
    }
    // Who trusted it then trusts it now.
    let second = tls(&folder, own.path()).unwrap();
    assert_eq!(fs::read_to_string(second.authority()).unwrap(), certificate);
    assert!(connects(&first, second.acceptor.clone(), "localhost").await);
    for file in [folder.join(KEY), own.path().join("certificate.key")] {
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600, "{}", file.display());
    }
    assert_eq!(second.settings()[1], format!("tls.key={}", own.path().join("certificate.key").display()));
    assert_eq!(second.settings()[2], "tls.self_signed=false");
    // The key of another authority, and a damaged one.
    for key in [&KeyPair::generate().unwrap().serialize_pem(), "no key"] {
        fs::write(folder.join(KEY), key).unwrap();
        assert!(tls(&folder, own.path()).err().unwrap().contains("delete the folder"));
    }
}

#[tokio::test]
async fn the_authority_vouches_for_this_machine_only() {
    let (data, own) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let tls = tls(data.path(), own.path()).unwrap();
    let issuer = Issuer::new(of_authority(), authority(data.path()).unwrap().1);
    for (name, is_ours) in [("localhost", true), ("shop.localhost", true), ("example.org", false), ("10.0.0.1", false)]
    {
        let key = KeyPair::generate().unwrap();
        let mut params = dated(CertificateParams::new([name.to_owned()]).unwrap());
        params.use_authority_key_identifier_extension = true;
        let signed = params.signed_by(&key, &issuer).unwrap();
        let key = PrivatePkcs8KeyDer::from(key.serialize_der());
        let server = server(vec![signed.der().clone()], key.into()).unwrap();
        assert_eq!(connects(&tls, Arc::new(server).into(), name).await, is_ours, "{name}");
    }
}
