//! What must be there before a variant can run, and whether it is.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build::{executable, tools};

/// What must be there before a variant can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// A package of the root workspace.
    Skep(&'static str),
    /// The command `skep`.
    Cli,
    /// wasmtime's command, of the line that Skep links. Debian has none, and it takes minutes to build.
    Wasmtime,
    /// A package of the workspace `tools/peers`.
    Peer(&'static str),
    /// A program of this workspace that uses Skep.
    Ours(&'static str),
    /// Something that is made of a peer's folder, with the peer's own tools.
    Made(Made),
    /// A program that Debian has in this package.
    Debian { command: &'static str, package: &'static str },
    /// A file that Debian has in this package.
    File { file: &'static str, package: &'static str },
    /// A folder whose name begins so, which Debian has in this package.
    Folder { parent: &'static str, begins: &'static str, package: &'static str },
    /// A program that is not asked of Debian, whose version is too old or which has none; how to get it.
    Program { command: &'static str, from: &'static str },
}

/// What is made of a peer's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Made {
    Component(Guest),
    Eliom,
    Express,
    FastCgi,
    Go,
    GoHttp,
    GoPgx,
    Neko,
}

/// A program that is built as a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Guest {
    /// `examples/hello`.
    Hello,
    /// `examples/blog`.
    Blog,
    /// `peers/skep-component`.
    App,
    /// A hello of the crate `wstd`, which knows nothing of Skep: `peers/wasmtime`.
    Wstd,
}

impl Need {
    pub(crate) const SQLITE: Self = Self::debian("sqlite3", "sqlite3");

    /// Its programs are in a folder for each version.
    pub(crate) const POSTGRES: Self = Self::folder("/usr/lib/postgresql", "1", "postgresql");

    pub(crate) const fn debian(command: &'static str, package: &'static str) -> Self {
        Self::Debian { command, package }
    }

    pub(crate) const fn file(file: &'static str, package: &'static str) -> Self {
        Self::File { file, package }
    }

    pub(crate) const fn folder(parent: &'static str, begins: &'static str, package: &'static str) -> Self {
        Self::Folder { parent, begins, package }
    }

    pub(crate) const fn program(command: &'static str, from: &'static str) -> Self {
        Self::Program { command, from }
    }

    /// This, and the tools that make it.
    pub(crate) fn with_tools(self) -> Vec<Self> {
        let mut needs = if let Self::Made(made) = self { made.tools() } else { Vec::new() };
        needs.push(self);
        needs
    }

    /// Its name and its package, if it is Debian's and not there.
    pub(crate) fn absent(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Debian { command, package } if installed(command).is_none() => Some((command, package)),
            Self::File { file, package } if !Path::new(file).exists() => Some((file, package)),
            Self::Folder { parent, begins, package } if !has_one(Path::new(parent), begins) => Some((begins, package)),
            _ => None,
        }
    }

    /// Why it is not there, for a person, if it is not.
    pub(crate) fn missing(self) -> Option<String> {
        if let Self::Program { command, from } = self {
            return installed(command).is_none().then(|| format!("{command} not found: {from}"));
        }
        if self == Self::Wasmtime {
            let is_there = executable(self).is_file();
            return (!is_there).then(|| "wasmtime not found: --install builds it, which takes some ten minutes".into());
        }
        let (name, package) = self.absent()?;
        Some(format!("{name} not found: apt-get install {package}, or --install"))
    }
}

impl Made {
    /// Where it is when it is made.
    pub(crate) fn result(self) -> PathBuf {
        let folder = tools().join("target/posts");
        match self {
            Self::Component(guest) => guest.result(),
            Self::Eliom => folder.join("eliom/posts.cmxs"),
            Self::Express => folder.join("express"),
            Self::FastCgi => folder.join("fastcgi-hello"),
            Self::Go => folder.join("posts-go"),
            Self::GoHttp => folder.join("go-http"),
            Self::GoPgx => folder.join("go-pgx"),
            Self::Neko => folder.join("neko"),
        }
    }

    fn tools(self) -> Vec<Need> {
        const NODE: &str = "from its makers, or apt-get install nodejs npm";
        const GO: &str = "1.24 or newer, from its makers";
        match self {
            Self::Component(_) => vec![],
            Self::Eliom => vec![
                Need::debian("eliomopt", "eliom"),
                Need::file("/usr/lib/ocaml/eliom/server/server.cmxa", "libeliom-ocaml-dev"),
                Need::file("/usr/lib/ocaml/ocsigenserver/ocsigenserver.cmxa", "libocsigenserver-ocaml-dev"),
                Need::file("/usr/lib/ocaml/sqlite3/sqlite3.cmxa", "libsqlite3-ocaml-dev"),
            ],
            Self::Express => vec![Need::program("node", NODE), Need::program("npm", NODE)],
            Self::FastCgi => vec![Need::debian("cc", "gcc"), Need::file("/usr/include/fcgi_stdio.h", "libfcgi-dev")],
            Self::Go => vec![Need::program("go", GO), Need::debian("cc", "gcc")],
            Self::GoHttp | Self::GoPgx => vec![Need::program("go", GO)],
            Self::Neko => vec![Need::debian("haxe", "haxe"), Need::debian("neko", "neko")],
        }
    }
}

impl Guest {
    /// Where the component is when it is built.
    pub(crate) fn result(self) -> PathBuf {
        let (target, file) = match self {
            Self::Hello => ("target", "hello"),
            Self::Blog => ("target", "blog"),
            Self::App => ("target", "skep_component"),
            Self::Wstd => ("target/posts/component", "hello-component"),
        };
        tools().join(target).join("wasm32-wasip2/release").join(file).with_extension("wasm")
    }
}

fn has_one(parent: &Path, begins: &str) -> bool {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name()).any(|name| name.to_string_lossy().starts_with(begins))
}

/// Where a program is installed. Servers live where only root looks, and what cargo installs for the bench in its
/// target.
pub(crate) fn installed(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let own = tools().join("target/tools/bin");
    let folders = std::env::split_paths(&path).chain(["/usr/sbin".into(), "/usr/local/sbin".into(), own]);
    folders.map(|folder| folder.join(command)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_package() {
        let missing = Need::debian("no-such-a", "package-a").missing().unwrap();
        assert_eq!(missing, "no-such-a not found: apt-get install package-a, or --install");
        let missing = Need::folder("/", "no-such-b", "package-b").missing().unwrap();
        assert_eq!(missing, "no-such-b not found: apt-get install package-b, or --install");
        assert_eq!(Need::debian("sh", "dash").missing(), None);
        assert_eq!(Need::folder("/", "etc", "base-files").missing(), None);
        let missing = Need::program("no-such-c", "cargo install c").missing().unwrap();
        assert_eq!(missing, "no-such-c not found: cargo install c");
    }

    #[test]
    fn what_is_made_needs_its_tools_first() {
        let needs = Need::Made(Made::Neko).with_tools();
        assert_eq!(needs.last(), Some(&Need::Made(Made::Neko)));
        assert!(needs.contains(&Need::debian("haxe", "haxe")));
        assert_eq!(Need::SQLITE.with_tools(), [Need::SQLITE]);
    }
}
