//! The command line.

use std::ffi::OsString;
use std::net::{Ipv4Addr, SocketAddr, ToSocketAddrs};

use crate::editor::Editor;

pub(crate) const HELP: &str = "\
usage: skep dev [-p PACKAGE] [--bin NAME] [--listen ADDR] [--tls] [--editor PATTERN] [--open] [-- ARGUMENT...]

Build the application in this folder, run it, and build it again when its source changes. The version before answers until
the new one is ready; the browser follows by itself, and shows why there is no new version.

  -p, --package PACKAGE   of a workspace; otherwise the package of this folder
  --bin NAME              its executable, if it has several
  --listen ADDR           an address of this machine for the browser; otherwise 127.0.0.1:8080
  --tls                   https, with a certificate of an authority that is made once, and vouches for this machine only
  --editor PATTERN        a link that opens {file} at {line} and {column}; otherwise the variable SKEP_EDITOR, or
                          vscode://file{file}:{line}:{column}
  --open                  open the browser
  -V, --version           print the version
  -- ARGUMENT...          for the application
";

/// What the command line asks for.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) package: Option<String>,
    pub(crate) bin: Option<String>,
    pub(crate) listen: SocketAddr,
    pub(crate) editor: Editor,
    pub(crate) open: bool,
    pub(crate) tls: bool,
    /// For the application.
    pub(crate) arguments: Vec<OsString>,
}

impl Options {
    /// None if it asks for help.
    pub(crate) fn read(arguments: impl Iterator<Item = OsString>) -> Result<Option<Self>, String> {
        let mut options = Self {
            package: None,
            bin: None,
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            editor: Editor::of_environment()?,
            open: false,
            tls: false,
            arguments: Vec::new(),
        };
        let mut arguments = arguments;
        while let Some(argument) = arguments.next() {
            let argument = argument.to_str().ok_or_else(|| format!("{} is not UTF-8", argument.display()))?.to_owned();
            let (flag, value) = match argument.split_once('=') {
                Some((flag, value)) if flag.starts_with("--") => (flag, Some(value.to_owned())),
                _ => (&*argument, None),
            };
            let mut value = |example: &str| {
                let next = || arguments.next().and_then(|next| next.into_string().ok());
                value.clone().or_else(next).ok_or_else(|| format!("{flag} needs a value, such as {example}"))
            };
            match flag {
                "-h" | "--help" => return Ok(None),
                "--" => {
                    options.arguments = arguments.collect();
                    return Ok(Some(options));
                }
                "-p" | "--package" => options.package = Some(value("shop")?),
                "--bin" => options.bin = Some(value("shop")?),
                "--listen" => options.listen = loopback(&value("127.0.0.1:8080")?)?,
                "--editor" => options.editor = Editor::new(&value("vscode://file{file}:{line}:{column}")?)?,
                "--open" => options.open = true,
                "--tls" => options.tls = true,
                _ => {
                    return Err(format!(
                        "{argument} is not expected here: arguments for the application stand after --"
                    ));
                }
            }
        }
        Ok(Some(options))
    }
}

/// Pages of errors show source text, so nobody else may reach them.
fn loopback(text: &str) -> Result<SocketAddr, String> {
    let wrong = || format!("--listen {text}: expected an address and a port, such as 127.0.0.1:8080");
    let address = text.to_socket_addrs().ok().and_then(|mut all| all.next()).ok_or_else(wrong)?;
    if !address.ip().is_loopback() {
        return Err(format!(
            "--listen {text}: expected an address that only this machine reaches, such as 127.0.0.1:8080, since pages of \
             errors show source text; from another machine, use `ssh -L 8080:127.0.0.1:8080`"
        ));
    }
    Ok(address)
}

#[cfg(test)]
#[path = "../tests/unit/options.rs"]
mod tests;
