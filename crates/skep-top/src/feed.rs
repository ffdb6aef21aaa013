//! Replies of the server, from threads of their own: a server may take its time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use skep_server::control::{Client, Overview};

const INTERVAL: Duration = Duration::from_secs(1);

/// What the server has said.
#[derive(Debug)]
pub(super) enum News {
    Status(Box<Snapshot>),
    /// There is no status at the moment.
    Lost(String),
    /// The reply to a command, or why it was refused.
    Reply(Result<String, String>),
}

/// The server at one moment.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) at: Instant,
    pub(super) overview: Overview,
    /// Or why nothing is counted.
    pub(super) metrics: Result<Value, String>,
}

/// What happened between two snapshots, in a second.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Rates {
    /// By the number of the worker: requests, and seconds of processor time.
    pub(super) workers: BTreeMap<u32, (f64, f64)>,
}

/// The threads that ask.
pub(super) struct Feed {
    client: Arc<Client>,
    news: Sender<News>,
}

/// Asks once.
pub(super) fn ask(client: &Client) -> Result<Snapshot, String> {
    let overview = client.overview()?;
    Ok(Snapshot { at: Instant::now(), overview, metrics: client.metrics() })
}

impl Feed {
    /// Asks again and again, until nobody listens.
    pub(super) fn start(client: Arc<Client>) -> (Self, Receiver<News>) {
        let (news, receiver) = channel();
        let feed = Self { client: Arc::clone(&client), news: news.clone() };
        thread::spawn(move || {
            loop {
                thread::sleep(INTERVAL);
                let status = ask(&client).map_or_else(News::Lost, |snapshot| News::Status(Box::new(snapshot)));
                if news.send(status).is_err() {
                    return;
                }
            }
        });
        (feed, receiver)
    }

    /// Sends a command; the reply, which may take as long as a start of the application, is news.
    pub(super) fn send(&self, command: String) {
        let (client, news) = (Arc::clone(&self.client), self.news.clone());
        thread::spawn(move || news.send(News::Reply(client.send(&command))));
    }
}

impl Rates {
    /// Of the workers that are in both.
    pub(super) fn between(before: &Snapshot, now: &Snapshot) -> Self {
        let seconds = now.at.saturating_duration_since(before.at).as_secs_f64();
        if seconds <= 0.0 {
            return Self::default();
        }
        let rate = |worker: &skep_server::control::WorkerOverview| {
            let then = before.overview.workers.iter().find(|then| then.number == worker.number)?;
            #[expect(clippy::cast_precision_loss, reason = "requests of a second")]
            let requests = worker.requests.saturating_sub(then.requests) as f64 / seconds;
            Some((worker.number, (requests, (worker.processor - then.processor).max(0.0) / seconds)))
        };
        Self { workers: now.overview.workers.iter().filter_map(rate).collect() }
    }

    pub(super) fn requests(&self) -> f64 {
        self.workers.values().map(|(requests, _)| requests).sum()
    }

    /// Of all workers; 1 is a core.
    pub(super) fn processor(&self) -> f64 {
        self.workers.values().map(|(_, processor)| processor).sum()
    }
}
