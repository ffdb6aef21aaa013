//! The `Cargo.toml` of a new application.

use std::fs;
use std::path::PathBuf;

use super::Wanted;
use crate::generate::PASSWORDS;

impl Wanted {
    /// The manifest, and the lock file of the clone: it has the versions that Skep was tested with, and cargo drops
    /// what is not needed.
    pub(super) fn manifest(&self) -> Result<(String, String), String> {
        let is_skep = |folder: &PathBuf| folder.join("crates/skep/Cargo.toml").is_file();
        let unknown = || format!("{} is not a clone of Skep: name the folder of one with --path", self.skep.display());
        let skep = fs::canonicalize(&self.skep).ok().filter(is_skep).ok_or_else(unknown)?;
        let of = |name: &str| match skep.join("crates").join(name).to_str() {
            Some(path) => Ok(format!("path = {}", toml_text(path))),
            None => Err(format!("{}: a path that is not UTF-8 cannot stand in Cargo.toml", skep.display())),
        };
        let (framework, server, people) = (of("skep")?, of("skep-server")?, of("skep-people")?);
        let people = if self.sign_in { format!("skep-people = {{ {people} }}\n") } else { String::new() };
        let crates = if self.api { API_CRATES } else { "" };
        let openapi = if self.api { ", features = [\"openapi\"]" } else { "" };
        let test = if self.api { "test" } else { "browser" };
        let for_tests = if self.api { "serde_json = \"1\"\n" } else { "" };
        let (driver, metadata) = if self.postgres {
            (", features = [\"postgres\"]", "[package.metadata.skep]\ndatabase = \"postgres\"\n\n")
        } else {
            ("", "")
        };
        let manifest = format!(
            r#"[package]
name = "{}"
version = "0.1.0"
edition = "2024"
publish = false

{metadata}# Not a part of one that it may stand in.
[workspace]

# Skep is not published yet: this is a clone of it.
[dependencies]
{crates}skep = {{ {framework}{openapi} }}
{people}skep-server = {{ {server}{driver} }}

[dev-dependencies]
{for_tests}skep = {{ {framework}, features = ["{test}"] }}

# Less to write for the compiler, and a panic still says its line.
[profile.dev]
debug = "line-tables-only"
[profile.dev.package."*"]
debug = false
{PASSWORDS}"#,
            self.name,
            PASSWORDS = if self.sign_in { PASSWORDS } else { "" },
        );
        Ok((manifest, fs::read_to_string(skep.join("Cargo.lock")).unwrap_or_default()))
    }
}

/// What types have that stand in the document of the interface.
const API_CRATES: &str = "\
schemars = { version = \"1\", default-features = false, features = [\"derive\", \"std\"] }
serde = { version = \"1\", features = [\"derive\"] }
";

/// A text in a TOML file.
pub(super) fn toml_text(text: &str) -> String {
    let escaped = text.chars().map(|one| match one {
        '"' | '\\' => format!("\\{one}"),
        _ if one.is_control() => format!("\\u{:04X}", u32::from(one)),
        _ => one.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}
