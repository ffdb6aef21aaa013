//! Many users of a component at once, over real sockets: nobody gets what is another one's.

use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use skep_client::exchange;

use super::Test;
use super::guests;
use super::server::Server;

pub(crate) const TESTS: &[Test] = &[
    ("ten_thousand_requests_of_a_hundred_users_are_never_mixed_up", never_mixed_up),
    ("instances_count_together_in_the_table_of_their_host", counts_together),
];

const CONNECTIONS: usize = 10;
const USERS_OF_EACH: usize = 10;
/// Of two requests for each user.
const ROUNDS: u32 = 50;

const TIMEOUT: Duration = Duration::from_secs(30);

/// The session of each user counts the visits, and a message waits for the next page: both are what this user did, and
/// nobody else.
fn never_mixed_up() {
    let component = guests::application("skep-isolate-app");
    for how in ["snapshot", "cached"] {
        let lifted = ["--set", "limits.sessions_per_address=0", "--set", "workers=2"];
        let server = Server::start(&[&[component.to_str().unwrap(), "--module-cache", how][..], &lifted].concat());
        thread::scope(|scope| {
            for _ in 0..CONNECTIONS {
                scope.spawn(|| visit(&server.address, how));
            }
        });
    }
}

/// Each request may have an instance of its own, whose memory is gone after it.
fn counts_together() {
    let component = guests::application("skep-isolate-app");
    for how in ["cold", "snapshot", "cached"] {
        let limits = ["--set", "limits.sessions_per_address=2", "--set", "workers=2"];
        let server = Server::start(&[&[component.to_str().unwrap(), "--module-cache", how][..], &limits].concat());
        let mut connection = TcpStream::connect(&server.address).unwrap();
        connection.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut status = |method: &str, path: &str| {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: same-origin\r\ncontent-length: 0\r\n\r\n"
            );
            exchange(&mut connection, request.as_bytes(), false, TIMEOUT).unwrap().status
        };
        assert_eq!([(); 4].map(|()| status("GET", "/few")), [200, 200, 200, 429], "{how}");
        assert_eq!([(); 3].map(|()| status("POST", "/visits")), [200, 200, 429], "new sessions, {how}");
    }
}

/// Some users take turns on one connection.
fn visit(address: &str, how: &str) {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(TIMEOUT)).unwrap();
    let mut users: Vec<Cookies> = (0..USERS_OF_EACH).map(|_| Cookies::default()).collect();
    for round in 1..=ROUNDS {
        for user in &mut users {
            assert_eq!(user.ask(&mut connection, "POST"), round.to_string(), "{how}");
        }
        for user in &mut users {
            assert_eq!(user.ask(&mut connection, "GET"), format!("Some({round}) [\"noted\"]"), "{how}");
        }
    }
}

/// What a browser keeps: name and value.
#[derive(Default)]
struct Cookies(Vec<(String, String)>);

impl Cookies {
    fn ask(&mut self, connection: &mut TcpStream, method: &str) -> String {
        let cookies: Vec<String> = self.0.iter().map(|(name, value)| format!("{name}={value}")).collect();
        let request = format!(
            "{method} /visits HTTP/1.1\r\nhost: localhost\r\nsec-fetch-site: same-origin\r\ncookie: {}\r\ncontent-length: 0\r\n\r\n",
            cookies.join("; ")
        );
        let response = exchange(connection, request.as_bytes(), false, TIMEOUT).unwrap();
        let text = String::from_utf8(response.body).unwrap();
        assert_eq!(response.status, 200, "{text}");
        for (_, field) in response.fields.iter().filter(|(name, _)| name == "set-cookie") {
            let (name, value) = field.split(';').next().unwrap().split_once('=').unwrap();
            self.0.retain(|(known, _)| known != name);
            if !value.is_empty() {
                self.0.push((name.to_owned(), value.to_owned()));
            }
        }
        text
    }
}
