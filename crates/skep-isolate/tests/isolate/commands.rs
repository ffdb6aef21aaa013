//! `skep compile`, and code that is kept.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::Test;
use super::guests;
use super::server::{Folder, Server, refused, run};

pub(crate) const TESTS: &[Test] = &[
    ("compiled_code_runs_without_the_component", compiled),
    ("what_cannot_be_compiled_is_told_why", not_compiled),
    ("compiled_code_that_others_may_write_is_not_run", not_trusted),
    ("code_is_kept_and_found_again", kept),
];

fn compiled() {
    let folder = Folder::new();
    let out = folder.0.join("app.cwasm");
    let out = out.to_str().unwrap();
    let guest = guests::with_init();
    let (well, text) = run("compile", &[guest.to_str().unwrap(), "-o", out]);
    assert!(well && text.contains("start-up code in its image"), "{text}");
    let server = Server::start(&[out]);
    assert_eq!(server.text("/table?3"), "ready value 3");
    assert_eq!(server.text("/counts"), "static 1 local 1");
    assert_eq!(server.text("/counts"), "static 1 local 1");
    let (well, text) = run("compile", &[out]);
    assert!(!well && text.contains("is compiled already"), "{text}");
    // Its file is not ours: written in place while it runs, it changes nothing.
    fs::File::options().write(true).open(out).unwrap().set_len(0).unwrap();
    assert_eq!(server.text("/counts"), "static 1 local 1");
    assert_eq!(server.text("/table?4"), "ready value 4");
    drop(server);
    assert!(run("compile", &[guest.to_str().unwrap(), "-o", out]).0);
    let text = refused(&[out, "--fuel", "1000"]);
    assert!(text.contains("was compiled for another engine"), "{text}");
}

fn not_compiled() {
    let folder = Folder::new();
    let guest = guests::plain();
    let guest = guest.to_str().unwrap();
    let module = folder.write("module.wasm", wat::parse_str("(module)").unwrap());
    let text = folder.write("app.wat", "(component)");
    let missing = folder.0.join("missing/app.cwasm");
    let cases: &[(&[&str], &str)] = &[
        (&["--memory", "1MiB"], "name the component first: skep compile app.wasm"),
        (&["no-such-file.wasm"], "no-such-file.wasm: cannot be read: No such file"),
        (&[module.to_str().unwrap()], "module.wasm: is a core module, and not a component"),
        (&[text.to_str().unwrap()], "app.wat: is WebAssembly as text; `wasm-tools parse"),
        (&[guest, "--time", "5s"], "--time is said to `skep serve`: compiled code does not depend on it"),
        (&[guest, "--status", "/x"], "--status is said to `skep serve`"),
        (&[guest, "--memory", "lots"], "--memory lots: expected a size"),
        (&[guest, "-o"], "-o needs a path"),
        (&[guest, "--optimise"], "\"--optimise\" is not expected here; skep compile --help"),
        (&[guest, "-o", missing.to_str().unwrap()], "missing/app.cwasm cannot be written: No such file"),
    ];
    for (arguments, why) in cases {
        let (well, text) = run("compile", arguments);
        assert!(!well && text.contains(why), "{arguments:?}: {text}");
    }
    let start = guests::with_init();
    let (well, text) = run("compile", &[start.to_str().unwrap(), "--env", "INIT=time", "-o", "never.cwasm"]);
    assert!(!well && text.contains("start-up code asked for the time"), "{text}");
}

fn not_trusted() {
    let folder = Folder::new();
    let out = folder.0.join("app.cwasm");
    let guest = guests::plain();
    assert!(run("compile", &[guest.to_str().unwrap(), "-o", out.to_str().unwrap()]).0);
    fs::set_permissions(&out, fs::Permissions::from_mode(0o666)).unwrap();
    let text = refused(&[out.to_str().unwrap()]);
    assert!(
        text.contains("is machine code, which is not run unless it is sure whose it is: others may write it"),
        "{text}"
    );
}

fn kept() {
    let folder = Folder::new();
    let cache = folder.0.join("cache");
    let guest = guests::plain();
    let arguments = [guest.to_str().unwrap(), "--compile-cache", cache.to_str().unwrap()];
    drop(Server::start(&arguments));
    let file = fs::read_dir(&cache).unwrap().next().unwrap().unwrap().path();
    let made = fs::metadata(&file).unwrap();
    let server = Server::start(&arguments);
    assert_eq!(server.text("/"), "one");
    // It is the file that it was, and is known to be of use.
    assert_eq!(fs::metadata(&file).unwrap().ino(), made.ino(), "it was not compiled again");
    assert!(fs::metadata(&file).unwrap().modified().unwrap() > made.modified().unwrap());
    drop(server);
    // Somebody else could have written it: it is compiled anew, in its place.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let server = Server::start(&arguments);
    server.wait_for("compiled code is not used: others may write it");
    assert_eq!(server.text("/"), "one");
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    drop(server);
    // What is broken is compiled anew, too.
    fs::write(&file, b"\x7fELF nonsense").unwrap();
    assert_eq!(Server::start(&arguments).text("/"), "one");
}
