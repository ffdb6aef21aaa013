//! What a run happened on, for its record.

use std::fs;

use figures::machine::{commit, facts, line, version};

use crate::build::{Need, executable, repository, tools};

/// What a run happened on, as names and values.
pub(crate) struct Machine(pub(crate) Vec<(&'static str, String)>);

/// Crates whose versions matter, of the bench's lock file.
const CRATES: [&str; 8] = ["hyper", "tokio", "axum", "actix-web", "sqlx", "askama", "libsqlite3-sys", "pulldown-cmark"];

impl Machine {
    /// Looks at it now.
    pub(crate) fn look() -> Self {
        let mut facts = facts();
        facts.extend([
            ("skep", commit(repository())),
            ("nginx", line(&path("nginx"), &["-v"])),
            ("lighttpd", line(&path("lighttpd"), &["-v"])),
            ("apache", line(&path("apache2"), &["-v"])),
            ("php", line("php", &["-v"])),
            ("neko", line("neko", &["-version"])),
            ("ocsigenserver", line("dpkg-query", &["-Wf", "${Version}", "ocsigenserver"])),
            ("eliom", line("dpkg-query", &["-Wf", "${Version}", "libeliom-ocaml-dev"])),
            ("ruby", line("ruby", &["--version"])),
            ("puma", line("puma", &["--version"])),
            ("rails", line("ruby", &["-e", "require 'rails/version'; puts Rails.version"])),
            ("node", line("node", &["--version"])),
            ("go", line("go", &["version"])),
            ("perl", line("perl", &["-e", "print $^V"])),
        ]);
        let lock = fs::read_to_string(tools().join("Cargo.lock")).unwrap_or_default();
        facts.extend(CRATES.map(|name| (name, version(&lock, name).unwrap_or("unknown").to_owned())));
        Self(facts)
    }

    /// One of the facts.
    pub(crate) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(its, _)| *its == name).map(|(_, value)| value.as_str())
    }
}

fn path(command: &'static str) -> String {
    executable(Need::debian(command, command)).display().to_string()
}
