//! The `Cargo.toml` of an application, in which a crate of Skep is needed.

/// Adds a crate of Skep to a Cargo.toml in which it is not.
pub(super) fn add_crate(manifest: &str, name: &str) -> Result<String, String> {
    if dependency(manifest, "dependencies", name).is_some() {
        return Ok(manifest.to_owned());
    }
    Ok(add(manifest, "dependencies", &format!("{name} = {{ {} }}", beside(skep_of(manifest)?, name)?)))
}

/// The line of the dependency on `skep`.
fn skep_of(manifest: &str) -> Result<&str, String> {
    let skep = dependency(manifest, "dependencies", "skep");
    skep.ok_or_else(|| "there is no line `skep = ...` in its [dependencies]".to_owned())
}

/// Adds a crate of Skep, and serde, to a Cargo.toml in which they are not; with `for_tests`, also its feature `test`.
pub(super) fn depend(manifest: &str, name: &str, for_tests: bool) -> Result<String, String> {
    let mut text = manifest.to_owned();
    let skep = skep_of(manifest)?;
    if dependency(&text, "dependencies", "serde").is_none() {
        text = add(&text, "dependencies", "serde = { version = \"1\", features = [\"derive\"] }");
    }
    text = add_crate(&text, name)?;
    if for_tests && dependency(&text, "dev-dependencies", name).is_none() {
        let place = beside(skep, name)?;
        text = add(&text, "dev-dependencies", &format!("{name} = {{ {place}, features = [\"test\"] }}"));
    }
    Ok(text)
}

/// The path in the dependency on `skep`, as it is written.
pub(super) fn path_of_skep(manifest: &str) -> Option<&str> {
    value(dependency(manifest, "dependencies", "skep")?, "path")
}

fn value<'t>(line: &'t str, key: &str) -> Option<&'t str> {
    let (_, after) = line.split_once(&format!("{key} = \""))?;
    after.split('"').next()
}

/// Where a crate of Skep is, if `skep` is there: `path = "../skep/crates/skep-jobs"`.
fn beside(skep: &str, name: &str) -> Result<String, String> {
    let version = || {
        let (_, plain) = skep.split_once('=')?;
        value(skep, "version").or_else(|| plain.trim().strip_prefix('"')?.split('"').next())
    };
    let is_elsewhere = ["git =", "workspace =", "registry ="].iter().any(|key| skep.contains(key));
    match (value(skep, "path"), version()) {
        _ if is_elsewhere => {}
        (Some(path), _) if path.ends_with("/skep") => {
            return Ok(format!("path = \"{}{name}\"", path.trim_end_matches("skep")));
        }
        (None, Some(version)) => return Ok(format!("version = \"{version}\"")),
        _ => {}
    }
    Err(format!(
        "`{skep}` does not say where {name} is: write `{}` into [dependencies] yourself, and, if it is for jobs, the same \
         with `features = [\"test\"]` into [dev-dependencies]",
        skep.replacen("skep", name, 1)
    ))
}

/// The lines of a section, with their places.
fn section<'t>(manifest: &'t str, name: &str) -> Option<(usize, &'t str)> {
    let header = format!("[{name}]\n");
    let begin =
        if manifest.starts_with(&header) { 0 } else { manifest.find(&format!("\n{header}"))? + 1 } + header.len();
    let rest = &manifest[begin..];
    let end = rest.find("\n[").map_or(rest.len(), |end| end + 1);
    Some((begin, &rest[..end]))
}

fn dependency<'t>(manifest: &'t str, name: &str, package: &str) -> Option<&'t str> {
    let is_it = |line: &&str| line.split(['=', '.', ' ']).next() == Some(package);
    section(manifest, name)?.1.lines().find(is_it)
}

/// Adds a line behind the last one of a section, which is made if it is not there.
fn add(manifest: &str, name: &str, line: &str) -> String {
    let Some((begin, text)) = section(manifest, name) else {
        return format!("{}\n\n[{name}]\n{line}\n", manifest.trim_end());
    };
    // Comments at its end are about the next section.
    let lines: Vec<&str> = text.lines().collect();
    let used = lines.iter().rposition(|line| !line.trim().is_empty() && !line.starts_with('#')).map_or(0, |at| at + 1);
    let at = begin + lines[..used].iter().map(|line| line.len() + 1).sum::<usize>();
    format!("{}{line}\n{}", &manifest[..at], &manifest[at..])
}

#[cfg(test)]
#[path = "../../tests/unit/generate/manifest.rs"]
mod tests;
