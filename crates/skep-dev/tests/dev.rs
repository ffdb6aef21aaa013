//! `skep dev` as its user meets it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

fn skep_dev(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_skep-dev"));
    command.args(arguments).current_dir(folder).env_remove("SKEP_EDITOR").env("CARGO", env!("CARGO"));
    command
}

fn refusal(command: &mut Command) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command.output().unwrap();
    (status.code(), String::from_utf8(stderr).unwrap())
}

fn write(folder: &Path, file: &str, text: &str) {
    let file = folder.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// A package that cargo can describe, and nobody builds.
fn package(bins: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let sections = bins.iter().map(|bin| format!("[[bin]]\nname = \"{bin}\"\npath = \"src/{bin}.rs\"\n"));
    let manifest = format!(
        "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n{}",
        sections.collect::<String>()
    );
    write(folder.path(), "Cargo.toml", &manifest);
    for bin in bins {
        write(folder.path(), &format!("src/{bin}.rs"), "fn main() {}");
    }
    folder
}

#[test]
fn what_keeps_it_from_starting_is_named() {
    let nothing = tempfile::tempdir().unwrap();
    let version = skep_dev(nothing.path(), &["--version"]).output().unwrap();
    assert_eq!(String::from_utf8(version.stdout).unwrap(), format!("skep-dev {}\n", env!("CARGO_PKG_VERSION")));
    let (code, error) = refusal(&mut skep_dev(nothing.path(), &[]));
    assert!(code == Some(1) && error.contains("could not find `Cargo.toml`") && error.contains("skep new"), "{error}");
    let (code, error) = refusal(&mut skep_dev(nothing.path(), &["--listen", "0.0.0.0:8080"]));
    assert!(code == Some(2) && error.contains("only this machine reaches"), "{error}");
    if !cfg!(feature = "tls") {
        let (code, error) = refusal(&mut skep_dev(package(&["shop"]).path(), &["--tls", "--listen", "127.0.0.1:0"]));
        assert!(code == Some(1) && error.contains("--features tls"), "{error}");
    }
    let several = package(&["shop", "import"]);
    let (code, error) = refusal(&mut skep_dev(several.path(), &[]));
    assert!(code == Some(1) && error.contains("with --bin: ") && error.contains("import"), "{error}");
    let mut no_cargo = skep_dev(several.path(), &[]);
    let (code, error) = refusal(no_cargo.env_remove("CARGO").env("PATH", "/nowhere"));
    assert!(code == Some(1) && error.contains("cargo is not in PATH"), "{error}");
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, error) = refusal(&mut skep_dev(several.path(), &["--bin", "shop", "--listen", &address]));
    assert!(code == Some(1) && error.contains("is taken"), "{error}");
    let (code, error) = refusal(skep_dev(several.path(), &[]).env("SKEP_EDITOR", "vim"));
    assert!(code == Some(2) && error.contains("{file}"), "{error}");
}

#[test]
fn what_is_no_server_is_a_page_and_ends_with_the_command() {
    let folder = package(&["shop"]);
    let text = "no <server>: Address already in use (os error 98)";
    write(folder.path(), "src/shop.rs", &format!("fn main() {{ eprintln!({text:?}); std::process::exit(3) }}"));
    let dev = Dev::start(folder.path(), &folder.path().join("target"));
    let mut events = dev.events();
    let state = events.wait_for(|state| state["problem"].is_u64());
    assert_eq!(state["version"], events.first["version"], "no version serves");
    let page = dev.get("/any", &["Accept: text/html"]);
    assert!(page.starts_with("HTTP/1.1 503 ") && page.contains("no &lt;server&gt;"), "{page}");
    assert!(page.contains("<p class=\"suggestion\">Another server has this port"), "{page}");
    assert!(page.contains("data-alone"), "it loads again by itself");
    assert!(dev.get("/any", &["Accept: */*"]).ends_with("no version of the application answers yet\n"));
    let other = ["Accept: text/html", "Host: evil.example"];
    for path in ["/any", "/-/dev/problem", "/-/dev/events"] {
        let refused = dev.get(path, &other);
        assert!(
            refused.starts_with("HTTP/1.1 403 ") && !refused.contains("server>") && !refused.contains("&lt;"),
            "{refused}"
        );
    }
    // Broken source: the compiler's text, with a link into the editor.
    write(folder.path(), "src/shop.rs", "fn main() { let a: u8 = \"<b>\"; }");
    let broken = events.wait_for(|new| new["problem"].is_u64() && new["problem"] != state["problem"]);
    let page = dev.get("/-/dev/problem", &[]);
    assert!(page.contains("An error of the compiler") && page.contains("&quot;&lt;b&gt;&quot;"), "{page}");
    let place = format!("vscode://file{}/src/shop.rs:1:25", fs::canonicalize(folder.path()).unwrap().display());
    assert!(page.contains(&place), "{place} in {page}");
    // Cargo itself refuses.
    let manifest = fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
    write(folder.path(), "Cargo.toml", &format!("{manifest}[dependencies]\nwords = {{ path = \"none\" }}\n"));
    events.wait_for(|new| new["problem"].is_u64() && new["problem"] != broken["problem"]);
    let page = dev.get("/-/dev/problem", &[]);
    assert!(page.contains("Cargo does not build it") && page.contains("words"), "{page}");
    dev.end();
}

/// What a server of Skep is to the command: ready by a datagram, routes, a log, and mails in a file.
const SERVER: &str = r##"
use std::io::{BufRead, BufReader, Write};
use std::os::{linux::net::SocketAddrExt, unix::net::{SocketAddr, UnixDatagram}};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--routes") {
        return println!("GET / <Index>\nGET /more More");
    }
    let address = arguments.iter().find_map(|argument| argument.strip_prefix("listen=")).unwrap();
    let listener = std::net::TcpListener::bind(address).unwrap();
    let mail = r#"{"to":"ada@example.org","subject":"Your <order>","text":"T","html":"<p>H</p>","attachments":[]}"#;
    let mails = std::env::var("MAILS_OF_SKEP_DEV").unwrap();
    std::fs::OpenOptions::new().append(true).open(mails).unwrap().write_all(format!("{mail}\n").as_bytes()).unwrap();
    eprintln!("a line of the <log>");
    let name = std::env::var("NOTIFY_SOCKET").unwrap();
    let supervisor = SocketAddr::from_abstract_name(&name[1..]).unwrap();
    UnixDatagram::unbound().unwrap().send_to_addr(b"READY=1", &supervisor).unwrap();
    for stream in listener.incoming().flatten() {
        let mut line = String::new();
        let _ = BufReader::new(&stream).read_line(&mut line);
        let status = if line.starts_with("GET /-/jobs ") { "200 OK" } else { "404 Not Found" };
        let _ = write!(&stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    }
}
"##;

#[test]
fn pages_for_development_show_mails_routes_and_the_log() {
    let folder = package(&["shop"]);
    write(folder.path(), "src/shop.rs", SERVER);
    let dev = Dev::start(folder.path(), &folder.path().join("target"));
    let mut events = dev.events();
    let first = events.first["version"].clone();
    events.wait_for(|state| state["version"] != first);
    let page = |path: &str, expected: &[&str]| {
        let page = dev.get(path, &[]);
        assert!(page.starts_with("HTTP/1.1 200 ") && expected.iter().all(|one| page.contains(one)), "{path}: {page}");
    };
    page("/-/dev/", &["/-/dev/mails", "/-/dev/log", "<a href=\"/-/jobs\">The application's jobs</a>"]);
    page("/-/dev/routes", &["GET / &lt;Index&gt;\nGET /more"]);
    page("/-/dev/log", &["a line of the &lt;log&gt;"]);
    page("/-/dev/mails", &["<a href=\"/-/dev/mails/1\">Your &lt;order&gt;</a> to ada@example.org"]);
    page("/-/dev/mails/1", &["src=\"/-/dev/mails/1/html\"", "frame-src 'self'"]);
    page(
        "/-/dev/mails/1/html",
        &["<p>H</p>", "default-src 'none'; img-src", "sandbox allow-popups allow-popups-to-escape-sandbox;"],
    );
    assert!(dev.get("/-/dev/mails/2", &[]).starts_with("HTTP/1.1 404 "));
    for path in ["/-/dev/", "/-/dev/mails", "/-/dev/mails/1", "/-/dev/mails/1/html", "/-/dev/routes", "/-/dev/log"] {
        for field in ["Host: evil.example", "Sec-Fetch-Site: cross-site", "Origin: http://evil.example"] {
            assert!(dev.get(path, &[field]).starts_with("HTTP/1.1 403 "), "{path}, {field}");
        }
    }
    let banner = dev.lines.lock().unwrap().iter().find(|line| line.contains("/-/dev/ has ")).unwrap();
    assert!(banner.contains("has 2 routes, mails and the log; jobs: http://"), "{banner}");
    dev.end();
}

/// A running command.
struct Dev {
    child: Child,
    address: SocketAddr,
    /// Of the application.
    application: SocketAddr,
    /// What it prints, in lines.
    lines: Mutex<Receiver<String>>,
}

/// The stream of states.
struct Events {
    stream: BufReader<TcpStream>,
    first: serde_json::Value,
}

impl Dev {
    fn start(folder: &Path, target: &Path) -> Self {
        let mut command = skep_dev(folder, &["--listen", "127.0.0.1:0"]);
        command.env("CARGO_TARGET_DIR", target).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (to, lines) = channel();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        thread::spawn(move || stderr.lines().map_while(Result::ok).for_each(|line| drop(to.send(line))));
        let line = lines.iter().find(|line| line.contains("open http://")).expect("a banner");
        let mut addresses = line.split("http://").skip(1);
        let mut next = || {
            let text = addresses.next().unwrap();
            text[..text.find([' ', ')']).unwrap()].parse().unwrap()
        };
        Self { address: next(), application: next(), child, lines: Mutex::new(lines) }
    }

    /// The whole response.
    fn get(&self, path: &str, fields: &[&str]) -> String {
        let mut stream = self.request(path, fields);
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn request(&self, path: &str, fields: &[&str]) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let is_named = fields.iter().any(|field| field.starts_with("Host:"));
        let host = if is_named { String::new() } else { format!("Host: {}\r\n", self.address) };
        let fields: String = fields.iter().flat_map(|field| [*field, "\r\n"]).collect();
        let close = if path == "/-/dev/events" && !is_named { "" } else { "Connection: close\r\n" };
        write!(stream, "GET {path} HTTP/1.1\r\n{host}{fields}{close}\r\n").unwrap();
        stream
    }

    fn events(&self) -> Events {
        let mut events =
            Events { stream: BufReader::new(self.request("/-/dev/events", &[])), first: serde_json::Value::Null };
        events.first = events.wait_for(|_| true);
        events
    }

    /// As Ctrl-C would; nothing is left running.
    fn end(mut self) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        assert!(self.child.wait().unwrap().success());
        assert!(TcpStream::connect(self.address).is_err() && TcpStream::connect(self.application).is_err());
        // The other end of the pipe is closed: nobody is left who could write to it.
        self.lines.lock().unwrap().iter().for_each(drop);
    }
}

impl Drop for Dev {
    /// After a failed test: its children end with it, if it is asked.
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let id = rustix::process::Pid::from_child(&self.child);
            let _ = rustix::process::kill_process(id, rustix::process::Signal::INT);
            let _ = self.child.wait();
        }
    }
}

impl Events {
    fn wait_for(&mut self, is_meant: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        loop {
            let mut line = String::new();
            assert!(self.stream.read_line(&mut line).unwrap() > 0, "the stream ended");
            let state = line.strip_prefix("data: ").map(|json| serde_json::from_str(json).unwrap());
            if let Some(state) = state.filter(&is_meant) {
                return state;
            }
        }
    }
}

mod long {
    use super::{Dev, write};
    use std::fs;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::thread;
    use std::time::Duration;

    const LIB: &str = r#"//! A page with a word of another package.

use skep::prelude::*;

skep::assets!(Static = "static" at "/static");

/// The page.
#[derive(Service)]
#[service(GET "/")]
struct Page;

impl Handle for Page {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { html { head { title { "Tiny" } link rel="stylesheet" href=(Static::STYLE_CSS); } body { p { (words::WORD) } } } }))
    }
}

/// The application.
pub fn app() -> App {
    App::new().serve(services![Page]).files("/static", Static)
}
"#;

    /// The third-party crates are those of the workspace, under the same profile.
    fn application(folder: &Path) {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
        let own = fs::read_to_string(repository.join("Cargo.toml")).unwrap();
        let profile = &own[own.find("[profile.dev]").unwrap()..];
        let path = |name: &str| repository.join("crates").join(name);
        let manifest = format!(
            "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\n\
             words = {{ path = \"words\" }}\nskep = {{ path = \"{}\" }}\nskep-server = {{ path = \"{}\" }}\n{profile}",
            path("skep").display(),
            path("skep-server").display()
        );
        write(folder, "Cargo.toml", &manifest);
        fs::copy(repository.join("Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        let library = "[package]\nname = \"words\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        write(folder, "words/Cargo.toml", library);
        write(folder, "words/src/lib.rs", "pub const WORD: &str = \"one\";");
        write(folder, "src/lib.rs", LIB);
        write(folder, "src/main.rs", "fn main() -> std::process::ExitCode { skep_server::run(tiny::app) }");
        write(folder, "static/style.css", "p { color: red }");
    }

    #[test]
    #[ignore = "takes minutes: the framework is compiled, and an application five times"]
    fn edits_are_served_without_a_lost_request() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        application(root);
        let dev = Dev::start(root, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
        let mut events = dev.events();
        let first = events.first["version"].clone();
        assert!(dev.get("/", &["Accept: text/html"]).contains("tiny is being built"));
        let served = events.wait_for(|state| state["version"] != first);
        assert!(dev.lines.lock().unwrap().iter().any(|line| line.contains("/-/dev/ has 2 routes, mails and the log")));
        let (stop, sent) = (AtomicBool::new(false), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        let page = dev.get("/", &["Accept: text/html"]);
                        assert!(page.starts_with("HTTP/1.1 200 ") && page.ends_with("</script>"), "{page}");
                        sent.fetch_add(1, Ordering::Relaxed);
                        thread::sleep(Duration::from_millis(5));
                    }
                });
            }
            // Also when an assertion fails.
            let guard = Stop(&stop);
            edit(&dev, &mut events, root, &served);
            drop(guard);
        });
        assert!(sent.load(Ordering::Relaxed) > 100, "a load");
        dev.end();
    }

    struct Stop<'a>(&'a AtomicBool);

    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    fn edit(dev: &Dev, events: &mut super::Events, root: &Path, served: &serde_json::Value) {
        // The source of a package beside it.
        write(root, "words/src/lib.rs", "pub const WORD: &str = \"two\";");
        let second = events.wait_for(|state| state["version"] != served["version"]);
        let page = dev.get("/", &["Accept: text/html"]);
        assert!(
            page.contains("<p>two</p>") && page.contains(&format!("data-version=\"{}\"", second["version"])),
            "{page}"
        );
        assert!(!dev.get("/", &["Accept: */*"]).contains("/-/dev/"), "what is no browser gets the page as it is");
        // An asset: no compiler, the same link.
        write(root, "static/style.css", "p { color: blue }");
        let state = events.wait_for(|state| state["styles"] != second["styles"]);
        assert_eq!((&state["version"], &state["progress"]), (&second["version"], &serde_json::Value::from("")));
        let link = page.split("href=\"").nth(1).unwrap().split('"').next().unwrap();
        let sheet = dev.get(link, &[]);
        assert!(sheet.ends_with("p { color: blue }") && sheet.contains("cache-control: no-cache"), "{sheet}");
        // Broken, then a version that does not start, then a good one.
        write(root, "src/lib.rs", &LIB.replace("words::WORD", "words::NONE"));
        let broken = events.wait_for(|state| state["problem"].is_u64());
        assert!(dev.get("/-/dev/problem", &[]).contains("cannot find value `NONE` in crate `words`"));
        assert!(dev.get("/", &["Accept: text/html"]).contains("<p>two</p>"), "the version before serves");
        write(root, "src/lib.rs", &LIB.replace("serve(services![Page])", "serve(services![])"));
        events.wait_for(|state| state["problem"].is_u64() && state["problem"] != broken["problem"]);
        let page = dev.get("/-/dev/problem", &[]);
        assert!(page.contains("The new version does not start") && page.contains("Page (GET /"), "{page}");
        write(root, "src/lib.rs", LIB);
        let mended = events.wait_for(|state| state["problem"].is_null() && state["progress"] == "");
        assert!(mended["version"].as_u64() > second["version"].as_u64());
    }
}
