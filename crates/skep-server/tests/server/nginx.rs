//! The guide to nginx, followed to the letter: a real nginx with the text of the guide.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use skep_server::Running;
use tungstenite::Message;
use tungstenite::client::IntoClientRequest;

use super::support::start;

const GUIDE: &str = include_str!("../../../../docs/guides/run/nginx.md");

/// nginx in front of a server, as the guide says, but for paths and ports.
struct Site {
    nginx: Child,
    folder: PathBuf,
    port: u16,
    client: Arc<ClientConfig>,
    _server: Running,
}

/// A block of the guide.
fn block(language: &str) -> &'static str {
    let (_, rest) = GUIDE.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0
}

/// The value of a setting in the guide.
fn setting(name: &str) -> String {
    let line = block("toml").lines().find(|line| line.starts_with(&format!("{name} = "))).unwrap();
    let value = line.split_once(" = ").unwrap().1.split("    #").next().unwrap();
    value.trim_matches(['[', ']']).trim_matches('"').to_owned()
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Replaces a text that must be there.
fn replaced(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "the guide has no {from:?} any more");
    text.replace(from, to)
}

impl Site {
    /// With the unix socket of the guide, or with a port instead.
    fn start(over_unix: bool) -> Self {
        let is_root = rustix::process::geteuid().is_root();
        let folder = std::env::temp_dir().join(format!("skep-nginx-{}-{over_unix}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
        let socket = folder.join("blog.sock");
        let (backend, port) = (free_port(), free_port());
        let mut listen = replaced(&setting("listen"), "/run/blog/blog.sock", socket.to_str().unwrap());
        let mut upstream = format!("unix:{}", socket.display());
        let mut trusted = setting("trusted");
        if !is_root {
            // Only root may give a file to a group that it is not in; nginx is the same user then.
            listen = listen.split(" group=").next().unwrap().to_owned();
        }
        if !over_unix {
            (upstream, trusted) = (format!("127.0.0.1:{backend}"), "127.0.0.1".to_owned());
            listen.clone_from(&upstream);
        }
        let base_url = setting("base_url");
        let settings = [("listen", &*listen), ("base_url", &base_url), ("proxies.trusted", &trusted)];
        let server = start(&settings);
        let made = rcgen::generate_simple_self_signed(["blog.example.org".to_owned()]).unwrap();
        fs::write(folder.join("blog.crt"), made.cert.pem()).unwrap();
        fs::write(folder.join("blog.key"), made.signing_key.serialize_pem()).unwrap();
        let guide = replaced(block("nginx"), "listen 443 ssl;", &format!("listen 127.0.0.1:{port} ssl;"));
        let guide = replaced(&guide, "unix:/run/blog/blog.sock", &upstream);
        let guide = replaced(&guide, "/etc/ssl/", &format!("{}/", folder.display()));
        fs::write(folder.join("nginx.conf"), configuration(&guide, is_root)).unwrap();
        let mut nginx = Command::new("nginx");
        nginx.arg("-p").arg(&folder).args(["-c", "nginx.conf", "-e", "error.log"]);
        let nginx = nginx.stdin(Stdio::null()).spawn().expect("nginx is installed");
        let site = Self { nginx, folder, port, client: client(&made), _server: server };
        site.wait();
        site
    }

    /// Waits until nginx listens.
    fn wait(&self) {
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < Duration::from_secs(20), "{}", self.errors());
            std::thread::yield_now();
        }
    }

    fn errors(&self) -> String {
        fs::read_to_string(self.folder.join("error.log")).unwrap_or_default()
    }

    fn host(&self) -> String {
        format!("blog.example.org:{}", self.port)
    }

    fn connect(&self) -> StreamOwned<ClientConnection, TcpStream> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let name = ServerName::try_from("blog.example.org").unwrap();
        StreamOwned::new(ClientConnection::new(Arc::clone(&self.client), name).unwrap(), stream)
    }

    /// The response to `GET /sender` with these fields, which a client sends.
    fn ask(&self, fields: &str) -> String {
        let mut stream = self.connect();
        let host = self.host();
        write!(stream, "GET /sender HTTP/1.1\r\nHost: {host}\r\n{fields}Connection: close\r\n\r\n").unwrap();
        let mut all = Vec::new();
        // nginx ends connections without a TLS alert.
        let _ = stream.read_to_end(&mut all);
        String::from_utf8(all).unwrap()
    }
}

/// TLS of a client that trusts this certificate.
fn client(made: &rcgen::CertifiedKey<rcgen::KeyPair>) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    Arc::new(config.with_root_certificates(roots).with_no_client_auth())
}

/// What a distribution's nginx.conf has around the guide's text. Its workers are Debian's user, if they can be.
fn configuration(guide: &str, is_root: bool) -> String {
    let user = if is_root { "user www-data;" } else { "" };
    let temporary =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|name| format!("{name}_temp_path tmp-{name};"));
    format!(
        "{user} daemon off; worker_processes 1; pid nginx.pid; events {{}}\nhttp {{ access_log off; {}\n{guide}\n}}\n",
        temporary.concat()
    )
}

impl Drop for Site {
    fn drop(&mut self) {
        let pid = rustix::process::Pid::from_child(&self.nginx);
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        let _ = self.nginx.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn check(over_unix: bool) {
    let site = Site::start(over_unix);
    let host = site.host();
    let own = format!("127.0.0.1:0 {}", setting("base_url"));
    let plain = site.ask("");
    assert!(plain.starts_with("HTTP/1.1 200") && plain.ends_with(&own), "{plain}\n{}", site.errors());
    assert!(plain.contains("; Secure"), "{plain}");
    // What the client writes of itself.
    for fields in [
        "Forwarded: for=6.6.6.6;host=evil.example;proto=http\r\n",
        "X-Forwarded-Host: evil.example\r\nX-Forwarded-Port: 99\r\nX-Forwarded-Proto: http\r\n",
        "X-Forwarded-For: 6.6.6.6\r\n",
        "X-Forwarded-For: 6.6.6.6,\r\nX-Forwarded-Prefix: /evil\r\n",
    ] {
        // Over a port, the client has the address of the proxy here, which is trusted.
        if !over_unix && fields.starts_with("X-Forwarded-For") {
            continue;
        }
        let answer = site.ask(fields);
        assert!(answer.ends_with(&own), "{fields}{answer}");
        assert!(answer.contains("x-seen: x-forwarded-for x-forwarded-proto\r\n"), "{fields}{answer}");
    }
    // A page of the site, and one of another.
    for (origin, is_own) in [(format!("https://{host}"), true), ("https://evil.example".to_owned(), false)] {
        let mut request = format!("wss://{host}/echo").into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let opened = tungstenite::client(request, site.connect());
        assert_eq!(
            opened.is_ok(),
            is_own,
            "{origin}: {:?}\n{}",
            opened.err().map(|error| error.to_string()),
            site.errors()
        );
        let Ok((mut socket, _)) = opened else { continue };
        socket.send(Message::text("through nginx")).unwrap();
        assert_eq!(socket.read().unwrap(), Message::text("through nginx"));
    }
}

#[test]
#[ignore = "needs nginx"]
fn the_guide_to_nginx_works_over_a_unix_socket() {
    check(true);
}

#[test]
#[ignore = "needs nginx"]
fn the_guide_to_nginx_works_over_a_port() {
    check(false);
}
