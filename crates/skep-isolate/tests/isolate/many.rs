//! Several applications in one server.

use std::fs;

use super::Test;
use super::guests;
use super::server::{Folder, Server};

pub(crate) const TESTS: &[Test] = &[
    ("host_and_prefix_select_the_application", by_host_and_prefix),
    ("files_are_served_without_the_component", static_files),
    ("one_that_does_not_start_leaves_the_others_alone", one_is_broken),
];

fn serve(settings: &str, more: &[&str]) -> (Server, Folder) {
    let folder = Folder::new();
    let (one, two) = (guests::plain(), guests::second());
    let settings = settings.replace("ONE", one.to_str().unwrap()).replace("TWO", two.to_str().unwrap());
    let file = folder.write("skep.toml", settings);
    fs::create_dir(folder.0.join("public")).unwrap();
    folder.write("public/bee.txt", "buzz");
    let server = Server::start(&[&["--config", file.to_str().unwrap()], more].concat());
    (server, folder)
}

fn by_host_and_prefix() {
    let (server, _folder) = serve(
        "workers = 1\n[component.one]\nfile = \"ONE\"\nenv = { NAME = \"one\" }\n\
         [component.two]\nfile = \"TWO\"\nhost = \"two.org\"\ntime = \"500ms\"\nenv = [\"NAME=two\"]\n\
         [component.below]\nfile = \"TWO\"\nprefix = \"/below\"\n",
        &["--status", "/-/isolate"],
    );
    let ask = |host: &str, path: &str| server.ask("GET", path, host, "").unwrap();
    assert_eq!((ask("x", "/").text.as_str(), ask("two.org", "/").text.as_str()), ("one", "two"));
    assert_eq!(ask("two.org:80", "/env?NAME").text, "Ok(\"two\")");
    assert_eq!(ask("x", "/env?NAME").text, "Ok(\"one\")");
    // It is given the whole path, of which this program knows nothing.
    assert_eq!(ask("x", "/below/").status, 404);
    // Its own time.
    assert_eq!((ask("two.org", "/sleep?1000").status, ask("x", "/sleep?1000").status), (504, 200));
    let status = server.text("/-/isolate");
    for line in ["two\n", " at two.org, /", "below\n", " at every host, /below/"] {
        assert!(status.contains(line), "{line} in {status}");
    }
}

fn static_files() {
    let folder = Folder::new();
    folder.write("bee.txt", "buzz");
    let files = format!("/static={}", folder.0.display());
    let guest = guests::plain();
    // Other code would have instances of its own.
    let server = [guest.to_str().unwrap(), "--files", &files, "--status", "/-/isolate"];
    let server = Server::start(&server);
    assert_eq!(server.text("/static/bee.txt"), "buzz");
    assert_eq!(server.get("/static/wasp.txt").status, 404);
    // The probe made one.
    assert!(server.text("/-/isolate").contains(" 1 made, 0 reset and reused"), "{}", server.text("/-/isolate"));
    assert_eq!(server.text("/"), "one");
    assert!(server.text("/-/isolate").contains(" 1 made, 1 reset and reused"));
}

fn one_is_broken() {
    let (server, folder) = serve(
        "[component.one]\nfile = \"ONE\"\n[component.broken]\nfile = \"broken.wasm\"\nprefix = \"/broken\"\nprobe = \"/\"\n",
        &["--status", "/-/isolate"],
    );
    assert_eq!(server.text("/"), "one");
    let answer = server.get("/broken/");
    assert_eq!(answer.status, 503);
    assert!(!answer.text.contains("broken.wasm"));
    server.wait_for(&answer.id());
    assert!(server.text("/-/isolate").contains("NO VERSION THAT WORKS"));
    // Until there is one.
    fs::copy(guests::second(), folder.0.join("broken.wasm")).unwrap();
    server.wait_for("swapped");
    assert_eq!(server.get("/broken/").status, 404);
}
