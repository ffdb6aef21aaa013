//! What a machine must have before the checks can run, beside stable Rust.

use std::path::Path;

use crate::command;

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
}

const WASM: &str = "wasm32-wasip2";

/// Every need, in the order in which it is looked for.
pub(crate) const NEEDS: &[Need] = &[
    Need {
        name: "a C compiler",
        why: "SQLite is built from its C source",
        steps: &["clippy", "test", "docs"],
        found: || command::succeeds("cc", &["--version"]),
        from: From::Debian(&["gcc", "libc6-dev"]),
    },
    Need {
        name: "Chromium",
        why: "the blog is tried in a real browser, driven by chromedriver",
        steps: &["test"],
        found: || command::on_path("chromium") && command::on_path("chromedriver"),
        from: From::Debian(&["chromium", "chromium-driver"]),
    },
    Need {
        name: "memcached",
        why: "the cache is tried on real servers",
        steps: &["test"],
        found: || command::on_path("memcached"),
        from: From::Debian(&["memcached"]),
    },
    Need {
        name: "Redis",
        why: "the cache is tried on real servers, also in a cluster",
        steps: &["test"],
        found: || command::on_path("redis-server") && command::on_path("redis-cli"),
        from: From::Debian(&["redis-server", "redis-tools"]),
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
        steps: &["clippy"],
        found: || command::succeeds("cargo", &["clippy", "--version"]),
        from: From::Component("clippy"),
    },
    Need {
        name: "the target wasm32-wasip2",
        why: "skep must build as a WebAssembly component",
        steps: &["wasm"],
        found: wasm_is_there,
        from: From::Target(WASM),
    },
    Need {
        name: "cargo-deny",
        why: "licences and sources of the dependencies are checked",
        steps: &["deny"],
        found: || command::succeeds("cargo", &["deny", "--version"]),
        from: From::Crate("cargo-deny", "0.20.2"),
    },
];

/// rustc knows where a target's library would be, also when it is not; so this does not need rustup.
fn wasm_is_there() -> bool {
    let folder = command::output("rustc", &["--print", "target-libdir", "--target", WASM]);
    folder.is_ok_and(|folder| Path::new(folder.trim()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps;

    #[test]
    fn a_need_names_steps_that_exist() {
        for step in NEEDS.iter().flat_map(|need| need.steps) {
            assert!(steps::named(step).is_ok(), "{step}");
        }
    }
}
