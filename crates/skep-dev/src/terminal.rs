//! What the terminal says, first of all addresses, and which pages there are for development.

use std::fmt::Display;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::timeout;

use crate::build::CLEAR;
use crate::front::pages;
use crate::package::Package;
use crate::program::Program;
use crate::tls::{Origin, Upstream};

/// Longer, what is only good to know keeps nobody waiting for the next build.
const PATIENCE: Duration = Duration::from_secs(5);

/// Prints a line.
pub(crate) fn say(text: impl Display) {
    let clear = if std::io::stderr().is_terminal() { CLEAR } else { "" };
    eprintln!("{clear}skep dev: {text}");
}

/// Before the first build.
pub(crate) fn print(package: &Package, origin: Origin, upstream: &Upstream) {
    let folder: &Path = package.folder();
    say(format_args!("{} of {}", package.bin, folder.display()));
    let application = Origin { listen: upstream.address, ..origin };
    say(format_args!("open {origin} (the application itself is {application}); Ctrl-C ends all of it"));
    if let Some(tls) = &upstream.tls {
        let file = tls.authority().display();
        let command = format_args!("`certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n skep-dev -i {file}`");
        say(format_args!("Chromium trusts it after {command}; Firefox: Settings, Certificates, Import {file}"));
    }
    let others: Vec<&PathBuf> = package.roots.iter().filter(|root| *root != folder).collect();
    if !others.is_empty() {
        say(format_args!("watching this folder and those of {} packages that it has by a path", others.len()));
    }
}

/// Once the application serves at `address`.
pub(crate) async fn print_pages(program: &Program, upstream: &Upstream, origin: Origin) {
    let routes = timeout(PATIENCE, program.routes()).await.ok().flatten();
    let routes = match routes.map_or(0, |routes| routes.lines().count()) {
        0 => "routes".to_owned(),
        1 => "1 route".to_owned(),
        count => format!("{count} routes"),
    };
    let mut parts = vec![format!("{origin}/-/dev/ has {routes}, mails and the log")];
    parts.extend(pages(upstream).await.into_iter().map(|(name, path)| format!("{name}: {origin}{path}")));
    say(parts.join("; "));
}
