//! What a request cost, and on what: for a server that counts and lists.
//!
//! A server asks for an account with [`Request::with_account`](crate::Request::with_account). While the response is
//! made, a `Scope` spans each step, so that SQL and the cache find the account of the request they work for. Without
//! one, nothing is measured.

use std::cell::Cell;
use std::time::{Duration, Instant};

use skep_sql::StatementObserver;

/// The most different statements of one request that are listed one by one; others count in the total time only.
const MOST_STATEMENTS: usize = 16;

/// The longest text of a statement that is noted.
const LONGEST_STATEMENT: usize = 400;

/// The most steps of a traced request.
const MOST_STEPS: usize = 64;

thread_local! {
    static CURRENT: Cell<Option<Box<Account>>> = const { Cell::new(None) };
    /// Of the response whose making was abandoned last.
    static ABANDONED: Cell<Option<Box<Account>>> = const { Cell::new(None) };
}

/// What a request cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The id in error pages and in the log.
    pub id: u64,
    /// Its service: a position in `Site::service_names`.
    pub service: u16,
    /// The time in which it waited for the database.
    pub sql: Duration,
    /// How many statements it ran.
    pub statements: u32,
    /// The statements that are listed one by one.
    pub by_statement: Vec<StatementTime>,
    /// The time in which it waited for the cache, without that of making what was not cached.
    pub cache: Duration,
    /// How often it asked the cache.
    pub cache_reads: u32,
    /// The time in which it wrote HTML and JSON, without that of SQL and the cache meanwhile.
    pub render: Duration,
    /// Something is being written, of which the rest is a part.
    pub is_rendering: bool,
    /// Why it failed, if that is the fault of the server.
    pub cause: Option<String>,
    /// Its first statements and look-ups in the cache, if it is traced.
    pub steps: Option<Vec<Step>>,
}

/// A part of a request's work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was done.
    pub work: Work,
    /// When it began.
    pub start: Instant,
    /// How long it took.
    pub time: Duration,
}

/// The work of a [`Step`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// A statement: its position in `by_statement`. `None`: it is not listed there.
    Statement(Option<usize>),
    /// A look-up in the cache, and making what was not cached.
    Cache,
}

/// The runs of one statement in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementTime {
    /// Its text, without values.
    pub text: Box<str>,
    /// How often it ran.
    pub runs: u32,
    /// How long, in all.
    pub time: Duration,
}

impl Account {
    fn note_step(&mut self, start: Instant, time: Duration, work: Work) {
        if let Some(steps) = self.steps.as_mut().filter(|steps| steps.len() < MOST_STEPS) {
            steps.push(Step { work, start, time });
        }
    }

    /// Returns its position in `by_statement`.
    fn note_statement(&mut self, text: &str, time: Duration) -> Option<usize> {
        self.sql += time;
        self.statements += 1;
        let text = &text[..text.floor_char_boundary(LONGEST_STATEMENT)];
        if let Some(position) = self.by_statement.iter().position(|known| *known.text == *text) {
            self.by_statement[position].runs += 1;
            self.by_statement[position].time += time;
            return Some(position);
        }
        if self.by_statement.len() == MOST_STATEMENTS {
            return None;
        }
        self.by_statement.push(StatementTime { text: text.into(), runs: 1, time });
        Some(self.by_statement.len() - 1)
    }
}

extension! {
    /// What a framework does with an account.
    pub trait AccountExt for Account {
        /// Of a request with this id, which has cost nothing yet.
        fn new(id: u64) -> Self {
            let (sql, cache, render, statements, cache_reads) = Default::default();
            let (by_statement, cause, steps) = Default::default();
            Self {
                id,
                service: 0,
                sql,
                statements,
                by_statement,
                cache,
                cache_reads,
                render,
                is_rendering: false,
                cause,
                steps,
            }
        }

        /// Notes each step, too.
        #[must_use]
        fn traced(self, yes: bool) -> Self {
            Self { steps: yes.then(Vec::new), ..self }
        }
    }
}

/// The account of a response that is being made, if the server asked for one.
#[derive(Debug)]
pub struct Scope(pub Option<Box<Account>>);

impl Scope {
    /// Runs a step of making the response.
    pub fn enter<T>(&mut self, step: impl FnOnce() -> T) -> T {
        /// Leaves the scope, also by way of a panic.
        struct Leave<'s>(&'s mut Scope, Option<Box<Account>>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.0 = CURRENT.replace(self.1.take());
            }
        }
        if self.0.is_none() {
            return step();
        }
        let outer = CURRENT.replace(self.0.take());
        let _leave = Leave(self, outer);
        step()
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        if let Some(account) = self.0.take() {
            ABANDONED.set(Some(account));
        }
    }
}

/// The account of a response whose making was just abandoned: its client is gone, or it took too long.
#[must_use]
pub fn take_abandoned() -> Option<Box<Account>> {
    ABANDONED.take()
}

/// Changes the account of the request that this thread works for, if there is one.
fn with(change: impl FnOnce(&mut Account)) {
    if let Some(mut account) = CURRENT.take() {
        change(&mut account);
        CURRENT.set(Some(account));
    }
}

/// Notes which service answers.
#[inline]
pub fn set_service(service: u16) {
    with(|account| account.service = service);
}

/// The time since its start, if there is an account to note it in.
#[derive(Debug)]
pub struct Timer(Option<Instant>);

impl Timer {
    pub fn start() -> Self {
        let mut is_on = false;
        with(|_| is_on = true);
        Self(is_on.then(Instant::now))
    }

    /// The cache was asked for that time, less what making the value took.
    pub fn note_cache(&self, made: Duration) {
        if let Some(start) = self.0 {
            with(|account| {
                let time = start.elapsed();
                account.cache_reads += 1;
                account.cache += time.saturating_sub(made);
                account.note_step(start, time, Work::Cache);
            });
        }
    }

    /// The time since the start; zero without an account.
    pub fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}

/// Notes the statements of `skep-sql` in the account of the request that waited for them.
pub struct Statements;

impl StatementObserver for Statements {
    fn is_interested(&self) -> bool {
        let mut is_on = false;
        with(|_| is_on = true);
        is_on
    }

    fn has_run(&self, text: &str, start: Instant, time: Duration) {
        with(|account| {
            let position = account.note_statement(text, time);
            account.note_step(start, time, Work::Statement(position));
        });
    }
}

/// HTML or JSON is being written, if there is an account to note it in, until this is dropped. Of pieces within a
/// piece, the outermost one counts, so that a page of a thousand pieces looks at the clock twice.
#[derive(Debug)]
#[must_use]
pub struct Rendering(Option<Began>);

/// When, and how long the request had waited for SQL and the cache by then.
#[derive(Debug)]
struct Began {
    at: Instant,
    waited: Duration,
}

impl Rendering {
    /// It begins now. The code of `html!` calls it.
    pub fn begin() -> Self {
        let mut began = None;
        with(|account| {
            if !std::mem::replace(&mut account.is_rendering, true) {
                began = Some(Began { at: Instant::now(), waited: account.sql + account.cache });
            }
        });
        Self(began)
    }
}

impl Drop for Rendering {
    fn drop(&mut self) {
        let Some(began) = self.0.take() else { return };
        with(|account| {
            let waited = (account.sql + account.cache).saturating_sub(began.waited);
            account.render += began.at.elapsed().saturating_sub(waited);
            account.is_rendering = false;
        });
    }
}

#[cfg(test)]
#[path = "../tests/unit/account.rs"]
mod tests;
