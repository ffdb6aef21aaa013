//! Fifty members book ten places at once, of real servers in each process model, and as a component.

#[path = "../../helpdesk/tests/support/component.rs"]
mod component;

use std::net::TcpStream;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use courses::account::User;
use skep::prelude::*;
use skep::sql::query;
use skep::test::Client;
use skep::{Error, Setup, Site};
use skep_drill::{Server, Subject, folder};
use skep_people::{AccessToken, MailAccount};

const MEMBERS: usize = 50;
const PLACES: i64 = 10;
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn fifty_at_once_take_ten_places_in_threads_and_processes() {
    let once = ["--mpm", "prefork", "--set", "requests_per_worker=1"];
    for model in [&["--mpm", "thread"][..], &["--mpm", "prefork"], &once] {
        let folder = folder().unwrap();
        let data = folder.join("data");
        let tokens = prepare(&data);
        let subject = Subject::executable(env!("CARGO_BIN_EXE_courses"), ["--set", "development=true"]);
        let server = Server::start_in(&subject, folder, &[&["--workers", "2"], model].concat()).unwrap();
        ten_of_fifty(&format!("{model:?}"), &server.address, &data, &tokens);
    }
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::*;

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build"]
    fn fifty_at_once_take_ten_places_of_a_component() {
        let folder = tempfile::tempdir().unwrap();
        let data = component::Server::data(folder.path());
        let tokens = prepare(&data);
        let server = component::Server::start(folder, "snapshot", &["--set", "development=true"]);
        ten_of_fifty("component", &server.address, &data, &tokens);
    }
}

/// The application with the data in this folder.
fn open(data: &Path) -> Arc<Site> {
    let mut setup = Setup::default();
    data.clone_into(&mut setup.data);
    Arc::new(courses::app().open(setup).unwrap())
}

/// A course and members; a token of each.
fn prepare(data: &Path) -> Vec<String> {
    let client = Client::of_site(&open(data));
    let made = client.with_cx(async |cx| {
        let (insert, mut tokens) = ("insert into account (email, name, password, language, zone)", Vec::new());
        for number in 0..MEMBERS {
            let email = format!("member{number}@example.org");
            let insert = format!("{insert} values (?, 'Member', '-', 'en', 'Europe/Berlin')");
            cx.db().execute(query::<()>(&insert, &email)).await?;
            let user = User::find_by_email(cx, &email).await?.or_404()?;
            let token = AccessToken::generate_for(&user)?;
            let insert = "insert into token (account_id, digest, stamp) values (?, ?, ?)";
            cx.db().execute(query::<()>(insert, (user.id, token.digest, token.stamp))).await?;
            tokens.push(token.shown);
        }
        let insert = "insert into course (title, about, level, trainer_id, starts, minutes, places, price)
            values ('Linocut', '-', 'all', 1, '2199-01-01T18:00:00.000000Z', 60, ?, '0.00')";
        cx.db().execute(query::<()>(insert, PLACES)).await?;
        Ok::<_, Error>(tokens)
    });
    made.unwrap()
}

fn ten_of_fifty(model: &str, address: &str, data: &Path, tokens: &[String]) {
    let answers: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = tokens.iter().map(|token| scope.spawn(move || book(address, token))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |state| answers.iter().filter(|answer| *answer == state).count();
    assert_eq!((count("\"booked\""), count("\"waiting\"")), (10, 40), "{model}: {answers:?}");
    let site = open(data);
    let select = "select count(*) from booking where not waiting and (select taken from course) = ?";
    let stored = site.db().write(|db| db.one(query::<i64>(select, PLACES))).unwrap();
    assert_eq!(stored, Some(PLACES), "{model}");
}

fn book(address: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "PUT /api/courses/1/booking HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n"
    );
    let answer = skep_client::exchange(&mut stream, request.as_bytes(), false, TIMEOUT).unwrap();
    String::from_utf8(answer.body.to_vec()).unwrap()
}
