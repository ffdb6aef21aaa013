//! Other languages, whose components come with their engine in them, initialised: the old traps of module caches in
//! JavaScript and in Python.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::Test;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("in_javascript_no_request_sees_state_of_another_unless_cached", javascript),
    ("in_python_no_request_sees_state_of_another_unless_cached", python),
];

fn javascript() {
    sees_no_state(
        "JavaScript",
        &built("js.wasm", "app.js", |wit, source, out| {
            let tool =
                tools().join("componentize-js/node_modules/@bytecodealliance/componentize-js/src/componentize.js");
            let script = sources().join("build.mjs");
            let mut node = Command::new("node");
            node.args([&script, &tool, source, wit, out]);
            node
        }),
    );
}

fn python() {
    sees_no_state(
        "Python",
        &built("py.wasm", "app.py", |wit, source, out| {
            let mut python = Command::new(tools().join("componentize-py/bin/componentize-py"));
            python
                .args(["--quiet", "--world", "app", "--wit-path"])
                .arg(wit)
                .args(["componentize", "app", "--output"])
                .arg(out);
            python.args(["--python-path"]).arg(source.parent().unwrap());
            python
        }),
    );
}

fn sees_no_state(language: &str, component: &Path) {
    let component = component.to_str().unwrap();
    for how in ["snapshot", "cold", "cached"] {
        let kept = how == "cached";
        let server = Server::start(&[component, "--module-cache", how, "--set", "workers=1", "--status", "/-/isolate"]);
        let ask = |path: &str| {
            let text = server.text(path);
            server.wait_until_idle(u32::from(kept));
            text
        };
        server.wait_until_idle(u32::from(kept));
        let second = if kept { "static 2 local 1" } else { "static 1 local 1" };
        assert_eq!(
            (ask("/counts"), ask("/counts")),
            ("static 1 local 1".to_owned(), second.to_owned()),
            "{language}, {how}"
        );
        assert_eq!(ask("/login?alice"), "welcome");
        assert_eq!(ask("/whoami"), if kept { "alice" } else { "nobody" }, "{language}, {how}");
        assert_eq!(server.text("/-/isolate").contains("WARNING: instances keep state between requests"), kept);
        assert_ne!(ask("/random"), ask("/random"), "{language}, {how}");
        let is_reset = !server.text("/-/isolate").contains(" 0 reset and reused");
        assert_eq!(is_reset, how == "snapshot", "{language}, {how}: {}", server.text("/-/isolate"));
        assert_eq!(server.get("/throw").status, 500);
        server.wait_until_idle(0);
        assert_eq!(ask("/whoami"), "nobody", "{language}, {how}: what failed is thrown away");
    }
}

/// The tools that `cargo xtask setup` installs.
fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools")
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages")
}

/// The component of a source, built again if the source changed.
fn built(name: &str, source: &str, tool: impl FnOnce(&Path, &Path, &Path) -> Command) -> PathBuf {
    let folder =
        std::env::current_exe().unwrap().ancestors().nth(3).unwrap().join("guests").join(name.replace('.', "-"));
    fs::create_dir_all(&folder).unwrap();
    let (out, copy) = (folder.join(name), folder.join(source));
    let (version, interfaces) = wasi();
    let text = fs::read_to_string(sources().join(source)).unwrap().replace("@0.2.12", &format!("@{version}"));
    if out.exists() && fs::read_to_string(&copy).is_ok_and(|before| before == text) {
        return out;
    }
    let wit = folder.join("wit");
    let _ = fs::remove_dir_all(&wit);
    fs::create_dir_all(wit.join("deps")).unwrap();
    for file in fs::read_dir(interfaces).unwrap().map(Result::unwrap) {
        fs::copy(file.path(), wit.join("deps").join(file.file_name())).unwrap();
    }
    let world = format!("package local:app;\n\nworld app {{\n    export wasi:http/incoming-handler@{version};\n}}\n");
    fs::write(wit.join("app.wit"), world).unwrap();
    let _ = fs::remove_file(&out);
    fs::write(&copy, text).unwrap();
    let made = tool(&wit, &copy, &out).current_dir(&folder).output();
    let made = made.unwrap_or_else(|error| panic!("{source}: `cargo xtask setup` installs what makes it: {error}"));
    let told = String::from_utf8_lossy(&made.stderr);
    assert!(made.status.success(), "{source}: `cargo xtask setup` installs what makes it; {told}");
    out
}

/// The interfaces of WASI 0.2 as the crate `wasip2` brings them, which our own guests are built with, and their
/// version.
fn wasi() -> (String, PathBuf) {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["metadata", "--format-version", "1", "--locked", "--manifest-path"]);
    let output = cargo.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let manifests = text.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next()).map(Path::new);
    let found = manifests.filter_map(|manifest| {
        let folder = manifest.parent()?;
        let (name, version) = folder.file_name()?.to_str()?.split_once("+wasi-")?;
        name.starts_with("wasip2-").then(|| (version.to_owned(), folder.join("wit/deps")))
    });
    found.last().expect("skep depends on wasip2")
}
