//! A disk that is full: one status, whatever could not be written, and all is well again when there is room.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::form::Upload;
use skep::prelude::*;
use skep::session::Key;
use skep_server::Running;

use super::support::{Answer, Raw, start_app};

pub(crate) const SERVICES: skep::Services = skep::services![Send, Remember, Export, Kept];

const NAME: Key<String> = Key::new("name");

#[derive(Service)]
#[service(POST "/upload", cross_origin = "a test has no origin")]
pub(crate) struct Send {
    #[form]
    file: Upload,
}

impl Handle for Send {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.file.len().to_string()))
    }
}

#[derive(Service)]
#[service(POST "/session", cross_origin = "a test has no origin")]
pub(crate) struct Remember;

impl Handle for Remember {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&NAME, &"n".repeat(30_000)).await?;
        Ok(Response::text("remembered"))
    }
}

/// Writes a file itself.
#[derive(Service)]
#[service(POST "/export", cross_origin = "a test has no origin")]
pub(crate) struct Export;

impl Handle for Export {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("export-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        fs::write(cx.state::<PathBuf>().join(name), vec![7; 100_000])?;
        Ok(Response::text("exported"))
    }
}

/// A page that a cache on the disk would keep.
#[derive(Service)]
#[service(GET "/page/{number}")]
pub(crate) struct Kept {
    number: u32,
}

impl PublicPage for Kept {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        Ok(Response::text("a page. ".repeat(2000 + self.number as usize)))
    }
}

/// A small file system of its own.
struct Disk(PathBuf);

impl Disk {
    fn new() -> Self {
        let folder = std::env::temp_dir().join(format!("skep-full-disk-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=6m,mode=700", "tmpfs"]).arg(&folder).status();
        assert!(mounted.unwrap().success());
        Self(folder)
    }

    /// Writes until nothing more can be.
    fn fill(&self) {
        let mut file = fs::File::create(self.0.join("fill")).unwrap();
        for size in [4096, 1] {
            while file.write_all(&vec![1; size]).is_ok() {}
        }
    }

    fn free(&self) {
        fs::remove_file(self.0.join("fill")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
        let _ = fs::remove_dir(&self.0);
    }
}

fn server(folder: &Path) -> Running {
    let state = folder.to_owned();
    let app = move || App::new().serve(SERVICES).state(state.clone());
    let path = |name: &str| folder.join(name).display().to_string();
    let pages = format!("file:1MiB path={}", path("pages"));
    start_app(app, &[("listen", "127.0.0.1:0"), ("data", &path("data")), ("cache.pages.tiers", &pages)])
}

fn ask(server: &Running, method: &str, path: &str) -> Answer {
    let (kind, body) = match path {
        "/upload" => {
            let head = "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.bin\"\r\n\r\n";
            ("Content-Type: multipart/form-data; boundary=X\r\n", format!("{head}{}\r\n--X--\r\n", "b".repeat(200_000)))
        }
        _ => ("", String::new()),
    };
    let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\n{kind}Content-Length: {}\r\n\r\n", body.len());
    Raw::connect(server).say(head + &body).answer()
}

#[test]
#[ignore = "needs root: it mounts a small file system"]
fn a_full_disk_is_one_status_and_a_cache_that_cannot_write_is_a_miss() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let disk = Disk::new();
    let server = server(&disk.0);
    let writes = ["/upload", "/session", "/export"];
    for path in writes {
        assert_eq!(ask(&server, "POST", path).status, 200, "{path}");
    }
    disk.fill();
    for path in writes {
        let answer = ask(&server, "POST", path);
        assert_eq!(answer.status, 503, "{path}: {answer:?}");
        assert_eq!(answer.field("retry-after"), Some("5"), "{path}: {}", answer.head);
        assert!(answer.text().contains("lease try again"), "{path}: {}", answer.text());
    }
    for number in [1, 1, 2] {
        assert_eq!(ask(&server, "GET", &format!("/page/{number}")).status, 200);
    }
    disk.free();
    for path in writes {
        assert_eq!(ask(&server, "POST", path).status, 200, "{path}");
    }
    drop(server);
}
