//! The loop: build, run, wait for a change.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;

use crate::application::Application;
use crate::build::{Built, Failure, Outcome, build};
use crate::front::{Front, mails};
use crate::options::Options;
use crate::package::Package;
use crate::program::Program;
use crate::sources::{Change, Sources};
use crate::state::News;
use crate::terminal::{self, say};
use crate::tls::{Origin, Tls, Upstream};
use crate::watch::{self, Seen};

/// Changes so soon after one another are one change: an editor saves several files, or one in several steps.
const SETTLED: Duration = Duration::from_millis(15);

/// A change is not waited for longer than this, however many follow it.
const PATIENCE: Duration = Duration::from_millis(300);

/// What the loop has.
struct Work {
    package: Package,
    sources: Sources,
    changes: Changes,
    /// A change ended the compiler before: what a build itself writes must not end it for ever.
    was_cut: bool,
    application: Application,
    /// What was built last does not run.
    is_behind: bool,
    news: Arc<News>,
    /// What is in front of the application, and the application.
    origin: Origin,
    upstream: Upstream,
    /// The pages of the application have been named.
    is_introduced: bool,
}

/// Runs the command until it is interrupted.
pub(crate) async fn run(options: Options) -> Result<(), String> {
    let package = Package::find(&options)?;
    let here = std::env::current_dir().map_err(|error| format!("this folder: {error}"))?;
    let listener = TcpListener::bind(options.listen).await.map_err(|error| taken(options.listen, &error))?;
    let listen = listener.local_addr().map_err(|error| error.to_string())?;
    let address = free_address().await.map_err(|error| format!("no address for the application: {error}"))?;
    let mut roots = package.roots.clone();
    roots.push(here.clone());
    let tls = options.tls.then(|| Tls::new(&package)).transpose()?;
    let (origin, upstream) = (Origin { listen, is_safe: options.tls }, Upstream { address, tls });
    let changes = watch::start(&roots, &package.target).map_err(|error| error.to_string())?;
    let executable = package.target.join("skep-dev").join(&package.bin);
    let program = Program::new(executable, listen, &upstream, &options.arguments);
    mails::clear(&program.mails())?;
    let front = Front::new((origin, upstream.clone()), program.clone(), &options, &package);
    let news = Arc::clone(&front.news);
    tokio::spawn(front.serve(listener));
    let application = Application::new(program);
    let sources = Sources::new(&package, &here);
    terminal::print(&package, origin, &upstream);
    if options.open {
        open(origin);
    }
    let mut work = Work {
        package,
        sources,
        changes: Changes::new(changes),
        was_cut: false,
        application,
        is_behind: false,
        news,
        origin,
        upstream,
        is_introduced: false,
    };
    let done = tokio::select! {
        done = work.repeat() => done,
        () = interrupted() => Ok(()),
    };
    say("ending");
    work.application.stop().await;
    done
}

impl Front {
    fn new(
        (origin, upstream): (Origin, Upstream),
        program: Program,
        options: &Options,
        package: &Package,
    ) -> Arc<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Arc::new(Self {
            origin,
            upstream,
            program,
            news: Arc::new(News::new(u64::try_from(now.as_millis()).unwrap_or_default())),
            editor: options.editor.clone(),
            workspace: package.workspace.clone(),
            name: package.bin.clone(),
            nonce: format!("{:016x}", RandomState::new().hash_one(now)),
        })
    }
}

impl Work {
    /// Builds and runs, again and again.
    async fn repeat(&mut self) -> Result<(), String> {
        let mut wanted = Change::Source;
        loop {
            let begun = Instant::now();
            let during = if wanted == Change::Source { self.build(begun).await? } else { self.load(begun).await };
            wanted = match during {
                Some(change) => change,
                None => self.next_change().await,
            };
        }
    }

    /// Builds and runs what was built. A change meanwhile ends the compiler, once, and is the result.
    async fn build(&mut self, begun: Instant) -> Result<Option<Change>, String> {
        say("building");
        let outcome = {
            let (package, news) = (&self.package, Arc::clone(&self.news));
            let (changes, sources) = (&mut self.changes, &self.sources);
            tokio::select! {
                outcome = build(package, &news) => outcome?,
                change = next_change(changes, sources, &news, Change::Settings), if !self.was_cut => {
                    self.was_cut = true;
                    return Ok(Some(change.max(Change::Source)));
                }
            }
        };
        self.was_cut = false;
        match outcome {
            Outcome::Failed(failure) => self.on_failure(failure, begun),
            Outcome::Built(built) => self.on_built(&built, begun).await,
        }
        Ok(None)
    }

    fn on_failure(&self, failure: Failure, begun: Instant) {
        let title = match failure.errors {
            0 => "Cargo does not build it".to_owned(),
            1 => "An error of the compiler".to_owned(),
            errors => format!("{errors} errors of the compiler"),
        };
        let goes_on = if self.application.runs() { ": the version before it goes on serving" } else { "" };
        say(format_args!("not built in {}{goes_on}", seconds(begun)));
        self.news.failed(title, failure.text, None);
    }

    async fn on_built(&mut self, built: &Built, begun: Instant) {
        self.sources.read(&self.package, &built.executable, built.reads_assets);
        if built.is_fresh && self.application.runs() && !self.is_behind {
            say(format_args!("nothing to build, in {}", seconds(begun)));
            return self.news.unchanged();
        }
        say(format_args!("built in {}; watching {}", seconds(begun), self.sources.describe()));
        let swapped = Instant::now();
        let ran = self.application.run(&built.executable).await;
        let serves = ran.is_ok();
        self.on_run(ran, swapped);
        if serves && !std::mem::replace(&mut self.is_introduced, true) {
            terminal::print_pages(self.application.program(), &self.upstream, self.origin).await;
        }
    }

    /// Has the server read its settings again, if it runs.
    async fn load(&mut self, begun: Instant) -> Option<Change> {
        let loaded = self.application.load().await;
        self.on_run(loaded, begun);
        None
    }

    fn on_run(&mut self, ran: Result<(), String>, begun: Instant) {
        self.is_behind = ran.is_err();
        match ran {
            Ok(()) => {
                self.news.served();
                say(format_args!("the new version serves after {}", seconds(begun)));
            }
            Err(reason) => {
                let goes_on = if self.application.runs() { "; the version before it goes on serving" } else { "" };
                say(format_args!("the new version does not start{goes_on}:\n{reason}"));
                let suggestion = skep_units::suggestion(&reason);
                self.news.failed("The new version does not start".to_owned(), reason, suggestion);
            }
        }
    }

    /// Waits for a change that the browser alone does not see to.
    async fn next_change(&mut self) -> Change {
        loop {
            tokio::select! {
                change = next_change(&mut self.changes, &self.sources, &self.news, Change::Settings) => return change,
                reason = self.application.ended() => {
                    say(format_args!("the application ended; it starts again after the next change:\n{reason}"));
                    self.news.stopped();
                    let suggestion = skep_units::suggestion(&reason);
                    self.news.failed("The application ended".to_owned(), reason, suggestion);
                }
            }
        }
    }
}

/// Waits for a change of at least this kind; of what is less, the browser hears at once.
async fn next_change(changes: &mut Changes, sources: &Sources, news: &News, least: Change) -> Change {
    loop {
        let change = changes.settled(sources).await;
        if change >= least {
            return change;
        }
        say(if change == Change::Style { "a style sheet changed" } else { "an asset changed" });
        news.assets_changed(change == Change::Style);
    }
}

/// What was seen, and what was taken of it: who waits may be dropped at any `await`, and nothing is lost.
struct Changes {
    seen: UnboundedReceiver<Seen>,
    pending: Option<Change>,
}

impl Changes {
    fn new(seen: UnboundedReceiver<Seen>) -> Self {
        Self { seen, pending: None }
    }

    /// Waits for changes, and for the end of them.
    async fn settled(&mut self, sources: &Sources) -> Change {
        while self.pending.is_none() {
            // The thread that watches ends only if the kernel refuses to go on.
            let Some(seen) = self.seen.recv().await else { return std::future::pending().await };
            self.add(&seen, sources);
        }
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE
            && let Ok(Some(seen)) = tokio::time::timeout(SETTLED, self.seen.recv()).await
        {
            self.add(&seen, sources);
        }
        self.pending.take().unwrap_or(Change::Source)
    }

    fn add(&mut self, seen: &Seen, sources: &Sources) {
        let change = match seen {
            Seen::File(file) => sources.change(file),
            Seen::Overflow => Some(Change::Source),
        };
        self.pending = self.pending.max(change);
    }
}

fn taken(address: SocketAddr, error: &std::io::Error) -> String {
    if error.kind() != std::io::ErrorKind::AddrInUse {
        return format!("--listen {address}: {error}");
    }
    format!(
        "{address} is taken: does `skep dev` run already? Another address is --listen 127.0.0.1:{}",
        address.port() + 1
    )
}

/// A port that is free now. The application binds it again at once.
async fn free_address() -> std::io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()
}

async fn interrupted() {
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let [Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)] = kinds.map(signal) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
        _ = hangup.recv() => {}
    }
}

fn open(origin: Origin) {
    let opened = std::process::Command::new("xdg-open")
        .arg(format!("{origin}/"))
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn();
    if let Err(error) = opened {
        say(format_args!("--open: xdg-open does not start: {error}"));
    }
}

fn seconds(since: Instant) -> String {
    format!("{:.2} s", since.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_change_outlives_who_waited_for_it() {
        let (to, seen) = tokio::sync::mpsc::unbounded_channel();
        let (mut changes, sources) = (Changes::new(seen), Sources::default());
        to.send(Seen::Overflow).unwrap();
        tokio::select! {
            biased;
            _ = changes.settled(&sources) => panic!("it waits for more"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(changes.settled(&sources).await, Change::Source);
    }
}
