//! Fifty members, ten places, a real server.

use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use courses::account::User;
use skep::prelude::*;
use skep::sql::query;
use skep::test::Client;
use skep::{Error, Site};
use skep_people::{AccessToken, MailAccount};

const MEMBERS: usize = 50;
const PLACES: i64 = 10;
const TIMEOUT: Duration = Duration::from_mins(1);

/// The native process models.
pub(crate) const MODELS: [&[&str]; 3] =
    [&["--mpm", "thread"], &["--mpm", "prefork"], &["--mpm", "prefork", "--set", "requests_per_worker=1"]];

/// A course and members; a token of each.
pub(crate) fn prepare(site: &Arc<Site>) -> Vec<String> {
    let client = Client::of_site(site);
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

/// Ten have a place, and forty wait, of the server at this address, which shares the database of the site.
pub(crate) fn ten_of_fifty(model: &str, address: &str, site: &Site, tokens: &[String]) {
    let answers: Vec<String> = thread::scope(|scope| {
        let threads: Vec<_> = tokens.iter().map(|token| scope.spawn(move || book(address, token))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let count = |state| answers.iter().filter(|answer| *answer == state).count();
    assert_eq!((count("\"booked\""), count("\"waiting\"")), (10, 40), "{model}: {answers:?}");
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
    String::from_utf8(answer.body).unwrap()
}
