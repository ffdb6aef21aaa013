//! The thread that delivers, and its queue.
//!
//! It has all connections to the mail server: a request only puts its mail into the queue. Each attempt is a connection
//! of its own, so a connection that the server has closed meanwhile costs no mail.
//!
//! Start reading at [`Smtp::send`](skep::mail::Mailer::send).

use std::future::ready;
use std::io;
use std::process;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::transport::smtp;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor};
use skep::mail::{Delivery, Failure, Mail, Mailbox, Mailer, Permanent};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::timeout;

use super::{body, header};

/// Mails that are sent at the same time, each over a connection of its own.
const CONNECTIONS: usize = 4;

/// How long the process waits at its end for what is in the queue.
const LAST_MAILS: Duration = Duration::from_secs(10);

type Transport = AsyncSmtpTransport<Tokio1Executor>;
type Outcome = Result<(), Failure>;

/// Delivers mail to one mail server.
pub(super) struct Smtp {
    transport: Transport,
    /// For one mail, both attempts included.
    timeout: Duration,
    /// Mails that wait.
    queue: usize,
    /// Bytes of mails that wait or are being sent.
    bytes: Room,
    thread: Mutex<Option<Postman>>,
}

/// How many bytes mails may have, all together, and what is left of them.
struct Room {
    all: u32,
    free: Arc<Semaphore>,
}

/// The thread that delivers.
struct Postman {
    /// A forked process has no thread of its parent's.
    process: u32,
    jobs: Sender<Job>,
    ended: std::sync::mpsc::Receiver<()>,
}

/// Work for it.
enum Job {
    Deliver(Mail, oneshot::Sender<Outcome>, OwnedSemaphorePermit),
    Discard(#[expect(dead_code, reason = "it is dropped where others are sent")] Mail),
}

impl Smtp {
    /// A mail server by its URL. No connection is opened.
    ///
    /// # Errors
    /// What is wrong with the URL, without the password in it.
    pub(super) fn new(url: &str, timeout: Duration, queue: usize, bytes: u32) -> Result<Self, String> {
        let expected = || {
            "mail.smtp: expected a URL such as smtps://user:password@mail.example.org or \
             smtp://user:password@mail.example.org:587?tls=required"
                .to_owned()
        };
        let transport = Transport::from_url(url).map_err(|_| expected())?.timeout(Some(timeout)).build();
        let bytes = Room { all: bytes, free: Arc::new(Semaphore::new(bytes as usize)) };
        Ok(Self { transport, timeout, queue: queue.max(1), bytes, thread: Mutex::default() })
    }

    fn put(&self, job: Job) -> Outcome {
        let mut thread = skep_units::lock(&self.thread);
        if thread.as_ref().is_none_or(|postman| postman.process != process::id() || postman.jobs.is_closed()) {
            *thread = Some(Postman::start(self.transport.clone(), self.timeout, self.queue)?);
        }
        let jobs = &thread.as_ref().expect("it was started above").jobs;
        jobs.try_send(job).map_err(|_| "the queue for mail is full (limits.mail_queue)".into())
    }
}

impl Room {
    /// Room for a mail, until it has been sent.
    fn take(&self, mail: &Mail) -> Result<OwnedSemaphorePermit, Failure> {
        let (len, all) = (mail.len(), self.all);
        let bytes = u32::try_from(len).ok().filter(|bytes| *bytes <= all);
        let bytes =
            bytes.ok_or_else(|| Permanent::mail(format!("it has {len} bytes, {all} at most (limits.mail_bytes)")))?;
        let room = Arc::clone(&self.free).try_acquire_many_owned(bytes);
        room.map_err(|_| "the queue for mail is full (limits.mail_bytes)".into())
    }
}

impl Mailer for Smtp {
    fn send(&self, mail: Mail) -> Delivery {
        let (done, outcome) = oneshot::channel();
        let put = self.bytes.take(&mail).and_then(|room| self.put(Job::Deliver(mail, done, room)));
        if let Err(failure) = put {
            tracing::error!(target: "skep::mail", "a mail was not sent: {failure}");
            return Box::pin(ready(Err(failure)));
        }
        Box::pin(async move { outcome.await.unwrap_or_else(|_| Err("the process stopped before it was sent".into())) })
    }

    fn discard(&self, mail: Mail) {
        // If the queue is full, nobody needs to hear of this one.
        let _ = self.put(Job::Discard(mail));
    }
}

impl Drop for Smtp {
    fn drop(&mut self) {
        let thread = self.thread.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let Some(Postman { process, jobs, ended }) = thread else { return };
        drop(jobs);
        if process == process::id() && ended.recv_timeout(LAST_MAILS) == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
        {
            tracing::error!(target: "skep::mail", "the process stops before all mail in its queue was sent");
        }
    }
}

impl Postman {
    fn start(transport: Transport, limit: Duration, queue: usize) -> io::Result<Self> {
        let (jobs, waiting) = mpsc::channel(queue);
        let (end, ended) = std::sync::mpsc::channel();
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("mail".into()).spawn(move || {
            runtime.block_on(deliver_all(transport, limit, waiting));
            drop(end);
        })?;
        Ok(Self { process: process::id(), jobs, ended })
    }
}

/// Delivers what comes until nobody can send any more, and then what is left.
async fn deliver_all(transport: Transport, limit: Duration, mut waiting: Receiver<Job>) {
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let connection = Arc::clone(&connections).acquire_owned().await.expect("it is never closed");
        let Some(job) = waiting.recv().await else { break };
        let Job::Deliver(mail, done, room) = job else { continue };
        let transport = transport.clone();
        tokio::spawn(async move {
            let outcome = deliver(&transport, limit, &mail).await;
            if let Err(failure) = &outcome {
                // Not to whom: addresses are people.
                tracing::error!(target: "skep::mail", subject = mail.subject, "a mail was not sent: {failure}");
            }
            let _ = done.send(outcome);
            drop((connection, room));
        });
    }
    let all = u32::try_from(CONNECTIONS).expect("there are few");
    drop(connections.acquire_many(all).await);
}

/// Sends a mail, and once more if the first attempt did not end with the server's refusal.
async fn deliver(transport: &Transport, limit: Duration, mail: &Mail) -> Outcome {
    let message = message(mail)?;
    let attempts = async {
        match transport.send(message.clone()).await {
            Err(error) if !error.is_permanent() => transport.send(message).await,
            outcome => outcome,
        }
    };
    match timeout(limit, attempts).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(failure(error)),
        Err(_) => Err(format!("the mail server took longer than {limit:?} (mail.timeout)").into()),
    }
}

/// What the server refuses for good is refused again (RFC 5321, 4.2.1); 550, 551 and 553 speak of the recipient.
fn failure(error: smtp::Error) -> Failure {
    let code = error.status().filter(|_| error.is_permanent()).map(|code| code.to_string());
    match code.as_deref() {
        None => error.into(),
        Some("550" | "551" | "553") => Permanent::recipient(error.to_string()).into(),
        Some(_) => Permanent::mail(error.to_string()).into(),
    }
}

fn message(mail: &Mail) -> Result<Message, Failure> {
    let from = mail.from.as_deref().ok_or_else(|| Permanent::mail("it has no sender: set mail.from"))?;
    let from: Mailbox = from.parse().map_err(|wrong| Permanent::mail(format!("its sender: {wrong}")))?;
    let recipient = |text: &str| text.parse::<Mailbox>().map_err(|wrong| Permanent::recipient(wrong.to_string()));
    let to = recipient(&mail.to)?;
    let id = match &mail.id {
        Some(id) => id.clone(),
        None => skep::Secret::generate_key().map_err(|error| error.to_string())?.into_inner()[..32].to_owned(),
    };
    let (_, domain) = from.address.rsplit_once('@').unwrap_or_default();
    let mut message = Message::builder()
        .envelope(Envelope::new(Some(address(&from)?), vec![address(&to)?])?)
        .message_id(Some(format!("<{id}@{domain}>")))
        .raw_header(field("From", from.to_string(), header::mailbox("From", &from)))
        .raw_header(field("To", to.to_string(), header::mailbox("To", &to)))
        .raw_header(field("Subject", mail.subject.clone(), header::text("Subject", &mail.subject)))
        // RFC 3834: who is on holiday does not answer it.
        .raw_header(field("Auto-Submitted", "auto-generated".into(), "auto-generated".into()));
    if let Some(reply_to) = &mail.reply_to {
        let reply_to = recipient(reply_to)?;
        message = message.raw_header(field("Reply-To", reply_to.to_string(), header::mailbox("Reply-To", &reply_to)));
    }
    if let Some(url) = &mail.unsubscribe {
        let one_click = "List-Unsubscribe=One-Click".to_owned();
        message = message
            .raw_header(field("List-Unsubscribe", format!("<{url}>"), format!("<{url}>")))
            .raw_header(field("List-Unsubscribe-Post", one_click.clone(), one_click));
    }
    body::add(message, mail)
}

fn field(name: &'static str, raw: String, encoded: String) -> HeaderValue {
    HeaderValue::dangerous_new_pre_encoded(HeaderName::new_from_ascii_str(name), raw, encoded)
}

fn address(mailbox: &Mailbox) -> Result<Address, Permanent> {
    mailbox.address.parse().map_err(|wrong| Permanent::recipient(format!("{}: {wrong}", mailbox.address)))
}

#[cfg(test)]
#[path = "../../tests/unit/smtp.rs"]
mod tests;
