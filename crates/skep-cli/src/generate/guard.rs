//! The guard that an application asks of every service, as a field of one.

use super::package::Package;
use super::source;

/// `T` of `App::require::<T>()`, with the lines of `src/lib.rs` that import it.
pub(super) struct Guard {
    kind: String,
    imports: Vec<String>,
}

impl Guard {
    /// None if services need none.
    pub(super) fn of(package: &Package) -> Result<Option<Self>, String> {
        let library = package.read("src/lib.rs")?;
        let guard = source::required_guard(&library);
        Ok(guard.map(|kind| Self { imports: source::imports(&library, &kind), kind }))
    }

    /// The field of a struct.
    pub(super) fn field(&self) -> String {
        let name = if self.kind.starts_with("Signed<") { "_account" } else { "_guard" };
        format!("    #[guard]\n    {name}: {},\n", self.kind)
    }
}

/// What stands behind the prelude: the types of the guard, and of the application's own what is used.
pub(super) fn imports<'t>(guard: Option<&'t Guard>, own: impl IntoIterator<Item = &'t str>) -> String {
    let lines = guard.into_iter().flat_map(|guard| guard.imports.iter().map(String::as_str)).chain(own);
    let (mut ours, others): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("use crate::"));
    ours.sort_unstable();
    let line = |line: &&str| format!("\n{line}");
    let blank = if ours.is_empty() { "" } else { "\n" };
    format!("{}{blank}{}\n", others.iter().map(line).collect::<String>(), ours.iter().map(line).collect::<String>())
}
