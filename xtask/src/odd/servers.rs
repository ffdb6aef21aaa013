//! The servers that are asked, each on a port of its own; they end with this process.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::command;

/// A server that is running. Dropping it ends it.
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) version: String,
    pub(super) address: String,
    child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts Skep, nginx, Apache, Go and Node. Each has its files in a folder.
pub(super) fn start(folder: &Path) -> Result<Vec<Server>, String> {
    let site = folder.join("site");
    fs::create_dir_all(&site)
        .and_then(|()| fs::write(site.join("index.html"), "ok\n"))
        .map_err(|error| error.to_string())?;
    let build = |name: &str, args: &[&str]| match command::program(name).args(args).status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("`{name} {}` failed: {other:?}", args.join(" "))),
    };
    build("cargo", &["build", "-q", "-p", "skep-server", "--example", "odd"])?;
    build("go", &["build", "-o", "target/odd/go", "tools/odd/server.go"])?;
    let skep = |address: &str| {
        let mut skep = command::program("target/debug/examples/odd");
        skep.args(["--listen", address, "--data", "target/odd/data", "--set", "supervise=false"]);
        skep.args(["--set", "log.access=false", "--set", "log.level=error"]);
        Ok(skep)
    };
    let nginx = |address: &str| {
        let mut nginx = command::program("nginx");
        nginx.args(["-e", "/dev/null", "-c"]).arg(configured(folder, "nginx.conf", address)?);
        Ok(nginx)
    };
    let apache = |address: &str| {
        let mut apache = command::program("apache2");
        apache.args(["-X", "-f"]).arg(configured(folder, "apache.conf", address)?);
        Ok(apache)
    };
    let go = |address: &str| {
        let mut go = command::program("target/odd/go");
        go.arg(address);
        Ok(go)
    };
    let node = |address: &str| {
        let mut node = command::program("node");
        node.args(["tools/odd/server.js", address]);
        Ok(node)
    };
    Ok(vec![
        server("Skep", "Skep".to_owned(), skep)?,
        server("nginx", version("nginx", &["-v"])?, nginx)?,
        server("Apache", version("apache2", &["-v"])?, apache)?,
        server("Go", version("go", &["version"])?, go)?,
        server("Node", format!("Node {}", version("node", &["--version"])?), node)?,
    ])
}

fn server(
    name: &'static str,
    version: String,
    command: impl FnOnce(&str) -> Result<Command, String>,
) -> Result<Server, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.map_err(|error| error.to_string())?.to_string();
    let mut command = command(&address)?;
    let child = command.stdout(Stdio::null()).spawn().map_err(|error| format!("{name} does not start: {error}"))?;
    let server = Server { name, version, address, child };
    let begun = Instant::now();
    while TcpStream::connect(&server.address).is_err() {
        if begun.elapsed() > Duration::from_secs(20) {
            return Err(format!("{name} does not listen on {}", server.address));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(server)
}

/// A configuration file with its folder and address filled in.
fn configured(folder: &Path, name: &str, address: &str) -> Result<std::path::PathBuf, String> {
    let source = command::root().join("tools/odd").join(name);
    let text = fs::read_to_string(&source).map_err(|error| format!("{}: {error}", source.display()))?;
    let text = text.replace("FOLDER", &folder.display().to_string()).replace("ADDRESS", address);
    let path = folder.join(name);
    fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// The first line of what a program says of its version, without its system.
fn version(program: &str, args: &[&str]) -> Result<String, String> {
    let output = command::program(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    let text = if output.stdout.is_empty() { output.stderr } else { output.stdout };
    let text = String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned();
    let text = text.rsplit_once(": ").map_or(text.clone(), |(_, version)| version.to_owned());
    let text = text.split(" linux").next().unwrap_or_default().split(" (").next().unwrap_or_default().to_owned();
    Ok(text.trim_start_matches("go version ").to_owned())
}
