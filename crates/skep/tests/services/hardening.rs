//! What the security reviews found open, and what holds now: one test for each finding.
//! docs/decisions/2026-11-28-security-reviews.md lists them.
#![cfg(not(target_family = "wasm"))]

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::time::Duration;

use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::form::{Text, Upload};
use skep::offload::{Offload, offload, offload_to_end};
use skep::prelude::*;
use skep::sql::{Migration, Migrations};
use skep::test::Client;
use skep::{Method, Setup};

const MIGRATIONS: Migrations =
    Migrations::new(&[Migration::new(1, "0001_note.sql", "create table note (text text not null)")]);

const USER: skep::session::Key<u32> = skep::session::Key::new("user");

#[derive(Service)]
#[service(GET "/")]
struct Index;

impl Handle for Index {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.session().set(&USER, &7).await?;
        cx.set_cookie(&skep::Cookie::new("own", "1"));
        Ok(Response::html(html! { form (Pay::form(cx)) { button { "Pay" } } }))
    }
}

#[derive(Service)]
#[service(POST "/pay", page = Index, once = "2h")]
struct Pay;

impl Handle for Pay {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("paid"))
    }
}

#[derive(Service)]
#[service(GET "/page")]
struct Page;

impl PublicPage for Page {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn page(&self, _cx: &SharedCx<'_>) -> Result {
        Ok(Response::text("page"))
    }
}

#[test]
fn behind_a_proxy_that_ends_tls_an_https_base_url_makes_cookies_secure() {
    for (base, is_secure) in [("https://example.org", true), ("http://example.org", false)] {
        let client = Client::new(App::new().serve(services![Index, Pay]).base_url(base)).without_fetch_metadata();
        let answer = client.get("/");
        let cookies: Vec<_> =
            answer.headers().get_all("set-cookie").iter().map(|value| value.to_str().unwrap().to_owned()).collect();
        assert!(cookies.len() >= 3, "{cookies:?}");
        for cookie in &cookies {
            assert_eq!(cookie.contains("; Secure"), is_secure, "{cookie}");
            let is_ours = cookie.contains("skep-session=") || cookie.contains("skep-form=");
            assert_eq!(cookie.starts_with("__Host-"), is_secure && is_ours, "{cookie}");
        }
    }
}

#[test]
fn a_form_that_is_accepted_once_needs_a_database_where_several_processes_answer() {
    let setup = || {
        let mut setup = Setup::default();
        (setup.several_processes, setup.temporary_database) = (true, true);
        setup
    };
    let refused = App::new().serve(services![Index, Pay]).open(setup()).unwrap_err().to_string();
    assert!(refused.contains("App::database") && refused.contains("prefork"), "{refused}");
    assert!(App::new().serve(services![Index, Pay]).database(MIGRATIONS).open(setup()).is_ok());
    assert!(App::new().serve(services![Page]).open(setup()).is_ok());
}

#[test]
fn a_head_answered_with_304_has_no_length() {
    let client = Client::new(App::new().serve(services![Page]));
    let tag = client.get("/page").header("etag").unwrap().to_owned();
    for method in [Method::GET, Method::HEAD] {
        let answer = client.request(method.clone(), "/page").header("if-none-match", &tag).send();
        assert_eq!((answer.status().as_u16(), answer.header("content-length")), (304, None), "{method}");
    }
    assert_eq!(client.request(Method::HEAD, "/page").send().header("content-length"), Some("4"));
}

#[test]
fn if_match_counts_for_pages_and_comes_before_if_none_match() {
    let client = Client::new(App::new().serve(services![Page]));
    let tag = client.get("/page").header("etag").unwrap().to_owned();
    let status = |fields: &[(&str, &str)]| {
        let request = client.request(Method::GET, "/page");
        fields.iter().fold(request, |request, (name, value)| request.header(name, value)).send().status().as_u16()
    };
    assert_eq!(status(&[("if-match", "\"other\"")]), 412);
    assert_eq!(status(&[("if-match", "\"other\""), ("if-none-match", &tag)]), 412);
    assert_eq!(status(&[("if-match", &tag)]), 200);
    assert_eq!(status(&[("if-match", "*")]), 200);
    assert_eq!(status(&[("if-match", &tag), ("if-none-match", &tag)]), 304);
}

#[cfg(unix)]
#[test]
fn the_database_is_its_owners_only() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::default();
    setup.data = folder.path().join("data");
    let client = Client::with_setup(App::new().serve(services![Page]).database(MIGRATIONS), setup);
    assert_eq!(client.get("/page").status(), 200);
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder.path().join("data")), 0o700);
    let files: Vec<_> =
        std::fs::read_dir(folder.path().join("data")).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.iter().any(|file| file.ends_with("database.sqlite")), "{files:?}");
    for file in files {
        assert_eq!(mode(&file), 0o600, "{}", file.display());
    }
}

#[derive(Service)]
#[service(POST "/upload")]
struct Send {
    #[form]
    files: Vec<Upload>,
}

impl Handle for Send {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let folder = cx.data().join("uploads");
        let on_disk = std::fs::read_dir(folder).map_or(0, Iterator::count);
        Ok(Response::text(format!("{} files, {on_disk} on disk", self.files.len())))
    }
}

#[derive(Service)]
#[service(POST "/text")]
struct Store {
    #[form]
    text: Text<0, 1_000_000>,
}

impl Handle for Store {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text(self.text.as_str().len().to_string()))
    }
}

fn uploads(limit: u64) -> (tempfile::TempDir, Client) {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = Setup::default();
    setup.data = folder.path().into();
    setup.limits.bodies = limit;
    (folder, Client::with_setup(App::new().serve(services![Send, Store]), setup))
}

#[test]
fn many_small_files_go_to_the_disk_once_their_sum_is_large() {
    let (_folder, client) = uploads(1 << 20);
    let content = [7; 10_000];
    let files: Vec<(&str, &str, &str, &[u8])> = (0..50).map(|_| ("files", "a", "", &content[..])).collect();
    let answer = client.request(Method::POST, "/upload").files(&[], &files).send();
    assert_eq!(answer.status(), 200, "{}", answer.text());
    let on_disk: usize = answer.text().split(' ').nth(2).unwrap().parse().unwrap();
    assert!((43..=45).contains(&on_disk), "64 KiB of 500 000 bytes stay in memory: {}", answer.text());
}

#[test]
fn bodies_in_memory_have_a_budget_that_all_requests_share() {
    let (_folder, client) = uploads(10_000);
    let text = |len: usize| client.post("/text", &[("text", &"a".repeat(len))]).status().as_u16();
    assert_eq!(text(9_000), 200);
    assert_eq!(text(11_000), 503);
    assert_eq!(text(9_000), 200, "what a request held is free again when it is answered");
    let content = vec![7; 20_000];
    let answer = client.request(Method::POST, "/upload").files(&[], &[("files", "a", "", &content)]).send();
    assert_eq!(answer.status(), 503);
}

#[test]
fn a_sealed_value_opens_for_its_purpose_until_it_expires() {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, skep::cache::Clock::manual());
    let clock = setup.clock.clone();
    let site = App::new().open(setup).unwrap();
    let sealed = site.seal("reset", &("ann", 7), Duration::from_hours(1)).unwrap();
    assert!(sealed.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)), "{sealed}");
    let open = |purpose: &str, text: &str| site.unseal::<(String, u32)>(purpose, text).unwrap();
    assert_eq!(open("reset", &sealed), Some(("ann".to_owned(), 7)));
    assert_eq!(open("confirm", &sealed), None);
    assert_eq!(open("reset", &sealed[1..]), None);
    assert_eq!(site.unseal::<u32>("reset", &sealed).unwrap(), None);
    clock.advance(Duration::from_hours(1));
    assert_eq!(open("reset", &sealed), None);
}

fn sealing(data: &std::path::Path) -> skep::Site {
    let mut setup = Setup::default();
    (setup.temporary_database, setup.secret) = (true, Some(data.join("secret")));
    App::new().open(setup).unwrap()
}

#[test]
fn what_was_sealed_does_not_open_if_it_was_changed() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let site = sealing(folder.path());
    let sealed = site.seal("flash", "Saved.", Duration::from_hours(1)).unwrap();
    let open = |text: &str| site.unseal::<String>("flash", text).unwrap();
    assert_eq!(open(&sealed).as_deref(), Some("Saved."));
    for at in 0..sealed.len() {
        let mut changed = sealed.clone().into_bytes();
        changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
        assert_eq!(open(std::str::from_utf8(&changed).unwrap()), None, "{at}");
    }
    assert_eq!(open(""), None);
    assert_eq!(sealing(other.path()).unseal::<String>("flash", &sealed).unwrap(), None);
}

#[test]
fn the_keys_are_made_once_for_their_owner_only_and_can_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let file = data.join("secret");
    let hour = Duration::from_hours(1);
    let sealed = sealing(&data).seal("x", "kept", hour).unwrap();
    let old = std::fs::read_to_string(&file).unwrap();
    let open = |text: &str| sealing(&data).unseal::<String>("x", text).unwrap();
    assert_eq!(open(&sealed).as_deref(), Some("kept"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(std::fs::read_dir(&data).unwrap().count(), 1);
    std::fs::write(&file, format!("{}\n{old}", "0f".repeat(32))).unwrap();
    assert_eq!(open(&sealed).as_deref(), Some("kept"));
    let newer = sealing(&data).seal("x", "new", hour).unwrap();
    assert_eq!(open(&newer).as_deref(), Some("new"));
    std::fs::write(&file, old).unwrap();
    assert_eq!(open(&newer), None, "the first key seals");
}

#[test]
fn abandoned_blocking_work_is_skipped_unless_it_must_be_done() {
    struct Later(Mutex<Vec<Box<dyn FnOnce() + std::marker::Send>>>);
    impl Offload for Later {
        fn run(&self, job: Box<dyn FnOnce() + std::marker::Send>) {
            self.0.lock().unwrap().push(job);
        }
    }
    let (later, runs) = (Later(Mutex::default()), Arc::new(AtomicUsize::new(0)));
    let count = |number| {
        let runs = Arc::clone(&runs);
        move || runs.fetch_add(number, Ordering::Relaxed)
    };
    let mut task = Context::from_waker(Waker::noop());
    assert!(pin!(offload(&later, count(1))).poll(&mut task).is_pending());
    assert!(pin!(offload_to_end(&later, count(10))).poll(&mut task).is_pending());
    let mut waiting = pin!(offload(&later, count(100)));
    assert!(waiting.as_mut().poll(&mut task).is_pending());
    let jobs = std::mem::take(&mut *later.0.lock().unwrap());
    for job in jobs {
        job();
    }
    assert_eq!(runs.load(Ordering::Relaxed), 110);
}

#[test]
fn no_store_is_named_like_another_cache() {
    use skep::cache::Store;
    let site = App::new().open({
        let mut setup = Setup::default();
        setup.temporary_database = true;
        setup
    });
    let site = std::panic::AssertUnwindSafe(site.unwrap());
    let opens =
        |name: &'static str| std::panic::catch_unwind(|| drop(site.cache(&Store::<str, u32>::new(name)))).is_ok();
    for name in ["", "Rates", "a b", "#pages", "a".repeat(49).leak()] {
        assert!(!opens(name), "{name:?}");
    }
    assert!(opens("a".repeat(48).leak()));
}

#[test]
fn keys_that_are_named_must_be_there_in_production_and_are_made_in_development() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    let open = |development| {
        let mut setup = Setup::default();
        (setup.data, setup.development) = (folder.path().to_owned(), development);
        setup.secret = Some(file.clone());
        App::new().open(setup)
    };
    let error = open(false).unwrap_err().to_string();
    assert!(error.contains("--generate-secret") && error.contains("keys"), "{error}");
    assert!(!file.exists());
    let sealed = open(true).unwrap().seal("x", "kept", Duration::from_hours(1)).unwrap();
    assert_eq!(open(false).unwrap().unseal::<String>("x", &sealed).unwrap().as_deref(), Some("kept"));
}

#[test]
fn keys_of_a_setting_come_before_a_file_and_are_checked_at_the_start() {
    let key = skep::Secret::generate_key().unwrap();
    let open = |keys: &str| {
        let mut setup = Setup::default();
        (setup.temporary_database, setup.secret_keys) = (true, Some(keys.to_owned().into()));
        App::new().open(setup)
    };
    let sealed = open(key.reveal()).unwrap().seal("x", "kept", Duration::from_hours(1)).unwrap();
    let both = format!("{} {}", "0f".repeat(32), key.reveal());
    assert_eq!(open(&both).unwrap().unseal::<String>("x", &sealed).unwrap().as_deref(), Some("kept"));
    let error = open("abc123").unwrap_err().to_string();
    assert!(error.contains("secret_keys") && !error.contains("abc123"), "{error}");
}
