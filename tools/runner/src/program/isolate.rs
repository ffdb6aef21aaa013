//! Components: `skep serve`, and `wasmtime serve` beside it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use super::{Mpm, Served, StartOptions, UNCACHED, peer, skep};
use crate::Result;
use crate::build::Need;
use crate::need::{Guest, Made};
use crate::site::{self, Site};

pub(super) fn needs(guest: Guest) -> Vec<Need> {
    let mut needs = vec![Need::Cli, Need::Made(Made::Component(guest))];
    needs.extend((guest == Guest::App).then_some(Need::SQLITE));
    needs
}

/// Where the application's template lies, as its component sees it.
const TEMPLATE: &str = "/template";

/// `skep serve`, of a copy of the component in the server's folder: one that a swap may replace.
pub(super) fn serve(served: Served, command: &mut Command, place: &StartOptions, site: &Site) -> Result<()> {
    let Served { guest, module_cache, entries, copies, baseline } = served;
    fs::create_dir_all(&place.dir)?;
    let file = place.dir.join(guest.file());
    let built = guest.result();
    if built.is_file() {
        fs::copy(&built, &file)?;
    }
    command.arg("serve");
    if copies == 1 {
        command.arg(&file);
    } else {
        command.arg("--config").arg(several(&file, &place.dir, copies)?);
    }
    skep(command, place, Mpm::Alone, false);
    command.args(UNCACHED).args(["--module-cache", module_cache, "--compile-cache"]).arg(site.folder("compiled"));
    command.args(["--baseline", if baseline { "true" } else { "false" }]);
    let data = place.dir.join(file.file_stem().unwrap_or_default());
    match guest {
        Guest::App => {
            copy_database(site, &data)?;
            command.arg("--dir").arg(format!("{}::{TEMPLATE}", peer("skep-component").display()));
            command.args(["--env", &format!("APP_TEMPLATE={TEMPLATE}/page.html")]);
            command.args(["--env", &format!("APP_ENTRIES={entries}")]);
        }
        Guest::Blog => site::write_articles(&data.join("files"))?,
        Guest::Hello | Guest::Wstd => {}
    }
    Ok(())
}

/// The application without a component.
pub(super) fn native(command: &mut Command, place: &StartOptions, site: &Site) -> Result<()> {
    copy_database(site, &place.dir)?;
    skep(command, place, Mpm::Alone, false);
    command.args(UNCACHED).env("APP_TEMPLATE", peer("skep-component/page.html"));
    Ok(())
}

/// `wasmtime serve`; tuned, with what `skep serve` sets of the engine (crates/skep-isolate/src/engine.rs).
pub(super) fn wasmtime(guest: Guest, tuned: bool, command: &mut Command, place: &StartOptions) {
    command.args(["serve", "-S", "cli", "--addr", &format!("127.0.0.1:{}", place.port)]);
    if tuned {
        command.args(["-O", "pooling-allocator=y,pooling-pagemap-scan=auto"]);
        command.args(["-O", "pooling-memory-keep-resident=2097152,pooling-table-keep-resident=65536"]);
    }
    command.arg(guest.result());
}

fn copy_database(site: &Site, folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let own = folder.join("database.sqlite");
    if site.database().is_file() && !own.exists() {
        fs::copy(site.database(), own)?;
    }
    Ok(())
}

/// A file of settings with this number of applications. No two are of the same bytes: what they share would be counted
/// once.
fn several(file: &Path, folder: &Path, copies: u32) -> Result<std::path::PathBuf> {
    let component = fs::read(file).unwrap_or_default();
    let mut settings = String::new();
    for number in 0..copies {
        fs::write(folder.join(format!("app{number}.wasm")), marked(&component, number))?;
        let prefix = if number == 0 { String::new() } else { format!("app{number}") };
        let _ = writeln!(settings, "[component.app{number}]\nfile = \"app{number}.wasm\"\nprefix = \"/{prefix}\"\n");
    }
    let path = folder.join("skep.toml");
    fs::write(&path, settings)?;
    Ok(path)
}

/// The component with a section of its own at the end, which says nothing to anybody (Component Model, custom
/// sections).
fn marked(component: &[u8], number: u32) -> Vec<u8> {
    let mut marked = component.to_vec();
    marked.extend([0, 7, 2, b'n', b'o']);
    marked.extend(number.to_le_bytes());
    marked
}

impl Guest {
    /// Its file's name.
    pub(crate) fn file(self) -> String {
        self.result().file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// A piece of its answer to `/` that stands in the component as it is.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Hello | Self::Wstd | Self::App => "Hello, world!",
            Self::Blog => "The Skep blog",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_copies_differ_and_are_components_still() {
        let [one, other] = [1, 2].map(|number| marked(b"\0asm\x0d\0\x01\0", number));
        assert_ne!(one, other);
        // A custom section: its number, the length of what follows, a name with its length, and anything.
        assert_eq!((one[8], usize::from(one[9]), usize::from(one[10])), (0, one.len() - 10, 2));
    }
}
