//! The board in real browsers. Pictures are left in `target/screenshots`.

#[path = "../../blog/tests/browser/driver.rs"]
mod driver;

use std::path::Path;

use driver::{Browser, Process};
use serde_json::json;

/// A server, and a browser for each name, all on the first board.
fn open<const N: usize>(names: [&str; N]) -> (Process, [Browser; N], tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (server, url) = Process::server(env!("CARGO_BIN_EXE_board"), folder.path());
    let browsers = names.map(|name| {
        let browser = Browser::open();
        browser.go(&format!("{}/boards/1", url.trim_end_matches('/')));
        browser.type_into("input[autocomplete=nickname]", name);
        browser.click("form button");
        browser.wait_for("location.pathname === '/boards/1'");
        browser
    });
    (server, browsers, folder)
}

/// The titles of a list.
fn list(name: &str) -> String {
    format!("[...document.querySelectorAll('[data-list={name}] summary')].map(one => one.textContent).join()")
}

fn add(browser: &Browser, name: &str, title: &str) {
    browser.type_into(&format!("[data-list={name}] .add input:not([type=hidden])"), title);
    browser.click(&format!("[data-list={name}] .add button"));
    browser.wait_for(&format!("{}.endsWith({title:?})", list(name)));
}

fn press(browser: &Browser, card: u32, way: &str) {
    browser.click(&format!("#card-{card} button[value={way}]"));
}

/// One edits a card while the other one moves it, moves others, and adds some.
#[test]
fn text_and_focus_survive_what_others_do() {
    let (_server, [ann, ben], _folder) = open(["Ann", "Ben"]);
    for browser in [&ann, &ben] {
        browser.wait_for("document.querySelector('.viewers').innerText.replace(/\\s+/g, ' ') === 'Ann Ben'");
    }
    ann.click("#card-3 summary");
    ann.type_into("#card-3 textarea", " Green, please");
    ann.eval("(document.querySelector('#card-3 textarea').setSelectionRange(3, 8), window.same = document.querySelector('#card-3 textarea'), 1)");
    let loaded = ann.eval("performance.timeOrigin");
    let state = "(area => [document.activeElement === area, window.same === area, area.value, area.selectionStart, \
                 area.selectionEnd, document.querySelector('#card-3 details').open])(document.querySelector('#card-3 textarea'))";
    let expected = json!([true, true, "Two coats. They dry in a day. Green, please", 3, 8, true]);
    assert_eq!(ann.eval(state), expected);

    add(&ben, "todo", "Count the frames");
    press(&ben, 1, "right");
    press(&ben, 3, "up");
    ann.wait_for(&format!("{} === 'Paint the hives,Mend the smoker,Count the frames'", list("todo")));
    assert_eq!(ann.eval(state), expected, "its place in the list has changed");
    press(&ben, 3, "right");
    ann.wait_for(&format!("{} === 'Look after the queens,Order new frames,Paint the hives'", list("doing")));
    assert_eq!(ann.eval(state), expected, "it is in another list");

    // It is saved in place, where it is now.
    ann.click("#card-3 details form button");
    ben.wait_for("document.querySelector('#card-3 .note').textContent.endsWith('Green, please')");
    ann.wait_for("document.querySelector('#card-3 .note').textContent.endsWith('Green, please')");
    assert_eq!(ann.eval("performance.timeOrigin"), loaded, "no page was loaded");

    // Of what both edit, nothing is overwritten: who is second sees what the first one has saved.
    ann.type_into("#card-3 textarea", "!");
    ben.click("#card-3 summary");
    ben.type_into("#card-3 [name=title]", " now");
    ben.click("#card-3 details form button");
    ann.wait_for("document.querySelector('#card-3 summary').textContent === 'Paint the hives now'");
    ann.click("#card-3 details form button");
    ann.wait_for("!!document.querySelector('#card-3 .problem')");
    assert_eq!(ann.text("#card-3 summary"), "Paint the hives now");
    assert!(ann.text("#card-3 form").contains("Paint the hives now"));
    assert_eq!(
        ann.eval("document.querySelector('#card-3 textarea').value"),
        json!("Two coats. They dry in a day. Green, please!")
    );

    ben.go("about:blank");
    ann.wait_for("document.querySelector('.viewers').innerText === 'Ann'");
    ben.assert_quiet();
    // Browsers note an answer that refuses something.
    let log = ann.post("se/log", &json!({ "type": "browser" }));
    assert!(log.as_array().unwrap().iter().all(|entry| entry.to_string().contains("409")), "{log}");
}

#[test]
fn forms_are_sent_in_place_and_say_what_is_wrong() {
    let (server, [ann], _folder) = open(["Ann"]);
    let loaded = ann.eval("performance.timeOrigin");
    let entries = ann.eval("history.length");
    ann.type_into("[data-list=done] .add input:not([type=hidden])", "One\u{e007}");
    ann.wait_for(&format!("{} === 'Clean the extractor,One'", list("done")));
    let input = "document.querySelector('[data-list=done] .add input:not([type=hidden])')";
    ann.wait_for(&format!("{input}.value === '' && document.activeElement === {input}"));
    // The next one is typed at once.
    ann.type_into("[data-list=done] .add input:not([type=hidden])", "Two\u{e007}");
    ann.wait_for(&format!("{} === 'Clean the extractor,One,Two'", list("done")));

    // What a browser would not send, the server refuses.
    ann.click("#card-2 summary");
    ann.eval("(document.querySelector('#card-2 form').noValidate = true, document.querySelector('#card-2 [name=title]').value = '', 1)");
    ann.type_into("#card-2 textarea", "No title");
    ann.click("#card-2 details form button");
    ann.wait_for("!!document.querySelector('#card-2 .problem')");
    let field = "document.querySelector('#card-2 [name=title]')";
    assert_eq!(ann.eval(&format!("document.activeElement === {field} && {field}.ariaInvalid")), json!("true"));
    assert_eq!(ann.eval("document.querySelector('#card-2 textarea').value"), json!("No title"));
    ann.picture("board-problem", 1100, false);
    ann.type_into("#card-2 [name=title]", "A title");
    ann.click("#card-2 details form button");
    ann.wait_for("document.querySelector('#card-2 summary').textContent === 'A title'");
    ann.wait_for("!document.querySelector('#card-2 .problem')");

    // Sent twice at once, it is sent once.
    let twice = "const form = document.querySelector('[data-list=doing] .add'); \
                 form.elements.title.value = 'Once'; form.requestSubmit(); form.requestSubmit();";
    ann.post("execute/sync", &json!({ "script": twice, "args": [] }));
    ann.wait_for(&format!("{} === 'Look after the queens,Once'", list("doing")));
    add(&ann, "doing", "Last");
    assert_eq!(ann.eval(&list("doing")), json!("Look after the queens,Once,Last"));
    assert_eq!(ann.eval("performance.timeOrigin"), loaded, "no page was loaded");
    assert_eq!(ann.eval("history.length"), entries, "it is the same page");

    // An error is shown, and what was typed stays.
    ann.type_into("[data-list=todo] .add input:not([type=hidden])", "Lost");
    ann.eval("document.querySelector('[data-list=todo] .add').setAttribute('action', '/boards/77/todo')");
    ann.click("[data-list=todo] .add button");
    ann.wait_for(
        "document.querySelector('dialog')?.open && document.querySelector('dialog h1').textContent === 'Not Found'",
    );
    ann.click("dialog button");
    ann.wait_for("!document.querySelector('dialog')");
    drop(server);
    ann.click("[data-list=todo] .add button");
    ann.wait_for("document.querySelector('dialog')?.textContent.startsWith('The server cannot be reached')");
    assert_eq!(ann.eval("document.querySelector('[data-list=todo] .add').elements.title.value"), json!("Lost"));
}

/// As if they were loaded, but for the page, which stays.
#[test]
fn links_are_followed_in_place_and_back() {
    let (_server, [ann, ben], _folder) = open(["Ann", "Ben"]);
    let (loaded, entries) = (ann.eval("performance.timeOrigin"), ann.eval("history.length").as_u64().unwrap());
    let viewers = "document.querySelector('.viewers')?.innerText.replace(/\\s+/g, ' ')";
    ben.wait_for(&format!("{viewers} === 'Ann Ben'"));
    ann.click("header a");
    ann.wait_for("location.pathname === '/' && document.title === 'Boards' && document.querySelector('h1').textContent === 'Hello Ann'");
    assert_eq!(ann.eval("history.length"), json!(entries + 1));
    // She does not look at the board any more.
    ben.wait_for(&format!("{viewers} === 'Ben'"));
    ann.post("back", &json!({}));
    ann.wait_for("location.pathname === '/boards/1' && !!document.querySelector('#card-1')");
    ben.wait_for(&format!("{viewers} === 'Ben Ann'"));
    press(&ben, 1, "right");
    ann.wait_for(&format!("{} === 'Look after the queens,Order new frames'", list("doing")));
    ann.post("forward", &json!({}));
    ann.wait_for("document.title === 'Boards' && !document.querySelector('#card-1')");
    ann.click("main a");
    ann.wait_for("location.pathname === '/boards/1' && !!document.querySelector('#card-1')");
    assert_eq!(ann.eval("performance.timeOrigin"), loaded, "no page was loaded");
    // A form that leads to another page loads that.
    ann.eval("document.querySelector('[data-list=todo] .add').setAttribute('action', '/')");
    ann.type_into("[data-list=todo] .add input:not([type=hidden])", "Autumn\u{e007}");
    ann.wait_for("location.pathname === '/boards/2' && document.querySelector('h1')?.textContent === 'Autumn'");
    assert_ne!(ann.eval("performance.timeOrigin"), loaded);
    ann.assert_quiet();
    // What cannot be shown in place is loaded.
    ann.eval("document.querySelector('header a').href = '/static/nothing'");
    ann.click("header a");
    ann.wait_for("document.querySelector('h1').textContent === 'Not Found'");
    assert_eq!(ann.eval("location.pathname"), json!("/static/nothing"));
}

#[test]
fn cards_are_dragged_to_other_lists() {
    let (_server, [ann], _folder) = open(["Ann"]);
    let drag = "const [card, before] = ['#card-1', '#card-4'].map((one) => document.querySelector(one)); \
                const fire = (one, type, clientY) => one.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, clientY })); \
                const { top } = before.getBoundingClientRect(); \
                fire(card, 'dragstart', 0); fire(before, 'dragover', top + 2); fire(before, 'drop', top + 2); fire(card, 'dragend', 0);";
    ann.post("execute/sync", &json!({ "script": drag, "args": [] }));
    ann.wait_for(&format!("{} === 'Order new frames,Look after the queens'", list("doing")));
    ann.assert_quiet();
}

/// Nothing is shown but what the server sends: everything is a form, and each one loads the page.
#[test]
fn without_javascript_it_is_the_same_board() {
    let (_server, [ann, ben], _folder) = open(["Ann", "Ben"]);
    ben.cdp("Emulation.setScriptExecutionDisabled", json!({ "value": true }));
    ben.post("refresh", &json!({}));
    press(&ben, 1, "right");
    ann.wait_for(&format!("{} === 'Look after the queens,Order new frames'", list("doing")));
    ben.type_into("[data-list=done] .add input:not([type=hidden])", "By hand");
    ben.click("[data-list=done] .add button");
    ann.wait_for(&format!("{} === 'Clean the extractor,By hand'", list("done")));
    ben.element("[data-list=done] .card:nth-child(2) summary");
}

#[test]
fn axe_finds_nothing_wrong() {
    let (_server, [ann, _ben], _folder) = open(["Ann", "Ben"]);
    ann.wait_for("document.querySelectorAll('.viewers li').length === 2");
    ann.click("#card-4 summary");
    let axe = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../tools/axe-core/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(&axe)
        .unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask setup`", axe.display()));
    ann.post("execute/sync", &json!({ "script": axe, "args": [] }));
    for (name, width, dark) in
        [("light", 1100, false), ("dark", 1100, true), ("phone", 390, false), ("phone-dark", 390, true)]
    {
        ann.picture(&format!("board-{name}"), width, dark);
        let script = "const done = arguments[0]; axe.run().then(done, error => done(String(error)))";
        let result = ann.post("execute/async", &json!({ "script": script, "args": [] }));
        assert!(result["passes"].as_array().is_some_and(|rules| rules.len() > 10), "axe has not run: {result}");
        assert_eq!(result["violations"], json!([]), "{name}");
    }
    ann.assert_quiet();
}
