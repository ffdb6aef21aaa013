//! What a machine must have before the checks can run, beside stable Rust.

use std::path::{Path, PathBuf};

use crate::dist::DIST;
use crate::steps::{Runs, STEPS};
use crate::{command, vnu};

/// Something the checks need.
#[derive(Debug)]
pub(crate) struct Need {
    pub(crate) name: &'static str,
    /// Completes "is missing: ".
    pub(crate) why: &'static str,
    /// The steps of `cargo xtask test` that cannot do without.
    pub(crate) steps: &'static [&'static str],
    /// Whether it is there.
    pub(crate) found: fn() -> bool,
    pub(crate) from: From,
}

impl Need {
    /// Whether a step of `test --rest` needs it, and none of `test`.
    pub(crate) fn is_of_rest(&self) -> bool {
        let is_needed = |runs| STEPS.iter().any(|step| step.runs == runs && self.steps.contains(&step.name));
        is_needed(Runs::Rest) && !is_needed(Runs::Always)
    }
}

/// Where it comes from.
#[derive(Debug)]
pub(crate) enum From {
    /// Debian's packages of these names.
    Debian(&'static [&'static str]),
    /// A component of the Rust toolchain.
    Component(&'static str),
    /// A target of the Rust toolchain.
    Target(&'static str),
    /// A program that cargo builds: name and version.
    Crate(&'static str, &'static str),
    /// A package of npm, `name@version`, and the folder of the repository that it goes to.
    Npm(&'static str, &'static str),
    /// A program that Go builds: its package and version, and the folder of the repository that it goes to.
    Go(&'static str, &'static str, &'static str),
    /// A package of Python, name and version, in a folder of its own below `target/tools`.
    Python(&'static str, &'static str),
}

const WASM: &str = "wasm32-wasip2";
/// Of Rust's targets, the one whose C library is linked into the executable.
pub(crate) const MUSL: &str = "x86_64-unknown-linux-musl";
/// The certificates of authorities: Debian's package `ca-certificates` writes them there, and the image of
/// `cargo xtask dist` has them there.
pub(crate) const AUTHORITIES: &str = "/etc/ssl/certs/ca-certificates.crt";
/// Where npm puts it: `crates/skep-isolate/tests/isolate/languages.rs` runs what is there.
const COMPONENTIZE_JS: &str = "target/tools/componentize-js";
/// `examples/blog/tests/browser.rs` loads what is there.
const AXE: &str = "target/tools/axe-core";
/// The commit of its release 2.6.0, whose number Go does not accept: the name of the module would have to end with
/// `/v2`.
const H2SPEC: &str = "v0.0.0-20200804131034-70ac22940108";
/// With the version in its name, which the program does not know.
const H2SPEC_FOLDER: &str = "target/tools/h2spec-2.6.0";
/// `crates/skep/tests/sql/litestream.rs` runs what is there.
const LITESTREAM_FOLDER: &str = "target/tools/litestream-0.5.18";

/// `crates/skep-storage/tests/storage` runs what is there.
const VERSITYGW_FOLDER: &str = "target/tools/versitygw-1.8.0";

/// Every need, in the order in which it is looked for.
pub(crate) const NEEDS: &[Need] = &[
    Need {
        name: "a C compiler",
        why: "SQLite is built from its C source",
        steps: &[
            "clippy",
            "test",
            "suites",
            "docs",
            "tools",
            "laboratory",
            "long",
            "peers",
            "features",
            "feature-sets",
            "release",
            "instructions",
        ],
        found: || command::succeeds("cc", &["--version"]),
        from: From::Debian(&["gcc", "libc6-dev"]),
    },
    Need {
        name: "Chromium",
        why: "the examples are tried in a real browser",
        steps: &["external", "long"],
        found: || command::on_path("chromium"),
        from: From::Debian(&["chromium"]),
    },
    Need {
        name: "Java",
        why: "the Nu Html Checker is written in it",
        steps: &["external", "pages"],
        found: || command::succeeds("java", &["-version"]),
        from: From::Debian(&["default-jre-headless"]),
    },
    Need {
        name: "npm",
        why: "the Nu Html Checker, componentize-js and axe-core are packages of it",
        steps: &["external", "pages"],
        // Where the packages are there already, nothing is asked of npm.
        found: || {
            let axe = is_npm_package_there(AXE, "axe-core", "4.14.1");
            (vnu::is_there(&command::root()) && componentize_js_is_there() && axe)
                || command::succeeds("npm", &["--version"])
        },
        from: From::Debian(&["npm"]),
    },
    Need {
        name: "the Nu Html Checker",
        why: "our checker of HTML and the pages of the examples are held against it",
        steps: &["external", "pages"],
        found: || vnu::is_there(&command::root()),
        from: From::Npm("vnu-jar@26.9.27", "target/tools/vnu"),
    },
    Need {
        name: "Node",
        why: "componentize-js runs in it, and its server is asked for the table of odd requests",
        steps: &["external"],
        found: || command::succeeds("node", &["--version"]),
        from: From::Debian(&["nodejs"]),
    },
    Need {
        name: "nginx and Apache",
        why: "they are asked for the table of odd requests",
        steps: &[],
        found: || command::on_path("nginx") && command::on_path("apache2"),
        from: From::Debian(&["nginx-light", "apache2"]),
    },
    Need {
        name: "nginx",
        why: "the guide to it is followed in a test",
        steps: &["external"],
        found: || command::on_path("nginx"),
        from: From::Debian(&["nginx-light"]),
    },
    Need {
        name: "componentize-js",
        why: "components of JavaScript are served in tests",
        steps: &["external"],
        found: componentize_js_is_there,
        from: From::Npm("@bytecodealliance/componentize-js@0.23.0", COMPONENTIZE_JS),
    },
    Need {
        name: "axe-core",
        why: "it judges in the browser whether everybody can use the status page",
        steps: &["external"],
        found: || is_npm_package_there(AXE, "axe-core", "4.14.1"),
        from: From::Npm("axe-core@4.14.1", AXE),
    },
    Need {
        name: "memcached",
        why: "the cache is tried on real servers",
        steps: &["external"],
        found: || command::on_path("memcached"),
        from: From::Debian(&["memcached"]),
    },
    Need {
        name: "Redis",
        why: "the cache is tried on real servers, also in a cluster",
        steps: &["external"],
        found: || command::on_path("redis-server") && command::on_path("redis-cli"),
        from: From::Debian(&["redis-server", "redis-tools"]),
    },
    Need {
        name: "PostgreSQL",
        why: "the same verbs as for SQLite are tried on real servers",
        steps: &["external", "long"],
        found: || command::on_path("postgres") || Path::new("/usr/lib/postgresql").is_dir(),
        from: From::Debian(&["postgresql"]),
    },
    Need {
        name: "sqlite3",
        why: "`skep db` runs it",
        steps: &["external"],
        found: || command::succeeds("sqlite3", &["--version"]),
        from: From::Debian(&["sqlite3"]),
    },
    Need {
        name: "PgBouncer",
        why: "connections to PostgreSQL go through it, too",
        steps: &["external"],
        found: || Path::new("/usr/sbin/pgbouncer").is_file() || command::on_path("pgbouncer"),
        from: From::Debian(&["pgbouncer"]),
    },
    Need {
        name: "promtool",
        why: "Prometheus's own reading of metrics judges ours",
        steps: &["external"],
        found: || command::on_path("promtool"),
        from: From::Debian(&["prometheus"]),
    },
    Need {
        name: "libfaketime",
        why: "a server's clock is set in a drill",
        steps: &["external"],
        found: || command::succeeds("sh", &["-c", "ls /usr/lib/*/faketime/libfaketime.so.1"]),
        from: From::Debian(&["libfaketime"]),
    },
    Need {
        name: "Python",
        why: "test suites and the validator of OpenAPI documents are written in it; components of it are served in tests",
        steps: &["external", "suites"],
        found: || command::succeeds("python3", &["-c", "import ensurepip, venv"]),
        from: From::Debian(&["python3", "python3-venv"]),
    },
    Need {
        name: "openapi-spec-validator",
        why: "someone else's reading of OpenAPI judges the documents we make",
        steps: &["external"],
        found: || is_python_package_there("openapi-spec-validator", "0.9.0"),
        from: From::Python("openapi-spec-validator", "0.9.0"),
    },
    Need {
        name: "componentize-py",
        why: "components of Python are served in tests",
        steps: &["external"],
        found: || is_python_package_there("componentize-py", "0.25.1"),
        from: From::Python("componentize-py", "0.25.1"),
    },
    Need {
        name: "sslyze",
        why: "it judges what we speak as TLS",
        steps: &["suites"],
        found: || is_python_package_there("sslyze", "6.3.1"),
        from: From::Python("sslyze", "6.3.1"),
    },
    Need {
        name: "Wapiti",
        why: "it attacks the examples as a web application",
        steps: &["suites"],
        found: || is_python_package_there("wapiti3", "3.2.3"),
        from: From::Python("wapiti3", "3.2.3"),
    },
    Need {
        name: "Schemathesis",
        why: "it holds the answers of an interface against its OpenAPI document",
        steps: &["suites"],
        found: || is_python_package_there("schemathesis", "4.32.5"),
        from: From::Python("schemathesis", "4.32.5"),
    },
    Need {
        name: "SlowHTTPTest",
        why: "its slow clients must not keep others from being served",
        steps: &["suites"],
        found: || command::on_path("slowhttptest"),
        from: From::Debian(&["slowhttptest"]),
    },
    Need {
        name: "Go",
        why: "h2spec, versitygw and Litestream are written in it, and fuzz targets compare what we read of a connection with what its server reads",
        steps: &["external", "suites", "tools", "laboratory", "replication"],
        found: || command::succeeds("go", &["version"]),
        from: From::Debian(&["golang-go"]),
    },
    Need {
        name: "versitygw",
        why: "files are stored on a real server that speaks S3",
        steps: &["external"],
        found: || command::root().join(VERSITYGW_FOLDER).join("versitygw").is_file(),
        from: From::Go("github.com/versity/versitygw/cmd/versitygw", "v1.8.0", VERSITYGW_FOLDER),
    },
    Need {
        name: "h2spec",
        why: "it tries each rule of HTTP/2 on us",
        steps: &["suites"],
        found: || h2spec().is_file(),
        from: From::Go("github.com/summerwind/h2spec/cmd/h2spec", H2SPEC, H2SPEC_FOLDER),
    },
    Need {
        name: "Litestream",
        why: "it replicates a database while that is written",
        steps: &["replication"],
        found: || command::root().join(LITESTREAM_FOLDER).join("litestream").is_file(),
        from: From::Go("github.com/benbjohnson/litestream/cmd/litestream", "v0.5.18", LITESTREAM_FOLDER),
    },
    Need {
        name: "valgrind",
        why: "it counts the instructions of a request",
        steps: &["instructions"],
        found: || command::on_path("valgrind"),
        from: From::Debian(&["valgrind"]),
    },
    Need {
        name: "rustfmt",
        why: "the format of the source is checked",
        steps: &["format"],
        found: || command::succeeds("cargo", &["fmt", "--version"]),
        from: From::Component("rustfmt"),
    },
    Need {
        name: "clippy",
        why: "the source is linted",
        steps: &["clippy", "features", "tools", "laboratory"],
        found: || command::succeeds("cargo", &["clippy", "--version"]),
        from: From::Component("clippy"),
    },
    Need {
        name: "the target wasm32-wasip2",
        why: "skep must build as a WebAssembly component",
        steps: &["test", "wasm", "long"],
        found: || target_is_there(WASM),
        from: From::Target(WASM),
    },
    Need {
        name: MUSL,
        why: "its C library is linked into what `cargo xtask dist` hands out",
        steps: &[DIST],
        found: || target_is_there(MUSL),
        from: From::Target(MUSL),
    },
    Need {
        name: "a C compiler for musl",
        why: "SQLite is built from its C source, for `cargo xtask dist`, too",
        steps: &[DIST],
        found: || command::on_path("musl-gcc"),
        from: From::Debian(&["musl-tools"]),
    },
    Need {
        name: "tar, gzip and sha256sum",
        why: "they write what `cargo xtask dist` hands out, and a small image in a test",
        steps: &["test", DIST],
        found: || ["tar", "gzip", "sha256sum"].into_iter().all(command::on_path),
        from: From::Debian(&["tar", "gzip", "coreutils"]),
    },
    Need {
        name: "readelf",
        why: "it says whether what `cargo xtask dist` hands out is static",
        steps: &[DIST],
        found: || command::on_path("readelf"),
        from: From::Debian(&["binutils"]),
    },
    Need {
        name: "certificates of authorities",
        why: "the image of `cargo xtask dist` trusts them",
        steps: &[DIST],
        found: || Path::new(AUTHORITIES).is_file(),
        from: From::Debian(&["ca-certificates"]),
    },
    Need {
        name: "cargo-deny",
        why: "licences and sources of the dependencies are checked",
        steps: &["deny", "advisories"],
        found: || command::succeeds("cargo", &["deny", "--version"]),
        from: From::Crate("cargo-deny", "0.20.2"),
    },
];

/// The folder of a package of Python, from the root of the repository.
pub(crate) fn python_folder(name: &str) -> String {
    format!("target/tools/{name}")
}

fn is_python_package_there(name: &str, version: &str) -> bool {
    let python = command::root().join(python_folder(name)).join("bin/python");
    let version = format!("from importlib.metadata import version; assert version('{name}') == '{version}'");
    python.to_str().is_some_and(|python| command::succeeds(python, &["-c", &version]))
}

fn componentize_js_is_there() -> bool {
    is_npm_package_there(COMPONENTIZE_JS, "@bytecodealliance/componentize-js", "0.23.0")
}

fn is_npm_package_there(folder: &str, name: &str, version: &str) -> bool {
    let manifest = command::root().join(folder).join("node_modules").join(name).join("package.json");
    std::fs::read_to_string(manifest).is_ok_and(|text| text.contains(&format!("\"version\": \"{version}\"")))
}

/// Where the program is.
pub(crate) fn h2spec() -> PathBuf {
    command::root().join(H2SPEC_FOLDER).join("h2spec")
}

/// rustc knows where a target's library would be, also when it is not; so this does not need rustup.
fn target_is_there(target: &str) -> bool {
    let folder = command::output("rustc", &["--print", "target-libdir", "--target", target]);
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps;

    #[test]
    fn the_checker_that_is_installed_is_the_one_that_is_run() {
        let from = NEEDS.iter().find_map(|need| match need.from {
            From::Npm(package, folder) if need.steps.contains(&"pages") => {
                Some((package.to_owned(), command::root().join(folder)))
            }
            _ => None,
        });
        assert_eq!(from, Some((format!("vnu-jar@{}", vnu::VERSION), vnu::folder(&command::root()))));
    }

    #[test]
    fn a_need_names_steps_that_exist() {
        for step in NEEDS.iter().flat_map(|need| need.steps) {
            assert!(*step == DIST || steps::STEPS.iter().any(|known| known.name == *step), "{step}");
        }
    }
}
