//! The application that fails when it is asked to. What it is called, and what is wrong with it from its start, stands
//! behind the end of its executable: so one build makes many versions.

mod attacked;

use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::{Migration, Migrations};

/// An executable with this first argument is the application.
pub const APPLICATION: &str = "drill-application";

/// Where the text begins that [`version`] reads, counted from the end of the file.
pub const MARK: usize = 32;

/// 13 bytes.
#[derive(Service)]
#[service(GET "/")]
struct Hello;

impl Handle for Hello {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        if version() == "unwell" {
            return Err(Error::internal("this version is unwell"));
        }
        Ok(Response::text("Hello, world!"))
    }
}

/// A static that counts up, a value that was counted up once by initialisation, and the process.
#[derive(Service)]
#[service(GET "/count")]
struct Count;

static COUNTER: AtomicU64 = AtomicU64::new(0);

impl Handle for Count {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let count = COUNTER.fetch_add(1, Ordering::Relaxed) + 1;
        let started = cx.state::<Started>().0.load(Ordering::Relaxed);
        Ok(Response::text(format!("{count} {started} {}", std::process::id())))
    }
}

/// How often the application was initialised in this process, or in one that it was forked from.
#[derive(Default)]
struct Started(AtomicU64);

/// The process that made it: all clients get the same response as long as it is cached.
#[derive(Service)]
#[service(GET "/kept")]
struct CachedPage;

impl PublicPage for CachedPage {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_hours(1))
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        Ok(Response::text(std::process::id().to_string()))
    }
}

/// The version, and the process.
#[derive(Service)]
#[service(GET "/version")]
struct Version;

impl Handle for Version {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(version()))
    }
}

/// Two numbers that nobody can foretell: of this thread's hasher, and of the id of the request.
#[derive(Service)]
#[service(GET "/random")]
struct Random;

impl Handle for Random {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(cx.id().to_string()))
    }
}

#[derive(Service)]
#[service(GET "/slow/{millis}")]
struct Slow {
    millis: u64,
}

impl Handle for Slow {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        tokio::time::sleep(Duration::from_millis(self.millis)).await;
        Ok(Response::text("at last"))
    }
}

/// Keeps its thread for good.
#[derive(Service)]
#[service(GET "/hang")]
struct Hang;

impl Handle for Hang {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        hang_for_ever();
        Ok(Response::text("never"))
    }
}

#[inline(never)]
fn hang_for_ever() {
    loop {
        std::thread::sleep(Duration::from_hours(1));
    }
}

/// Ends its process.
#[derive(Service)]
#[service(GET "/crash/{how}")]
struct Crash {
    how: String,
}

impl Handle for Crash {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        match &*self.how {
            "abort" => std::process::abort(),
            // The standard library looks at the first one, which an access to wrong memory would repeat.
            "segv" => loop {
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::SEGV);
                std::thread::sleep(Duration::from_millis(1));
            },
            _ => std::process::exit(3),
        }
    }
}

/// Forgets 1 MB.
#[derive(Service)]
#[service(GET "/leak")]
struct Leak;

impl Handle for Leak {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        // What nobody looks at, an optimiser does not even allocate.
        let memory: &mut [u8] = std::hint::black_box(Box::leak(vec![1; 1 << 20].into_boxed_slice()));
        Ok(Response::text(memory.len().to_string()))
    }
}

/// 256 MiB that initialisation leaves in memory, in pieces as programs have them.
fn fill_memory() {
    let pieces: Vec<Box<[u8]>> = (0..4096).map(|_| vec![1; 64 << 10].into_boxed_slice()).collect();
    Box::leak(Box::new(pieces));
}

/// The name behind the end of this executable; `main` if it ends without one.
#[must_use]
pub fn version() -> String {
    static VERSION: std::sync::OnceLock<String> = std::sync::OnceLock::new();
    VERSION.get_or_init(|| read_version().unwrap_or_else(|| "main".to_owned())).clone()
}

fn read_version() -> Option<String> {
    let file = std::fs::File::open("/proc/self/exe").ok()?;
    let mut bytes = [0; MARK];
    file.read_exact_at(&mut bytes, file.metadata().ok()?.len() - MARK as u64).ok()?;
    let text = std::str::from_utf8(&bytes).ok()?;
    text.strip_prefix("\nversion ").map(|name| name.trim().to_owned())
}

const TABLE: Migration = Migration::new(1, "0001_post.sql", "create table post (title text not null);");
const ADDS: Migration = Migration::new(2, "0002_add.sql", "alter table post add column body text;");
const BREAKS: Migration =
    Migration::new(3, "0003_drop.sql", "-- Nobody needs it.\nalter table post drop column title;");

/// The application: `/`, `/version`, `/count`, `/kept`, `/random`, `/slow/MILLISECONDS`, and what no application should
/// have: `/hang`, `/leak`, `/crash/abort`, `/crash/segv`, `/crash/exit`. Besides, what hostile clients attack: forms,
/// files, sessions, cached pages.
///
/// ```no_run
/// skep_server::Server::new(skep_drill::application).run_with(["--listen", "127.0.0.1:0"]);
/// ```
#[must_use]
pub fn application() -> App {
    let version = version();
    let app = match &*version {
        "once" => plain().serve(attacked::ONCE),
        "once db" => plain().serve(attacked::ONCE).database(Migrations::new(&[TABLE])),
        "noted" => {
            note();
            plain()
        }
        "db one" => plain().database(Migrations::new(&[TABLE])),
        "db two" => plain().database(Migrations::new(&[TABLE, ADDS])),
        "db three" => plain().database(Migrations::new(&[TABLE, ADDS, BREAKS])),
        _ => plain(),
    };
    if version.starts_with("once") {
        return app;
    }
    app.allow_unmounted(attacked::ONCE, "`prefork` would need a database for it")
}

/// Writes down which process has made the application.
fn note() {
    use std::io::Write;
    let file = std::fs::File::options().create(true).append(true).open(NOTES);
    // Its reader misses what could not be written.
    let _ = file.and_then(|mut file| writeln!(file, "{}", std::process::id()));
}

/// Where the version "noted" writes.
pub const NOTES: &str = "made-by";

fn plain() -> App {
    App::new()
        .name("drill", "1.2.3")
        .serve(services![Hello, CachedPage, Count, Version, Random, Slow, Hang, Crash, Leak])
        .serve(attacked::ATTACKED)
        .state(Started::default())
        .on_start(|site| {
            site.state::<Started>().0.fetch_add(1, Ordering::Relaxed);
            match &*version() {
                "dies" => std::process::abort(),
                "large" => {
                    fill_memory();
                    Ok(())
                }
                "refuses" => Err(Error::internal("this version does not want to start")),
                "waits" => {
                    hang_for_ever();
                    Ok(())
                }
                _ => Ok(()),
            }
        })
}
