//! What the terminal says, first of all addresses, and which pages there are for development.

use std::fmt::Display;
use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::application::Application;
use crate::build::CLEAR;
use crate::package::Package;

/// Pages that an application may have for development: what they are, and where.
const PAGES: [(&str, &str); 2] = [("mails", "/-/mails"), ("jobs", "/-/jobs")];

/// Longer, what is only good to know keeps nobody waiting for the next build.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints a line.
pub(crate) fn say(text: impl Display) {
    let clear = if std::io::stderr().is_terminal() { CLEAR } else { "" };
    eprintln!("{clear}skep dev: {text}");
}

/// Before the first build.
pub(crate) fn print(package: &Package, listen: SocketAddr, application: SocketAddr) {
    let folder: &Path = package.folder();
    say(format_args!("{} of {}", package.bin, folder.display()));
    say(format_args!("open http://{listen} (the application itself is http://{application}); Ctrl-C ends all of it"));
    let others: Vec<&PathBuf> = package.roots.iter().filter(|root| *root != folder).collect();
    if !others.is_empty() {
        say(format_args!("watching this folder and those of {} packages that it has by a path", others.len()));
    }
}

/// Once the application serves at `address`.
pub(crate) async fn print_pages(application: &Application, address: SocketAddr, listen: SocketAddr) {
    if let Ok(parts) = timeout(PATIENCE, pages(application, address, listen)).await
        && !parts.is_empty()
    {
        say(parts.join("; "));
    }
}

async fn pages(application: &Application, address: SocketAddr, listen: SocketAddr) -> Vec<String> {
    let mut parts = Vec::new();
    match application.count_routes().await {
        Some(1) => parts.push("1 route (`skep routes`)".to_owned()),
        Some(count) => parts.push(format!("{count} routes (`skep routes`)")),
        None => {}
    }
    for (name, path) in PAGES {
        if is_there(address, path).await {
            parts.push(format!("{name}: http://{listen}{path}"));
        }
    }
    parts
}

/// Whether it is a page, perhaps behind a guard.
async fn is_there(address: SocketAddr, path: &str) -> bool {
    let Ok(mut stream) = TcpStream::connect(address).await else { return false };
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: text/html\r\nConnection: close\r\n\r\n");
    let mut line = String::new();
    stream.write_all(request.as_bytes()).await.is_ok()
        && BufReader::new(stream).read_line(&mut line).await.is_ok()
        && line.split(' ').nth(1).is_some_and(|status| matches!(status, "200" | "401" | "403"))
}

#[cfg(test)]
#[path = "../tests/unit/terminal.rs"]
mod tests;
