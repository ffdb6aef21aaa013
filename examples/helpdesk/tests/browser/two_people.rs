//! Two browsers, two people, one server: in turns and at once, nobody sees or ends what is the other's.

use std::thread;

use helpdesk::demo::PASSWORD;
use serde_json::json;
use skep::test::Browser;
use skep_drill::{Server, Subject};

use super::component;
use super::looks::assert_only;

const CARLA: (&str, &str) = ("carla@example.org", "Carla Customer");
const KARL: (&str, &str) = ("karl@example.org", "Karl Kunde");

/// Tickets of each person: some in turns, then some at once.
const IN_TURNS: usize = 2;
const AT_ONCE: usize = 4;

#[test]
fn two_browsers_are_two_people_to_threads() {
    two_people(&native("thread").address);
}

#[test]
fn two_browsers_are_two_people_to_forked_processes() {
    two_people(&native("prefork").address);
}

/// In the step `long` of `cargo xtask test`. Servers of components without a browser are tried by `skep-isolate`.
mod long {
    use super::{of_component, two_people};

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build"]
    fn two_browsers_are_two_people_to_fresh_instances_of_a_component() {
        two_people(&of_component("snapshot").address);
    }

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build"]
    fn two_browsers_are_two_people_to_cached_instances_of_a_component() {
        two_people(&of_component("cached").address);
    }
}

fn native(model: &str) -> Server {
    let subject = Subject::executable(env!("CARGO_BIN_EXE_helpdesk"), [""; 0]);
    Server::start(&subject, &["--mpm", model, "--workers", "2"]).unwrap()
}

/// Its database is empty, so start-up code fills it with the demo.
fn of_component(how: &str) -> component::Server {
    component::Server::start(tempfile::tempdir().unwrap(), how, &["--workers", "2"])
}

fn two_people(address: &str) {
    let [carla, karl] = [CARLA, KARL].map(|person| Person::new(address, person));
    let both = [&carla, &karl];
    both.into_iter().for_each(Person::sign_in);
    both.into_iter().for_each(|person| person.sees_itself("/tickets"));
    let mut tickets = [Vec::new(), Vec::new()];
    for round in 0..IN_TURNS {
        for (person, tickets) in both.iter().zip(&mut tickets) {
            tickets.push(person.reports(round));
        }
        for (person, tickets) in both.iter().zip(&tickets) {
            person.comments(&tickets[round]);
        }
    }
    thread::scope(|scope| {
        for (person, tickets) in both.into_iter().zip(&mut tickets) {
            scope.spawn(move || {
                for round in IN_TURNS..IN_TURNS + AT_ONCE {
                    let ticket = person.reports(round);
                    person.comments(&ticket);
                    person.sees_itself("/profile");
                    tickets.push(ticket);
                }
            });
        }
    });
    both.into_iter().for_each(Person::lists_its_own);
    for (person, tickets) in both.iter().zip(tickets.iter().rev()) {
        tickets.iter().for_each(|ticket| person.is_refused(ticket));
        assert_only(&person.browser, "404");
    }
    one_leaves(carla, &karl);
}

/// Signing out ends one session and no other one; who signs in next in that browser is who it says.
fn one_leaves(leaving: Person, staying: &Person) {
    leaving.sees_itself("/tickets");
    leaving.sign_out();
    leaving.go("/tickets");
    leaving.at("/sign-in");
    staying.sees_itself("/tickets");
    staying.comments(&staying.reports(IN_TURNS + AT_ONCE));
    let next = Person { email: staying.email, name: staying.name, other: leaving.name, ..leaving };
    next.sign_in();
    next.sees_itself("/profile");
    next.sign_out();
    staying.sees_itself("/profile");
}

/// A browser and who sits in front of it.
struct Person {
    browser: Browser,
    email: &'static str,
    name: &'static str,
    /// What this person must not see.
    other: &'static str,
}

impl Person {
    fn new(address: &str, (email, name): (&'static str, &'static str)) -> Self {
        let other = if name == CARLA.1 { KARL.1 } else { CARLA.1 };
        Self { browser: Browser::open(&format!("http://{address}")), email, name, other }
    }

    fn go(&self, path: &str) {
        self.browser.visit(path);
    }

    fn at(&self, path: &str) {
        self.browser.wait_until(&format!("location.pathname === {path:?} && document.readyState === 'complete'"));
    }

    fn sign_in(&self) {
        self.go("/sign-in");
        self.browser.fill_in("input[type=email]", self.email);
        self.browser.fill_in("input[type=password]", PASSWORD);
        self.browser.click("main form button");
        self.at("/tickets");
    }

    fn sign_out(&self) {
        self.browser.click(".account button");
        self.at("/sign-in");
    }

    /// Opens a page, which names this person and not the other one.
    fn sees_itself(&self, path: &str) {
        self.go(path);
        self.at(path);
        self.is_alone();
    }

    fn is_alone(&self) {
        assert_eq!(self.browser.text(".account a"), self.name);
        let page = self.browser.text("body");
        assert!(!page.contains(self.other), "{}: {page}", self.name);
    }

    /// Makes a ticket. The path of its page.
    fn reports(&self, round: usize) -> String {
        self.go("/tickets/new");
        self.browser.fill_in("main input[name=title]", &format!("Case {round} of {}", self.name));
        self.browser.fill_in("main textarea[name=text]", &format!("{} began it.", self.name));
        self.browser.click("main button");
        self.browser.wait_until("/^\\/tickets\\/\\d+$/.test(location.pathname) && document.readyState === 'complete'");
        assert_eq!(self.browser.evaluate("document.querySelectorAll('.notice').length"), json!(1), "a message, once");
        self.is_alone();
        self.browser.evaluate("location.pathname").as_str().unwrap().to_owned()
    }

    fn comments(&self, ticket: &str) {
        self.sees_itself(ticket);
        self.browser.fill_in("form.reply textarea", &format!("{} was here.", self.name));
        self.browser.click("form.reply button");
        self.browser.wait_until("document.querySelectorAll('article.comment').length === 2");
        let said =
            self.browser.evaluate("[...document.querySelectorAll('article.comment .text')].map(e => e.innerText)");
        assert_eq!(said, json!([format!("{} began it.", self.name), format!("{} was here.", self.name)]));
        self.is_alone();
    }

    /// All that this person made, and nothing of the other one.
    fn lists_its_own(&self) {
        self.go("/tickets?q=Case");
        self.is_alone();
        let mut titles: Vec<String> = serde_json::from_value(
            self.browser.evaluate("[...document.querySelectorAll('table.tickets a.title')].map(e => e.innerText)"),
        )
        .unwrap();
        titles.sort();
        let own = (0..IN_TURNS + AT_ONCE).map(|round| format!("Case {round} of {}", self.name));
        assert_eq!(titles, own.collect::<Vec<_>>());
    }

    /// A ticket of the other one is not there.
    fn is_refused(&self, ticket: &str) {
        self.go(ticket);
        let page = self.browser.text("main");
        assert!(page.contains("404") && !page.contains(self.other), "{ticket} to {}: {page}", self.name);
    }
}
