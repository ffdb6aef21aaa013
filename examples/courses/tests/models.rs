//! Fifty members book ten places at once, of real servers in each process model, and of a component: on the database of
//! this package.

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
use skep::{Secret, Setup, Site};
use skep_cluster::Cluster;
use skep_drill::{Server, Subject, folder};
use skep_people::{AccessToken, MailAccount};

const MEMBERS: usize = 50;
const PLACES: i64 = 10;

/// The native process models.
const MODELS: [&[&str]; 3] =
    [&["--mpm", "thread"], &["--mpm", "prefork"], &["--mpm", "prefork", "--set", "requests_per_worker=1"]];

#[test]
fn fifty_at_once_take_ten_places_in_threads_and_processes() {
    for model in MODELS {
        let folder = folder().unwrap();
        let studio = Studio::open(&folder.join("data"));
        let program = env!(concat!("CARGO_BIN_EXE_", env!("CARGO_PKG_NAME")));
        let subject = Subject::executable(program, &studio.arguments);
        let server = Server::start_in(&subject, folder, &[&["--workers", "2"], model].concat()).unwrap();
        studio.ten_of_fifty(&format!("{model:?}"), &server.address);
    }
}

/// In the step `long` of `cargo xtask test`.
mod long {
    use super::*;

    #[test]
    #[ignore = "minutes: the component is built, compiled, and is no optimised build; one package needs PostgreSQL"]
    fn fifty_at_once_take_ten_places_of_a_component() {
        let folder = tempfile::tempdir().unwrap();
        let studio = Studio::open(&component::Server::data(folder.path()));
        let arguments: Vec<&str> = studio.arguments.iter().map(String::as_str).collect();
        let server = component::Server::start(folder, "snapshot", &arguments);
        studio.ten_of_fifty("component", &server.address);
    }
}

/// The application with a course and members; the arguments of a server of the same database.
struct Studio {
    site: Arc<Site>,
    tokens: Vec<String>,
    arguments: Vec<String>,
    _cluster: Option<Cluster>,
}

impl Studio {
    fn open(data: &Path) -> Self {
        let cluster = (env!("CARGO_PKG_NAME") == "courses-postgres").then(Cluster::start);
        let (mut setup, mut arguments) = (Setup::default(), vec!["--set".into(), "development=true".into()]);
        data.clone_into(&mut setup.data);
        if let Some(cluster) = &cluster {
            setup.database = Some(Secret::new(cluster.address()));
            arguments.extend(["--set".into(), format!("database={}", cluster.address())]);
        }
        let site = Arc::new(courses::app().open(setup).unwrap());
        let tokens = Client::of_site(&site).with_cx(async |cx| fill(cx).await).unwrap();
        Self { site, tokens, arguments, _cluster: cluster }
    }

    /// Ten have a place, and forty wait, of the server at this address.
    fn ten_of_fifty(&self, model: &str, address: &str) {
        let answers: Vec<String> = thread::scope(|scope| {
            let threads: Vec<_> = self.tokens.iter().map(|token| scope.spawn(|| book(address, token))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let count = |state| answers.iter().filter(|answer| *answer == state).count();
        assert_eq!((count(r#"{"waiting":false}"#), count(r#"{"waiting":true}"#)), (10, 40), "{model}: {answers:?}");
        let select = "select count(*) from booking where not waiting and (select taken from course) = ?";
        let stored = self.site.db().write(|db| db.one(query::<i64>(select, PLACES))).unwrap();
        assert_eq!(stored, Some(PLACES), "{model}");
    }
}

/// A course and members; a token of each.
async fn fill(cx: &mut Cx<'_>) -> Result<Vec<String>> {
    let mut tokens = Vec::new();
    for number in 0..MEMBERS {
        let email = format!("member{number}@example.org");
        let insert = "insert into account (email, name, password, language, zone)
            values (?, 'Member', '-', 'en', 'Europe/Berlin')";
        cx.db().execute(query::<()>(insert, &email)).await?;
        let user = User::find_by_email(cx, &email).await?.or_404()?;
        let token = AccessToken::generate_for(&user)?;
        let insert = "insert into token (account_id, digest, stamp) values (?, ?, ?)";
        cx.db().execute(query::<()>(insert, (user.id, token.digest, token.stamp))).await?;
        tokens.push(token.shown);
    }
    let insert = "insert into course (title, about, level, trainer_id, starts, minutes, places, price)
        values ('Linocut', '-', 'all', 1, '2199-01-01T18:00:00.000000Z', 60, ?, '0.00')";
    cx.db().execute(query::<()>(insert, PLACES)).await?;
    Ok(tokens)
}

fn book(address: &str, token: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "PUT /api/courses/1/booking HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n"
    );
    let answer = skep_client::exchange(&mut stream, request.as_bytes(), false, Duration::from_mins(1)).unwrap();
    String::from_utf8(answer.body).unwrap()
}
