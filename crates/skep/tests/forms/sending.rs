//! What happens around a form: where it may come from, what the next page says, and files.

use std::future::Future;

use skep::form::{FileKind, Text, Upload};
use skep::prelude::*;
use skep::sql::{Migration, Migrations, query};
use skep::test::Client;
use skep::{Method, Setup};

/// The page of the form.
#[derive(Service)]
#[service(GET "/")]
struct Page;

impl Handle for Page {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            @for text in cx.flashes() { p role="status" { (text) } }
            form (Send::form(cx)) { input (Send::text); }
            form (Like::form(cx)) { button { "Like" } }
        }))
    }
}

#[derive(Service)]
#[service(POST "/send", page = Page)]
struct Send {
    #[form]
    text: Text<1, 80>,
}

impl Handle for Send {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.flash(format!("Sent: {}", self.text));
        cx.flash("Once.");
        Ok(Response::see_other(&Page))
    }
}

#[derive(Service)]
#[service(GET "/seen")]
struct Seen;

impl Handle for Seen {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        cx.set_cookie(&Cookie::new("user", "ann"));
        Ok(Response::text(""))
    }
}

/// Reads no fields.
#[derive(Service)]
#[service(POST "/like")]
struct Like;

impl Handle for Like {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Ok(Response::text("liked"))
    }
}

fn app() -> App {
    App::new().serve(services![Page, Send, Seen, Like, Picture, Pictures])
}

#[test]
fn a_flash_message_survives_the_redirect_and_is_shown_once() {
    let client = Client::new(app());
    let page = client.get("/").form::<Send>().set(Send::text, "a <b>").submit();
    assert!(
        page.text().starts_with(r#"<p role="status">Sent: a &lt;b&gt;</p><p role="status">Once.</p>"#),
        "{}",
        page.text()
    );
    assert!(client.get("/").text().starts_with("<form"));
}

#[test]
fn a_flash_message_is_read_and_made_by_nobody_else() {
    let client = Client::new(app());
    let answer = client.request(Method::POST, "/send").form(&[("text", "secret words")]).without_redirects().send();
    let cookie = answer.header("set-cookie").unwrap();
    assert!(cookie.starts_with("skep-flash=") && cookie.contains("HttpOnly") && !cookie.contains("secret"), "{cookie}");
    let forged = Client::new(app());
    let page = forged.request(Method::GET, "/").header("cookie", "skep-flash=WyJmb3JnZWQiXQ").send();
    assert!(page.text().starts_with("<form"), "{}", page.text());
}

#[test]
fn a_browser_that_tells_its_site_gets_no_token() {
    assert!(!Client::new(app()).get("/").text().contains("skep-token"));
}

#[test]
fn a_browser_that_tells_nothing_brings_the_token_of_its_form() {
    let client = Client::new(app()).without_fetch_metadata();
    let form = client.get("/").form::<Send>().set(Send::text, "x");
    assert!(client.cookie("skep-form").is_some());
    assert!(form.submit().text().contains("Sent: x"));
    assert_eq!(client.post("/send", &[("text", "forged")]).status(), 403);
    assert_eq!(client.post("/send", &[("text", "forged"), ("skep-token", "x")]).status(), 403);
    assert_eq!(client.post("/like", &[]).status(), 403);
    assert_eq!(client.get("/").form::<Like>().submit().text(), "liked", "a form without fields carries it too");
}

#[test]
fn the_token_of_another_browser_is_none() {
    let site = std::sync::Arc::new(app().open(temporary()).unwrap());
    let (mine, theirs) =
        (Client::of_site(&site).without_fetch_metadata(), Client::of_site(&site).without_fetch_metadata());
    let page = theirs.get("/");
    let token = page.text().split("name=\"skep-token\" value=\"").nth(1).unwrap().split('"').next().unwrap();
    let _ = mine.get("/");
    assert_eq!(mine.post("/send", &[("text", "forged"), ("skep-token", token)]).status(), 403);
    assert_eq!(theirs.post("/send", &[("text", "own"), ("skep-token", token)]).status(), 200);
}

#[test]
fn what_is_no_browser_and_has_no_cookies_passes() {
    let client = Client::new(app()).without_fetch_metadata();
    assert_eq!(client.post("/like", &[]).text(), "liked");
    let _ = client.get("/seen");
    assert_eq!(client.post("/like", &[]).status(), 403);
}

/// A small picture.
#[derive(Debug)]
struct Png;

impl FileKind for Png {
    const ACCEPT: Option<&'static str> = Some("image/png");
    const MAX: u64 = 300_000;
}

/// Bytes that look like a picture.
fn png(size: usize) -> Vec<u8> {
    [&b"\x89PNG\r\n\x1a\n"[..], &vec![7; size - 8]].concat()
}

#[derive(Service)]
#[service(GET "/pictures")]
struct Pictures;

impl Handle for Pictures {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! {
            form (Picture::form(cx)) {
                input (Picture::title);
                input (Picture::file);
                input (Picture::more);
            }
        }))
    }
}

#[derive(Debug, Service)]
#[service(POST "/pictures", page = Pictures)]
struct Picture {
    #[form]
    title: Text<1, 80>,
    #[form]
    file: Upload<Png>,
    #[form]
    more: Vec<Upload>,
}

impl Handle for Picture {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let bytes = self.file.read().await?;
        let text = format!("{} {:?} {} {}", self.title, self.file, bytes == png(bytes.len()), self.more.len());
        self.file.keep(cx.data().join("kept")).await?;
        Ok(Response::text(text))
    }
}

fn temporary() -> Setup {
    let mut setup = Setup::default();
    setup.temporary_database = true;
    setup
}

fn in_folder() -> (tempfile::TempDir, Setup) {
    let folder = tempfile::tempdir().unwrap();
    let mut setup = temporary();
    setup.data = folder.path().into();
    (folder, setup)
}

#[test]
fn a_file_arrives_is_kept_and_leaves_nothing_behind() {
    for size in [10, 100_000, 300_000] {
        let (folder, setup) = in_folder();
        let client = Client::with_setup(app(), setup);
        let page = client.get("/pictures");
        assert!(page.text().contains(r#"enctype="multipart/form-data""#), "{}", page.text());
        assert!(
            page.text().contains(r#"<input name="file" id="picture-file" type="file" required accept="image/png">"#)
        );
        assert!(page.text().contains(r#"type="file" multiple>"#), "{}", page.text());
        let form = page.form::<Picture>().set(Picture::title, "Bees").attach(
            Picture::file,
            "C:\\a.png",
            "image/png",
            &png(size),
        );
        let answer = form.attach(Picture::more, "b", "", b"1").attach(Picture::more, "c", "", b"2").submit();
        assert_eq!(answer.text(), format!("Bees Upload(\"C:\\\\a.png\", {size} bytes) true 2"));
        assert_eq!(std::fs::read(folder.path().join("kept")).unwrap(), png(size));
        let left = std::fs::read_dir(folder.path().join("uploads")).map_or(0, Iterator::count);
        assert_eq!(left, 0);
    }
}

#[test]
fn a_file_that_does_not_fit_is_said_beside_its_field() {
    let (folder, setup) = in_folder();
    let client = Client::with_setup(app(), setup);
    let send = |kind, size| {
        let form = client.get("/pictures").form::<Picture>().set(Picture::title, "Bees");
        form.attach(Picture::file, "a", kind, &vec![7; size]).submit()
    };
    let large = send("image/png", 300_001);
    assert_eq!(large.status(), 422);
    assert!(
        large.text().contains("That file is too large: 300 kB at most.</span>")
            && large.text().contains("value=\"Bees\""),
        "{}",
        large.text()
    );
    for kind in ["text/html", "image/png"] {
        assert!(send(kind, 5).text().contains("these do: image/png."), "the content decides, not the name");
    }
    let missing = client.get("/pictures").form::<Picture>().set(Picture::title, "Bees").submit();
    assert!(missing.text().contains("picture-file-problem"), "{}", missing.text());
    assert_eq!(std::fs::read_dir(folder.path().join("uploads")).map_or(0, Iterator::count), 0);
}

#[test]
fn the_limits_of_uploads_hold() {
    let (_folder, mut setup) = in_folder();
    (setup.limits.upload_total, setup.limits.upload_quota, setup.limits.form_fields) = (400_000, 150_000, 3);
    let client = Client::with_setup(app(), setup);
    let send = |files: &[(&str, &str, &str, &[u8])], fields: &[(&str, &str)]| {
        client.request(Method::POST, "/pictures").files(fields, files).send().status().as_u16()
    };
    let content = png(500_000);
    assert_eq!(send(&[("file", "a", "image/png", &content)], &[("title", "x")]), 413);
    assert_eq!(send(&[("file", "a", "image/png", &content[..200_000])], &[("title", "x")]), 503);
    assert_eq!(
        send(&[("file", "a", "image/png", &content[..100_000])], &[("title", "x")]),
        200,
        "the quota was given back"
    );
    assert_eq!(send(&[("title", "a", "text/plain", b"x")], &[]), 400, "title takes no file");
    assert_eq!(send(&[], &[("title", "1"), ("a", "2"), ("b", "3"), ("c", "4")]), 413);
}

#[test]
fn a_service_without_a_file_refuses_files() {
    let client = Client::new(app());
    let answer = client.request(Method::POST, "/send").files(&[("text", "x")], &[("f", "a", "", b"1")]).send();
    assert_eq!(answer.status(), 415);
}

#[test]
fn a_broken_body_is_the_clients_fault() {
    let client = Client::new(app());
    let of = |boundary: &str| format!("multipart/form-data; charset=utf-8; boundary={boundary}");
    let field = "Content-Disposition: form-data; name=\"title\"\r\n\r\n";
    for (kind, body) in [
        ("multipart/form-data".to_owned(), String::new()),
        (of("x"), String::new()),
        (of("x"), format!("--x\r\n{field}cut")),
        (of("x"), format!("--x\r\n{field}\u{0}\r\n--xy")),
        (of("x"), "--y--".to_owned()),
        (of("x"), "--x\r\nContent-Type: text/plain\r\n\r\n1\r\n--x--".to_owned()),
        (of("x"), format!("--x\r\n{}", "a".repeat(9000))),
        (of("x"), "--xyz\r\n".to_owned()),
        (of("x"), "--x\r\nno colon\r\n\r\n".to_owned()),
        (of(&"a".repeat(71)), format!("--{}--\r\n", "a".repeat(71))),
    ] {
        let kind: &'static str = kind.leak();
        let request = client.request(Method::POST, "/pictures").body(kind, body.clone());
        assert_eq!(request.send().status(), 400, "{kind} {body}");
    }
    // What is whole gets as far as the fields.
    let request = client.request(Method::POST, "/pictures").body("multipart/form-data; boundary=\"a b\"", "--a b--");
    assert_eq!(request.send().status(), 422);
}

/// The name of the file and the title, or the status.
fn received(client: &Client, body: Vec<u8>) -> String {
    let answer = client.request(Method::POST, "/any").body("multipart/form-data; boundary=x", body).send();
    if answer.status() == 200 { answer.text().to_owned() } else { answer.status().as_u16().to_string() }
}

#[derive(Service)]
#[service(POST "/any")]
struct AnyUpload {
    #[form]
    title: Option<String>,
    #[form]
    file: Option<Upload>,
}

impl Handle for AnyUpload {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        let file = self.file.map(|file| file.file_name().to_owned());
        Ok(Response::text(format!("{file:?} {:?}", self.title)))
    }
}

#[test]
fn the_name_of_a_file_is_what_its_sender_means() {
    let client = Client::new(App::new().serve(services![AnyUpload]));
    for (disposition, name) in [
        (&br#"form-data; name="file"; filename="my \"best\" day.jpg""#[..], Some(r#"my "best" day.jpg"#)),
        (br#"form-data; filename="my \"best\" day.jpg"; name="file""#, Some(r#"my "best" day.jpg"#)),
        (br#"form-data; name="file"; filename="my %22best%22 day.jpg""#, Some(r#"my "best" day.jpg"#)),
        (br#"form-data; name="file"; filename="C:\Users\me\f.txt""#, Some("f.txt")),
        (br#"form-data; name="file"; filename="C:\\Users\\me\\f.txt""#, Some("f.txt")),
        (b"attachment; name=file; filename=plain.txt", Some("plain.txt")),
        (b"form-data;\r\n name=\"file\";\r\n\tfilename=\"folded.txt\"", Some("folded.txt")),
        (b"form-data; name=\"file\"; filename=\"b\xc3\xbccher.txt\"", Some("b\u{fc}cher.txt")),
        (b"form-data; name=\"file\"; filename=\"b\xfccher \x80.txt\"", Some("b\u{fc}cher \u{20ac}.txt")),
        (br#"form-data; name="file"; filename*=UTF-8''%e2%82%ac%20rates.txt"#, Some("\u{20ac} rates.txt")),
        (br#"form-data; name="file"; filename*=UTF-8''other.txt; filename="this.txt""#, Some("this.txt")),
        (br#"form-data; name="file"; filename*=UTF-8''%zz"#, None),
        (br#"form-data; filename="a.txt""#, None),
        (br#"form-data; name="file; filename="a.txt"#, None),
    ] {
        let body = [b"--x\r\nContent-Disposition: ", disposition, b"\r\n\r\nhi\r\n--x--"].concat();
        let expected = name.map_or("400".to_owned(), |name| format!("{:?} None", Some(name)));
        assert_eq!(received(&client, body), expected, "{}", disposition.escape_ascii());
    }
}

#[test]
fn a_text_is_read_in_the_encoding_that_its_part_or_its_form_names() {
    let client = Client::new(App::new().serve(services![AnyUpload]));
    let part = |name: &str, kind: &str, text: &[u8]| {
        let kind = if kind.is_empty() { String::new() } else { format!("Content-Type: {kind}\r\n") };
        [format!("--x\r\nContent-Disposition: form-data; name={name}\r\n{kind}\r\n").as_bytes(), text, b"\r\n"].concat()
    };
    let title = |kind: &str, text: &[u8]| part("title", kind, text);
    let of_form = |charset: &str| part("_charset_", "", charset.as_bytes());
    let german = r#"None Some("\u{fc}ber")"#.replace("\\u{fc}", "\u{fc}");
    for (parts, expected) in [
        (title("", b"\xc3\xbcber"), &*german),
        (title("text/plain; charset=UTF-8", b"\xc3\xbcber"), &german),
        (title("text/plain; charset=\"iso-8859-1\"", b"\xfcber"), &german),
        (title("text/plain;CHARSET=windows-1252", b"\xfcber"), &german),
        (title("text/plain; charset=utf-16le", b"\xfc\0b\0e\0r\0"), &german),
        (title("", b"\xfcber"), "400"),
        (title("text/plain; charset=utf-8", b"\xfcber"), "400"),
        (title("text/plain; charset=utf-16", b"abc"), "400"),
        (title("text/plain; charset=shift_jis", b"a"), "415"),
        ([of_form("iso-8859-1"), title("", b"\xfcber")].concat(), &german),
        ([title("", b"\xfcber"), of_form("ISO-8859-1")].concat(), &german),
        ([of_form("iso-8859-1"), title("text/plain; charset=utf-8", b"\xc3\xbcber")].concat(), &german),
        ([of_form("shift_jis"), title("", b"a")].concat(), "415"),
        ([of_form("shift_jis"), title("text/plain; charset=utf-8", b"\xc3\xbcber")].concat(), &german),
        ([of_form(""), title("", b"\xc3\xbcber")].concat(), &german),
        (of_form("utf-8"), "None None"),
    ] {
        assert_eq!(received(&client, [&parts[..], b"--x--"].concat()), expected, "{}", parts.escape_ascii());
    }
}

/// Each takes files of a kind of its own.
macro_rules! kinds {
    ($($field:ident $kind:ident $accept:literal)*) => {
        $(
            #[derive(Debug)]
            struct $kind;

            impl FileKind for $kind {
                const ACCEPT: Option<&'static str> = Some($accept);
            }
        )*

        #[derive(Service)]
        #[service(POST "/kinds")]
        struct Kinds {
            $(#[form] $field: Option<Upload<$kind>>,)*
        }

        impl Handle for Kinds {
            async fn handle(self, _cx: &mut Cx<'_>) -> Result {
                Ok(Response::text(format!("{:?}", ($(self.$field,)*))))
            }
        }

        const FIELD_OF: &[(&str, &str)] = &[$(($accept, stringify!($field))),*];
    };
}

kinds! {
    a PngOrPdf "image/png, .PDF"
    b Image "image/*"
    c PngOnly "image/png"
    d Plain "text/plain"
    e AnyText "text/*"
    f Svg "image/svg+xml"
    g NamedPng ".png"
}

#[test]
fn a_file_is_accepted_by_its_kind_and_content_or_the_end_of_its_name() {
    const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0000";
    const PDF: &[u8] = b"%PDF-1.7";
    let client = Client::new(App::new().serve(services![Kinds]));
    for (accept, content_type, name, content, status) in [
        ("image/png, .PDF", "application/pdf", "A.pdf", PDF, 200),
        ("image/*", "image/png", "a", PNG, 200),
        ("image/png", "image/png", "a", PNG, 200),
        ("text/plain", "Text/Plain; charset=utf-8", "a", b"Hello", 200),
        ("text/*", "text/csv", "a", b"a,b", 200),
        ("image/svg+xml", "image/svg+xml", "a.svg", b"<svg/>", 200),
        ("image/*", "imagex/png", "a.png", PNG, 422),
        (".png", "image/png", "png", PNG, 422),
        ("image/*", "image/png", "evil.html", b"<!DOCTYPE html><script>", 422),
        ("image/*", "image/svg+xml", "evil.svg", b"<svg onload='f()'/>", 422),
        ("image/png", "image/png", "a.png", PDF, 422),
        ("text/plain", "text/plain", "a.txt", PNG, 422),
    ] {
        let (_, field) = FIELD_OF.iter().find(|(kind, _)| *kind == accept).unwrap();
        let answer = client.request(Method::POST, "/kinds").files(&[], &[(field, name, content_type, content)]).send();
        assert_eq!(answer.status(), status, "{accept} {content_type} {name}");
    }
}

mod any_body {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn is_answered_and_never_a_fault_of_ours(body in "(text|=|&|%|%4|%41|\\+|[a-z\u{e9}\u{1F41D}]|\u{0}|\r\n){0,40}") {
            let client = Client::new(app());
            let answer = client.request(Method::POST, "/send").body("application/x-www-form-urlencoded", body);
            prop_assert!(answer.send().status().as_u16() < 500);
        }
    }
}

#[derive(Service)]
#[service(GET "/names")]
struct Names;

impl Handle for Names {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        Ok(Response::html(html! { form (Register::form(cx)) { input (Register::name); } }))
    }
}

/// A rule that only the database can judge.
#[derive(Service)]
#[service(POST "/names", page = Names)]
struct Register {
    #[form]
    name: Text<1, 40>,
}

impl Handle for Register {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        db.execute(query("insert into attempt default values", ())).await?;
        let insert = query("insert into taken (name) values (?) on conflict do nothing", self.name.as_str());
        if db.execute(insert).await?.rows == 0 {
            return Err(Register::name.refuse("This name is taken."));
        }
        Ok(Response::text(format!("welcome, {}", self.name)))
    }
}

#[test]
fn a_rule_that_needs_the_database_is_the_handlers_and_undoes_what_it_wrote() {
    static TABLES: [Migration; 1] = [Migration::new(
        1,
        "0001_names.sql",
        "create table taken (name text primary key) strict; create table attempt (id integer primary key) strict;",
    )];
    let app = App::new().serve(services![Names, Register]).database(Migrations::new(&TABLES));
    let site = std::sync::Arc::new(app.open(temporary()).unwrap());
    let client = Client::of_site(&site);
    let send = || client.get("/names").form::<Register>().set(Register::name, "Bee").submit();
    assert_eq!(send().text(), "welcome, Bee");
    let taken = send();
    assert_eq!(taken.status(), 422);
    assert!(
        taken.text().contains(
            r#"value="Bee" aria-describedby="register-name-problem" aria-invalid="true" autofocus><span class="problem" id="register-name-problem">This name is taken.</span>"#
        ),
        "{}",
        taken.text()
    );
    let attempts = site.db().write(|db| db.all::<i64>(query("select id from attempt", ()))).unwrap();
    assert_eq!(attempts, [1], "what the refused one wrote is undone");
}

/// Does nothing before the test asks for it, like a pool that is busy.
#[derive(Default)]
struct Later(std::sync::Mutex<Vec<Box<dyn FnOnce() + std::marker::Send>>>);

impl skep::offload::Offload for Later {
    fn run(&self, job: Box<dyn FnOnce() + std::marker::Send>) {
        self.0.lock().unwrap().push(job);
    }
}

#[test]
fn a_file_that_is_made_after_its_client_has_gone_is_not_left_behind() {
    let (folder, mut setup) = in_folder();
    let pool = std::sync::Arc::new(Later::default());
    setup.offload = std::sync::Arc::<Later>::clone(&pool);
    let site = std::sync::Arc::new(app().open(setup).unwrap());
    let mut body = b"--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a\"\r\n\r\n".to_vec();
    body.resize(200_000, 7);
    let request = http::Request::post("/pictures").header("content-type", "multipart/form-data; boundary=x");
    let (parts, ()) = request.body(()).unwrap().into_parts();
    let mut answer = Box::pin(site.local().answer(skep::Request::new(parts, body.into())));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(answer.as_mut().poll(&mut context).is_pending());
    drop(answer);
    let jobs = std::mem::take(&mut *pool.0.lock().unwrap());
    assert_eq!(jobs.len(), 1, "the file is to be made");
    for job in jobs {
        job();
    }
    assert_eq!(std::fs::read_dir(folder.path().join("uploads")).map_or(0, Iterator::count), 0);
}

#[test]
fn what_a_killed_process_received_is_removed_by_a_later_one() {
    let (folder, setup) = in_folder();
    let uploads = folder.path().join("uploads");
    std::fs::create_dir(&uploads).unwrap();
    let now = std::time::SystemTime::now();
    for (name, hours) in [("old", 25), ("new", 1)] {
        let file = std::fs::File::create(uploads.join(name)).unwrap();
        file.set_modified(now - std::time::Duration::from_hours(hours)).unwrap();
    }
    let _site = app().open(setup).unwrap();
    assert!(!uploads.join("old").exists() && uploads.join("new").exists());
}

mod two_forms_on_one_page {
    use super::*;

    const SHOP: skep::link::Prefix = skep::link::Prefix::new("/shop");

    #[derive(Service)]
    #[service(GET "/items/{id}", prefix = SHOP)]
    struct Item {
        id: u32,
    }

    #[derive(Service)]
    #[service(GET "/items", prefix = SHOP)]
    struct Search {
        q: Option<String>,
    }

    #[derive(Service)]
    #[service(POST "/items", prefix = SHOP)]
    struct Add {
        #[form]
        name: String,
    }

    #[derive(Service)]
    #[service(POST "/items/{id}", prefix = SHOP)]
    struct Rename {
        id: u32,
        #[form]
        name: String,
    }

    #[derive(Service)]
    #[service(POST "/items/{id}", prefix = SHOP, when = "action=delete")]
    struct Delete {
        id: u32,
    }

    impl Handle for Item {
        async fn handle(self, cx: &mut Cx<'_>) -> Result {
            Ok(Response::html(html! {
                form (Delete::form(cx, self.id)) { button { "Delete" } }
                form (Rename::form(cx, self.id)) { input (Rename::name) aria-label="Name"; button { "Rename" } }
                form (Search::form()) { input (Search::q) aria-label="Words"; button { "Search" } }
                form (Add::form(cx)) { input (Add::name) aria-label="Name"; button { "Add" } }
            }))
        }
    }

    macro_rules! says {
        ($($name:ident $text:expr;)*) => {$(
            impl Handle for $name {
                async fn handle(self, _cx: &mut Cx<'_>) -> Result { Ok(Response::text($text(self))) }
            }
        )*};
    }

    says! {
        Search |one: Search| format!("search {:?}", one.q);
        Add |one: Add| format!("add {}", one.name);
        Rename |one: Rename| format!("rename {} {}", one.id, one.name);
        Delete |one: Delete| format!("delete {}", one.id);
    }

    #[test]
    fn a_test_is_given_the_form_of_the_service_that_it_names() {
        let client = Client::new(App::new().serve(services![Item, Search, Add, Rename, Delete]));
        let page = client.get(&Item { id: 7 }.url());
        assert_eq!(page.form::<Delete>().submit().text(), "delete 7");
        assert_eq!(page.form::<Rename>().set(Rename::name, "Bees").submit().text(), "rename 7 Bees");
        assert_eq!(page.form::<Search>().set(Search::q, "bees").submit().text(), "search Some(\"bees\")");
        assert_eq!(page.form::<Add>().set(Add::name, "Wax").submit().text(), "add Wax");
    }
}
