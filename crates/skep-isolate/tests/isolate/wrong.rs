//! What cannot be served, and what is said of it.

use super::Test;
use super::guests;
use super::server::{Folder, Server, refused, run};

pub(crate) const TESTS: &[Test] = &[
    ("what_is_no_component_is_named", no_component),
    ("the_error_says_what_a_component_lacks", lacks_something),
    ("the_error_says_why_no_image_can_hold_the_start_up_code", no_image),
    ("what_cannot_start_says_so", cannot_start),
];

fn wat(folder: &Folder, text: &str) -> String {
    folder.write("app.wasm", wat::parse_str(text).unwrap()).to_str().unwrap().to_owned()
}

fn no_component() {
    let folder = Folder::new();
    let missing = folder.0.join("missing.wasm");
    let text = refused(&[missing.to_str().unwrap()]);
    assert!(text.contains("missing.wasm: cannot be read: No such file"), "{text}");
    let module = wat(&folder, "(module)");
    let text = refused(&[&module]);
    assert!(
        text.contains("app.wasm: is a core module, and not a component; a Rust program becomes one with"),
        "{text}"
    );
    let guest = std::fs::read(guests::plain()).unwrap();
    let half = folder.write("half.wasm", &guest[..guest.len() / 2]);
    let text = refused(&[half.to_str().unwrap()]);
    assert!(text.contains("half.wasm: does not compile: ") && text.contains("the file is not complete"), "{text}");
    assert_eq!(text.matches("half.wasm").count(), 1, "{text}");
    assert!(refused(&[]).contains("there is nothing to serve: name a component"));
    let late = refused(&["--memory", "1MiB", "late.wasm"]);
    assert!(late.contains("the component comes first: `skep serve late.wasm`, and then the flags"), "{late}");
    // A supervisor says no more than that: nothing ran that it would finish.
    let words = folder.write("words.wasm", "no component");
    let (started, text) = run("serve", &[words.to_str().unwrap(), "--listen", "127.0.0.1:0"]);
    assert!(!started && text.lines().count() == 1 && text.contains("words.wasm: is not a component"), "{text}");
}

fn lacks_something() {
    let folder = Folder::new();
    let text = refused(&[&wat(&folder, "(component)")]);
    assert!(text.contains("`wasi:http/incoming-handler@0.2`, which handle requests; it exports nothing"), "{text}");
    let command = "(component (instance $run) (export \"wasi:cli/run@0.2.0\" (instance $run)))";
    let text = refused(&[&wat(&folder, command)]);
    assert!(text.contains("is a program for the command line (wasi:cli/run), and no server"), "{text}");
    let newer = "(component (instance $handler) (export \"wasi:http/handler@0.4.0\" (instance $handler)))";
    let text = refused(&[&wat(&folder, newer)]);
    assert!(text.contains("is made for WASI 0.4.0; this server has 0.2"), "{text}");
    let draft = newer.replace("0.4.0", "0.3.0-rc-2026-03-15");
    let text = refused(&[&wat(&folder, &draft)]);
    assert!(
        text.contains("is made for WASI 0.3.0-rc-2026-03-15, which was a draft: build it with tools for"),
        "{text}"
    );
    let text = refused(&[&wat(&folder, &newer.replace("0.4.0", "0.3.0"))]);
    let expected =
        if cfg!(feature = "wasi03") { "does not have export `handle`" } else { "build it with `--features wasi03`" };
    assert!(text.contains(expected), "{text}");
    let wants = "(component (import \"wasi:keyvalue/store@0.2.0-draft\" (instance)) (import \"wasi:clocks/monotonic-clock@0.4.0\" \
                 (instance)) (instance $handler) (export \"wasi:http/incoming-handler@0.2.0\" (instance $handler)))";
    let text = refused(&[&wat(&folder, wants)]);
    assert!(text.contains("imports what this server does not provide: wasi:keyvalue/store@0.2.0-draft, "), "{text}");
    assert!(text.contains("wasi:clocks/monotonic-clock@0.4.0 (this server has WASI 0.2"), "{text}");
    assert!(text.contains("; compose it with a component that exports this (`wac plug`)"), "{text}");
    let guest = guests::plain();
    let text = refused(&[guest.to_str().unwrap(), "--memory", "64KiB"]);
    assert!(text.contains("KiB of memory, and may have 64 (--memory)"), "{text}");
}

fn no_image() {
    let guest = guests::with_init();
    let guest = guest.to_str().unwrap();
    for (what, why) in [
        ("time", "start-up code asked for the time"),
        ("random", "start-up code asked for secure random numbers"),
        // Rust's standard library keeps the stream that it prints to.
        ("print", "start-up code left something of the host open"),
        ("keep", "start-up code left something of the host open"),
        ("fail", "the application does not start: it does not like this machine"),
        ("panic", "start-up code failed"),
    ] {
        let env = format!("INIT={what}");
        let text = refused(&[guest, "--env", &env]);
        assert!(text.contains(why), "{what}: {text}");
    }
    // Only if told.
    let server = Server::start(&[guest, "--env", "INIT=time", "--module-cache", "snapshot,cold"]);
    server.wait_for("start-up code runs for each request");
    assert_eq!(server.text("/table?1"), "ready value 1");
}

fn cannot_start() {
    let guest = guests::plain();
    let guest = guest.to_str().unwrap();
    let text = refused(&[guest, "--probe", "/panic"]);
    assert!(text.contains("the probe /panic was answered with 500"), "{text}");
    let text = refused(&[guest, "--compile-cache", "/proc/nothing"]);
    assert!(text.contains("the cache of compiled code /proc/nothing cannot be made"), "{text}");
    let text = refused(&[guest, "--memmory", "1MiB"]);
    assert!(text.contains("there is no flag --memmory"), "{text}");
    let (well, text) = run("serve", &[guest, "--check"]);
    assert!(well && text.contains("no problems found\ncomponent "), "{text}");
    let (well, text) = run("serve", &[guest, "--check", "--probe", "/panic"]);
    assert!(!well && text.contains("the probe /panic"), "{text}");
    for (setting, why) in [
        ("user=nobodyxx", "there is no such user"),
        ("probe=nope", "expected a path"),
        ("component.memory=lots", "--set: component.memory = \"lots\": expected a size from 64KiB to 4GiB"),
        ("component.memmory=1MiB", "did you mean component.memory?"),
    ] {
        let (well, text) = run("serve", &[guest, "--check", "--set", setting]);
        assert!(!well && text.contains(why), "{setting}: {text}");
    }
    let folder = Folder::new();
    let file = folder.write("skep.toml", "workers = \n");
    let text = refused(&[guest, "--config", file.to_str().unwrap()]);
    assert!(text.contains("skep.toml:1: workers has no value"), "a broken file is an error: {text}");
    let (well, text) = run("serve", &[guest, "--print-config", "--set", "component.memory=1MiB", "--time", "5s"]);
    assert!(well && text.contains("component.memory = 1MiB") && text.contains("component.time = 5s"), "{text}");
    let (well, text) = run("serve", &["--help"]);
    assert!(well && text.contains("--module-cache MODE") && text.contains("--listen ADDR"), "{text}");
}
