//! A hundred users of a real server at once, ten of them on each connection: nobody sees what is another one's. In both
//! process models, and as a component.
//!
//! A component is no optimised build here, so it has fewer rounds: two thousand requests. With ten thousand, as the
//! others: `HELPDESK_ROUNDS=25 cargo test --workspace --test hundred_users -- --ignored`.

#[path = "support/common.rs"]
mod common;
#[path = "support/component.rs"]
mod component;

use std::net::{TcpStream, ToSocketAddrs};
use std::path::Path;
use std::thread;
use std::time::Duration;

use common::{CARLA, Desk};
use helpdesk::demo::PASSWORD;
use skep::sql::{self, Blocking};
use skep_client::{Response, exchange};
use skep_drill::{Server, Subject, folder};

const USERS: u32 = 100;
const CONNECTIONS: usize = 10;
/// Of four requests for each user: ten thousand in all.
const ROUNDS: u32 = 25;
const ROUNDS_OF_COMPONENTS: u32 = 5;

/// Users and their tickets have these numbers from here on.
const FIRST: u32 = 1000;

const TIMEOUT: Duration = Duration::from_secs(30);

/// Each user has an address of its own: one address may not sign in a hundred times at once.
const SETTINGS: &[&str] = &["--workers", "2", "--set", "proxies.trusted=127.0.0.1"];

#[test]
fn ten_thousand_requests_of_a_hundred_users_are_never_mixed_up() {
    for model in ["thread", "prefork"] {
        let folder = folder().unwrap();
        let data = folder.join("data");
        Desk::in_folder(&data).db().write(add_users).unwrap();
        let subject = Subject::executable(env!("CARGO_BIN_EXE_helpdesk"), ["--set", "development=true"]);
        let server = Server::start_in(&subject, folder, &[SETTINGS, &["--mpm", model]].concat()).unwrap();
        never_mixed_up(model, &server.address, &data, ROUNDS);
    }
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::component_never_mixes_up;

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build"]
    fn requests_of_a_hundred_users_to_fresh_instances_of_a_component_are_never_mixed_up() {
        component_never_mixes_up("snapshot");
    }

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build"]
    fn requests_of_a_hundred_users_to_cached_instances_of_a_component_are_never_mixed_up() {
        component_never_mixes_up("cached");
    }
}

fn component_never_mixes_up(how: &str) {
    let folder = tempfile::tempdir().unwrap();
    let data = component::Server::data(folder.path());
    Desk::in_folder(&data).db().write(add_users).unwrap();
    let server = component::Server::start(folder, how, &[SETTINGS, &["--set", "development=true"]].concat());
    let rounds = std::env::var("HELPDESK_ROUNDS").ok().and_then(|rounds| rounds.parse().ok());
    never_mixed_up(how, &server.address, &data, rounds.unwrap_or(ROUNDS_OF_COMPONENTS));
}

/// Users take turns at the server of this address, which has its data in this folder.
fn never_mixed_up(model: &str, address: &str, data: &Path, rounds: u32) {
    thread::scope(|scope| {
        for at in 0..CONNECTIONS {
            scope.spawn(move || {
                let mut connection = connect(address);
                let numbers = (FIRST..FIRST + USERS).skip(at).step_by(CONNECTIONS);
                let users: Vec<User> = numbers.map(|number| User::sign_in(number, &mut connection)).collect();
                for _ in 0..rounds {
                    for user in &users {
                        user.round(&mut connection);
                    }
                }
            });
        }
    });
    let site = Desk::in_folder(data);
    let count = |text| site.db().write(|db| db.one(sql::query::<i64>(text, ()))).unwrap().unwrap();
    let written = count("select count(*) from comment where text like '% was here'");
    let own = count(
        "select count(*) from comment join ticket on ticket.id = ticket_id join user on user.id = author_id
        where text = name || ' was here' and author_id = customer_id",
    );
    let expected = i64::from(USERS * rounds);
    assert_eq!((written, own), (expected, expected), "{model}: comments, and those of the customer of the ticket");
}

/// Users with the password of the demo accounts, and a ticket for each.
fn add_users(db: &mut Blocking<'_>) -> sql::Result<()> {
    db.execute(sql::query::<()>(
        "with recursive number (n) as (select ? union all select n + 1 from number where n < ?)
        insert into user (id, email, name, password)
        select n, n || '@example.org', 'Visitor ' || n, (select password from user where email = ?) from number",
        (FIRST, FIRST + USERS - 1, CARLA),
    ))?;
    let tickets =
        "insert into ticket (id, customer_id, title) select id, id, 'Ticket of ' || name from user where id >= ?";
    db.execute(sql::query::<()>(tickets, (FIRST,)))?;
    Ok(())
}

fn connect(address: impl ToSocketAddrs) -> TcpStream {
    let connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(TIMEOUT)).unwrap();
    connection
}

struct User {
    number: u32,
    cookie: String,
}

impl User {
    fn sign_in(number: u32, connection: &mut TcpStream) -> Self {
        let unknown = Self { number, cookie: String::new() };
        let form = format!("email={number}%40example.org&password={}", PASSWORD.replace(' ', "+"));
        let response = unknown.send(connection, "POST", "/sign-in", &form);
        assert_eq!(response.status, 303, "{}", String::from_utf8_lossy(&response.body));
        let cookies = response.fields.iter().filter(|(name, _)| name == "set-cookie");
        let cookies: Vec<&str> = cookies.filter_map(|(_, value)| value.split(';').next()).collect();
        Self { number, cookie: cookies.join("; ") }
    }

    fn round(&self, connection: &mut TcpStream) {
        let ticket = format!("/tickets/{}", self.number);
        self.read(connection, "/profile");
        let text = format!("text=Visitor+{}+was+here", self.number);
        let response = self.send(connection, "POST", &format!("{ticket}/comments"), &text);
        assert_eq!(response.status, 303, "{}", String::from_utf8_lossy(&response.body));
        self.read(connection, "/tickets");
        self.read(connection, &ticket);
    }

    /// Reads a page: it names this user, and no other one.
    fn read(&self, connection: &mut TcpStream, path: &str) {
        let response = self.send(connection, "GET", path, "");
        let page = String::from_utf8_lossy(&response.body);
        assert_eq!(response.status, 200, "{path} of {}: {page}", self.number);
        let own = format!("Visitor {}", self.number);
        let named = page.matches("Visitor ").count();
        assert!(named > 0 && named == page.matches(&own).count(), "{path} of {}: {page}", self.number);
    }

    fn send(&self, connection: &mut TcpStream, method: &str, path: &str, form: &str) -> Response {
        let Self { number, cookie } = self;
        let cookie = if cookie.is_empty() { String::new() } else { format!("cookie: {cookie}\r\n") };
        let body = if method == "POST" {
            let length = form.len();
            format!("content-type: application/x-www-form-urlencoded\r\ncontent-length: {length}\r\n\r\n{form}")
        } else {
            "\r\n".to_owned()
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: same-origin\r\n\
            x-forwarded-for: 10.0.{}.{}\r\n{cookie}{body}",
            number / 256,
            number % 256
        );
        let response = exchange(connection, request.as_bytes(), false, TIMEOUT).unwrap();
        if !response.keeps {
            *connection = connect(connection.peer_addr().unwrap());
        }
        response
    }
}
