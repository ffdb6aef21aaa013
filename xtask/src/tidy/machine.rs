//! What holds on one machine only: where somebody's files are, and which host hands out packages.
//!
//! The names are put together here, so that this file does not hold them.

use super::Complaint;
use super::source::Source;

const FOLDERS: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/fa", "rm/")];
const HOME: &str = concat!("/ho", "me/");

const HOSTS: [&str; 10] = [
    concat!("crates", ".io"),
    concat!("static.rust-", "lang.org"),
    concat!("py", "pi.org"),
    concat!("files.python", "hosted.org"),
    concat!("registry.npm", "js.org"),
    concat!("npm", "js.com"),
    concat!("proxy.", "golang.org"),
    concat!("repo1.", "maven.org"),
    concat!("repo.maven.", "apache.org"),
    concat!("deb.", "debian.org"),
];

/// No path of somebody's machine, in any text.
pub(super) fn paths(source: &Source) -> Vec<Complaint> {
    let complain = |(number, line): (usize, &str)| {
        let path = FOLDERS.iter().copied().find(|folder| begins_a_path(line, folder, |_| true));
        let path = path.or_else(|| begins_a_path(line, HOME, names_somebody).then_some(HOME))?;
        Some(
            source
                .complaint(number, format!("{path} is a folder of one machine; paths start at the repository's root")),
        )
    };
    source.lines().filter_map(complain).collect()
}

/// Whether `prefix` stands in the line where a path begins (not in the middle of an address), and `rest` likes what
/// follows.
fn begins_a_path(line: &str, prefix: &str, rest: fn(&str) -> bool) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || "._-~}/".contains(c);
    line.match_indices(prefix).any(|(at, _)| !line[..at].ends_with(is_part) && rest(&line[at + prefix.len()..]))
}

/// `name/...`
fn names_somebody(rest: &str) -> bool {
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').unwrap_or(rest.len());
    end > 0 && rest[end..].starts_with('/')
}

/// No host of a package registry, in any text: which one is used, the machine's own configuration says.
pub(super) fn registries(source: &Source) -> Vec<Complaint> {
    let complain = |(number, line): (usize, &str)| {
        let host = HOSTS.iter().find(|host| names_host(line, host))?;
        Some(source.complaint(number, format!("{host} is a package registry's host; say `the registry`")))
    };
    source.lines().filter_map(complain).collect()
}

/// Not followed by a letter or a hyphen: Cargo.lock names an index that only begins like a host.
fn names_host(line: &str, host: &str) -> bool {
    line.match_indices(host)
        .any(|(at, _)| !line[at + host.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    #[test]
    fn a_path_of_a_machine_stands_nowhere() {
        for folder in FOLDERS {
            assert_eq!(lines(paths, "docs/a.md", &format!("Look at\n`{folder}notes.txt`.")), [2]);
            assert_eq!(lines(paths, "docs/a.md", &format!("https://example.org{folder}notes")), [0; 0]);
        }
        assert_eq!(lines(paths, "a.toml", &format!("data = \"{HOME}anna/data\"")), [1]);
        assert_eq!(lines(paths, "a.rs", &format!("get(\"{HOME}\")")), [0; 0]);
    }

    #[test]
    fn the_host_of_a_registry_stands_nowhere() {
        for host in HOSTS {
            assert_eq!(lines(registries, "docs/a.md", &format!("from https://{host}/a")), [1]);
        }
        let index = format!("source = \"registry+https://example.org/{}-index\"", HOSTS[0]);
        assert_eq!(lines(registries, "Cargo.lock", &index), [0; 0]);
    }
}
