//! The board in real browsers. Pictures are left in `target/screenshots`.

#[path = "../../blog/tests/browser/looks.rs"]
mod looks;

use looks::{assert_only, axe, picture};
use serde_json::json;
use skep::test::Browser;
use skep_server::{Running, Server};

/// A server, and a browser for each name, all on the first board.
fn open<const N: usize>(names: [&str; N]) -> (Running, [Browser; N]) {
    // Who closes a connection leaves at once: a client may only have closed its sending side.
    let server = Server::for_test(board::app).fix("limits.half_closed", "0").start().unwrap();
    let browsers = names.map(|name| {
        let browser = Browser::open(server.url());
        browser.visit("/boards/1");
        browser.fill_in("input[autocomplete=nickname]", name);
        browser.click("form button");
        browser.wait_until("location.pathname === '/boards/1'");
        browser
    });
    (server, browsers)
}

/// The titles of a list.
fn list(name: &str) -> String {
    format!("[...document.querySelectorAll('[data-list={name}] summary')].map(one => one.textContent).join()")
}

fn add(browser: &Browser, name: &str, title: &str) {
    browser.fill_in(&format!("[data-list={name}] .add input:not([type=hidden])"), title);
    browser.click(&format!("[data-list={name}] .add button"));
    browser.wait_until(&format!("{}.endsWith({title:?})", list(name)));
}

fn press(browser: &Browser, card: u32, way: &str) {
    browser.click(&format!("#card-{card} button[value={way}]"));
}

/// One edits a card while the other one moves it, moves others, and adds some.
#[test]
fn text_and_focus_survive_what_others_do() {
    let (_server, [ann, ben]) = open(["Ann", "Ben"]);
    for browser in [&ann, &ben] {
        browser.wait_until("document.querySelector('.viewers').innerText.replace(/\\s+/g, ' ') === 'Ann Ben'");
    }
    ann.click("#card-3 summary");
    ann.fill_in("#card-3 textarea", "Two coats. They dry in a day. Green, please");
    ann.evaluate("(document.querySelector('#card-3 textarea').setSelectionRange(3, 8), window.same = document.querySelector('#card-3 textarea'), 1)");
    let loaded = ann.evaluate("performance.timeOrigin");
    let state = "(area => [document.activeElement === area, window.same === area, area.value, area.selectionStart, \
                 area.selectionEnd, document.querySelector('#card-3 details').open])(document.querySelector('#card-3 textarea'))";
    let expected = json!([true, true, "Two coats. They dry in a day. Green, please", 3, 8, true]);
    assert_eq!(ann.evaluate(state), expected);

    add(&ben, "todo", "Count the frames");
    press(&ben, 1, "right");
    press(&ben, 3, "up");
    ann.wait_until(&format!("{} === 'Paint the hives,Mend the smoker,Count the frames'", list("todo")));
    assert_eq!(ann.evaluate(state), expected, "its place in the list has changed");
    press(&ben, 3, "right");
    ann.wait_until(&format!("{} === 'Look after the queens,Order new frames,Paint the hives'", list("doing")));
    assert_eq!(ann.evaluate(state), expected, "it is in another list");

    // It is saved in place, where it is now.
    ann.click("#card-3 details form button");
    ben.wait_until("document.querySelector('#card-3 .note').textContent.endsWith('Green, please')");
    ann.wait_until("document.querySelector('#card-3 .note').textContent.endsWith('Green, please')");
    assert_eq!(ann.evaluate("performance.timeOrigin"), loaded, "no page was loaded");

    // Of what both edit, nothing is overwritten: who is second sees what the first one has saved.
    ann.fill_in("#card-3 textarea", "Two coats. They dry in a day. Green, please!");
    ben.click("#card-3 summary");
    ben.fill_in("#card-3 [name=title]", "Paint the hives now");
    ben.click("#card-3 details form button");
    ann.wait_until("document.querySelector('#card-3 summary').textContent === 'Paint the hives now'");
    ann.click("#card-3 details form button");
    ann.wait_until("!!document.querySelector('#card-3 .problem')");
    assert_eq!(ann.text("#card-3 summary"), "Paint the hives now");
    assert!(ann.text("#card-3 form").contains("Paint the hives now"));
    assert_eq!(
        ann.evaluate("document.querySelector('#card-3 textarea').value"),
        json!("Two coats. They dry in a day. Green, please!")
    );

    ben.visit("about:blank");
    ann.wait_until("document.querySelector('.viewers').innerText === 'Ann'");
    // Browsers note a response that refuses something.
    assert_only(&ann, "409");
}

#[test]
fn forms_are_sent_in_place_and_say_what_is_wrong() {
    let (server, [ann]) = open(["Ann"]);
    let loaded = ann.evaluate("performance.timeOrigin");
    let entries = ann.evaluate("history.length");
    ann.fill_in("[data-list=done] .add input:not([type=hidden])", "One");
    ann.press("Enter");
    ann.wait_until(&format!("{} === 'Clean the extractor,One'", list("done")));
    let input = "document.querySelector('[data-list=done] .add input:not([type=hidden])')";
    ann.wait_until(&format!("{input}.value === '' && document.activeElement === {input}"));
    // The next one is typed at once.
    ann.fill_in("[data-list=done] .add input:not([type=hidden])", "Two");
    ann.press("Enter");
    ann.wait_until(&format!("{} === 'Clean the extractor,One,Two'", list("done")));

    // What a browser would not send, the server refuses.
    ann.click("#card-2 summary");
    ann.evaluate("(document.querySelector('#card-2 form').noValidate = true, document.querySelector('#card-2 [name=title]').value = '', 1)");
    ann.fill_in("#card-2 textarea", "No title");
    ann.click("#card-2 details form button");
    ann.wait_until("!!document.querySelector('#card-2 .problem')");
    let field = "document.querySelector('#card-2 [name=title]')";
    assert_eq!(ann.evaluate(&format!("document.activeElement === {field} && {field}.ariaInvalid")), json!("true"));
    assert_eq!(ann.evaluate("document.querySelector('#card-2 textarea').value"), json!("No title"));
    picture(&ann, "board-problem", 1100, false);
    assert_only(&ann, "422");
    ann.fill_in("#card-2 [name=title]", "A title");
    ann.click("#card-2 details form button");
    ann.wait_until("document.querySelector('#card-2 summary').textContent === 'A title'");
    ann.wait_until("!document.querySelector('#card-2 .problem')");

    // Sent twice at once, it is sent once.
    ann.evaluate(
        "{ const form = document.querySelector('[data-list=doing] .add'); \
         form.elements.title.value = 'Once'; form.requestSubmit(); form.requestSubmit(); }",
    );
    let is_sent = "document.querySelector('[data-list=doing] .add').elements.title.value === ''";
    ann.wait_until(&format!("{} === 'Look after the queens,Once' && {is_sent}", list("doing")));
    add(&ann, "doing", "Last");
    assert_eq!(ann.evaluate(&list("doing")), json!("Look after the queens,Once,Last"));
    assert_eq!(ann.evaluate("performance.timeOrigin"), loaded, "no page was loaded");
    assert_eq!(ann.evaluate("history.length"), entries, "it is the same page");

    // An error is shown, and what was typed stays.
    ann.fill_in("[data-list=todo] .add input:not([type=hidden])", "Lost");
    ann.evaluate("document.querySelector('[data-list=todo] .add').setAttribute('action', '/boards/77/todo')");
    ann.click("[data-list=todo] .add button");
    ann.wait_until(
        "document.querySelector('dialog')?.open && document.querySelector('dialog h1').textContent === 'Not Found'",
    );
    ann.click("dialog button");
    ann.wait_until("!document.querySelector('dialog')");
    assert_only(&ann, "404");
    server.stop();
    ann.click("[data-list=todo] .add button");
    ann.wait_until("document.querySelector('dialog')?.textContent.startsWith('The server cannot be reached')");
    assert_eq!(ann.evaluate("document.querySelector('[data-list=todo] .add').elements.title.value"), json!("Lost"));
    assert_only(&ann, "ERR_CONNECTION_REFUSED");
}

/// As if they were loaded, but for the page, which stays.
#[test]
fn links_are_followed_in_place_and_back() {
    let (_server, [ann, ben]) = open(["Ann", "Ben"]);
    let (loaded, entries) = (ann.evaluate("performance.timeOrigin"), ann.evaluate("history.length").as_u64().unwrap());
    let viewers = "document.querySelector('.viewers')?.innerText.replace(/\\s+/g, ' ')";
    ben.wait_until(&format!("{viewers} === 'Ann Ben'"));
    ann.click("header a");
    ann.wait_until("location.pathname === '/' && document.title === 'Boards' && document.querySelector('h1').textContent === 'Hello Ann'");
    assert_eq!(ann.evaluate("history.length"), json!(entries + 1));
    // She does not look at the board any more.
    ben.wait_until(&format!("{viewers} === 'Ben'"));
    ann.evaluate("history.back()");
    ann.wait_until("location.pathname === '/boards/1' && !!document.querySelector('#card-1')");
    ben.wait_until(&format!("{viewers} === 'Ben Ann'"));
    press(&ben, 1, "right");
    ann.wait_until(&format!("{} === 'Look after the queens,Order new frames'", list("doing")));
    ann.evaluate("history.forward()");
    ann.wait_until("document.title === 'Boards' && !document.querySelector('#card-1')");
    ann.click("main a");
    ann.wait_until("location.pathname === '/boards/1' && !!document.querySelector('#card-1')");
    assert_eq!(ann.evaluate("performance.timeOrigin"), loaded, "no page was loaded");
    // A form that leads to another page loads that.
    ann.evaluate("document.querySelector('[data-list=todo] .add').setAttribute('action', '/')");
    ann.fill_in("[data-list=todo] .add input:not([type=hidden])", "Autumn");
    ann.press("Enter");
    ann.wait_until("location.pathname === '/boards/2' && document.querySelector('h1')?.textContent === 'Autumn'");
    assert_ne!(ann.evaluate("performance.timeOrigin"), loaded);
    assert_eq!(ann.take_problems(), [""; 0]);
    // What cannot be shown in place is loaded.
    ann.evaluate("document.querySelector('header a').href = '/static/nothing'");
    ann.click("header a");
    ann.wait_until("document.querySelector('h1').textContent === 'Not Found'");
    assert_eq!(ann.evaluate("location.pathname"), json!("/static/nothing"));
    assert_only(&ann, "404");
}

#[test]
fn cards_are_dragged_to_other_lists() {
    let (_server, [ann]) = open(["Ann"]);
    let drag = "{ const [card, before] = ['#card-1', '#card-4'].map((one) => document.querySelector(one)); \
                const fire = (one, type, clientY) => one.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, clientY })); \
                const { top } = before.getBoundingClientRect(); \
                fire(card, 'dragstart', 0); fire(before, 'dragover', top + 2); fire(before, 'drop', top + 2); fire(card, 'dragend', 0); }";
    ann.evaluate(drag);
    ann.wait_until(&format!("{} === 'Order new frames,Look after the queens'", list("doing")));
}

/// Nothing is shown but what the server sends: everything is a form, and each one loads the page.
#[test]
fn without_javascript_it_is_the_same_board() {
    let (_server, [ann, ben]) = open(["Ann", "Ben"]);
    ben.command("Emulation.setScriptExecutionDisabled", &json!({ "value": true }));
    ben.visit("/boards/1");
    let loaded = ben.evaluate("performance.timeOrigin");
    press(&ben, 1, "right");
    assert_ne!(ben.evaluate("performance.timeOrigin"), loaded, "the page was loaded again");
    ann.wait_until(&format!("{} === 'Look after the queens,Order new frames'", list("doing")));
    ben.fill_in("[data-list=done] .add input:not([type=hidden])", "By hand");
    ben.click("[data-list=done] .add button");
    ann.wait_until(&format!("{} === 'Clean the extractor,By hand'", list("done")));
    ben.wait_for("[data-list=done] .card:nth-child(2) summary");
}

#[test]
fn axe_finds_nothing_wrong() {
    let (_server, [ann, _ben]) = open(["Ann", "Ben"]);
    ann.wait_until("document.querySelectorAll('.viewers li').length === 2");
    ann.click("#card-4 summary");
    for (name, width, dark) in
        [("light", 1100, false), ("dark", 1100, true), ("phone", 390, false), ("phone-dark", 390, true)]
    {
        picture(&ann, &format!("board-{name}"), width, dark);
        assert_eq!(axe(&ann), json!([]), "{name}");
    }
}
