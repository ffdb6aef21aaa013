//! Mail by jobs: again if it fails for now, given up if it fails for good, and with one Message-ID each time.

use std::future::ready;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skep::Setup;
use skep::cache::Clock;
use skep::mail::{Attachment, Delivery, Mail, Mailer, Permanent};
use skep::prelude::*;
use skep::test::Client;
use skep_jobs::prelude::*;
use skep_jobs::test::run_one;

use crate::application::MIGRATIONS;

crate::tests![
    mail_is_sent_again_with_the_same_id_until_it_is_taken,
    mail_that_is_refused_for_good_is_a_dead_letter,
    mail_of_a_request_that_failed_is_never_sent,
];

/// Bytes that are no text.
const ATTACHED: &[u8] = b"\0\xff\n";

#[derive(Service)]
#[service(POST "/mail/{fails}")]
struct Send {
    fails: bool,
}

impl Handle for Send {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.transaction().await?;
        let mail = Mail::new("ada@example.org", "Your order", "It is on its way.").html("<p>It is.</p>");
        cx.deliver_later(mail.attach(Attachment::new("order.bin", "application/octet-stream", ATTACHED))).await?;
        if self.fails { Err(Error::conflict("no")) } else { Ok(Response::text("ordered")) }
    }
}

/// What a mail server says, the last thing again and again; and what it was given.
#[derive(Clone, Default)]
struct Server {
    says: Arc<Mutex<Vec<&'static str>>>,
    given: Arc<Mutex<Vec<Mail>>>,
}

impl Mailer for Server {
    fn send(&self, mail: Mail) -> Delivery {
        self.given.lock().unwrap().push(mail);
        let said = self.says.lock().unwrap().pop();
        Box::pin(ready(match said {
            Some("later") => Err("421 try again later".into()),
            Some(refused) => Err(Permanent::recipient(refused).into()),
            None => Ok(()),
        }))
    }
}

fn client(says: &[&'static str]) -> (Client, Clock, Server) {
    let server = Server::default();
    server.says.lock().unwrap().extend(says);
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup.clock = Clock::manual();
    setup.mailer = Some(Arc::new(server.clone()));
    let clock = setup.clock.clone();
    let app = App::new().database(MIGRATIONS).serve(services![Send]).jobs(jobs![]);
    (Client::with_setup(app, setup), clock, server)
}

fn mail_is_sent_again_with_the_same_id_until_it_is_taken() {
    let (client, clock, server) = client(&["later", "later"]);
    client.post("/mail/false", &[]);
    for is_done in [false, false, true] {
        assert_eq!(run_one(&client).unwrap().is_done(), is_done);
        clock.advance(Duration::from_mins(1));
    }
    assert_eq!(run_one(&client), None);
    let given = server.given.lock().unwrap();
    assert_eq!(given.len(), 3);
    assert!(given[0].id.as_deref().is_some_and(|id| id.starts_with("job-")), "{:?}", given[0].id);
    assert!(given.iter().all(|mail| *mail == given[0]));
    assert_eq!(given[0].html.as_deref(), Some("<p>It is.</p>"));
    assert_eq!(given[0].attachments[0].bytes, ATTACHED);
}

fn mail_that_is_refused_for_good_is_a_dead_letter() {
    let (client, _, server) = client(&["550 no such user here"]);
    client.post("/mail/false", &[]);
    let ran = run_one(&client).unwrap();
    assert!(ran.is_dead() && ran.error.as_deref() == Some("550 no such user here"), "{ran:?}");
    assert_eq!(server.given.lock().unwrap().len(), 1);
}

fn mail_of_a_request_that_failed_is_never_sent() {
    let (client, _, server) = client(&[]);
    assert_eq!(client.post("/mail/true", &[]).status(), 409);
    assert_eq!(run_one(&client), None);
    assert!(server.given.lock().unwrap().is_empty());
}
