//! The desk of the blog without a socket: signing in, writing, moderating; and that readers notice nothing of it.

use std::sync::Arc;

use blog::sign_in::SignIn;
use blog::write::{Save, Write};
use skep::settings::{RawSetting, RawValue, Source};
use skep::test::{Client, TestResponse};
use skep::{Setup, Site};
use tempfile::TempDir;

const EMAIL: &str = "ann@example.org";
const PASSWORD: &str = "a straw basket";

struct Blog {
    folder: TempDir,
    site: Arc<Site>,
}

impl Blog {
    /// With one article, and one author.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("articles")).unwrap();
        let article = "+++\ntitle = \"Bees\"\ndate = 2026-11-21\ntags = [\"insects\"]\nsummary = \"They hum.\"\n+++\n\nThey *hum*.\n";
        std::fs::write(folder.path().join("articles/bees.md"), article).unwrap();
        Self::in_folder(folder)
    }

    fn in_folder(folder: TempDir) -> Self {
        let setting = |(name, value): (&str, &str)| RawSetting {
            name: name.to_owned(),
            value: RawValue::Text(value.to_owned()),
            source: Source::Fixed,
        };
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        setup.settings = [("blog.author", EMAIL), ("blog.author_password", PASSWORD)].map(setting).into();
        let site = Arc::new(blog::app().open(setup).unwrap());
        Self { folder, site }
    }

    fn reader(&self) -> Client {
        Client::of_site(&self.site)
    }

    fn author(&self) -> Client {
        let client = self.reader();
        let form = client.get("/desk").form::<SignIn>().set(SignIn::email, EMAIL);
        assert_eq!(form.set(SignIn::password, PASSWORD).submit().url(), "/desk");
        client
    }
}

fn written(client: &Client, title: &str, text: &str) -> skep::test::FormFiller<Save> {
    let form = client.get(&Write::link().url()).form::<Save>();
    form.set(Save::title, title).set(Save::date, "2026-11-24").set(Save::tags, "Insects new").set(Save::text, text)
}

#[test]
fn the_desk_is_for_authors() {
    let blog = Blog::new();
    let reader = blog.reader();
    for path in ["/desk", "/desk/write", "/desk/comments"] {
        assert_eq!(reader.get(path).url(), "/sign-in", "{path}");
    }
    for path in ["/desk/write", "/desk/bees/delete", "/desk/comments/1/remove"] {
        assert_eq!(reader.post(path, &[]).url(), "/sign-in", "{path}");
    }
    assert_eq!(reader.get("/writings/bees").status(), 200);
    let wrong = reader.post("/sign-in", &[("email", EMAIL), ("password", "wrong")]);
    assert_eq!(wrong.status(), 422);
    assert!(blog.author().get("/desk").text().contains("Bees"));
}

#[test]
fn an_article_is_previewed_published_edited_and_deleted() {
    let blog = Blog::new();
    let (author, reader) = (blog.author(), blog.reader());
    let preview = written(&author, "On \"wasps\"", "They **sting**.").submit_with(Save::preview, "yes");
    assert_eq!(preview.status(), 200);
    assert!(
        preview.text().contains("<strong>sting</strong>") && preview.text().contains("They **sting**.</textarea>"),
        "{}",
        preview.text()
    );
    assert_eq!(reader.get("/writings/on-wasps").status(), 404);

    // From the preview, as a person does.
    let published = preview.form::<Save>().submit();
    assert_eq!((published.status().as_u16(), published.url()), (200, "/writings/on-wasps"));
    assert!(reader.get("/").text().contains("On \"wasps\"") && reader.get("/tags/insects").text().contains("wasps"));
    let file = std::fs::read_to_string(blog.folder.path().join("articles/on-wasps.md")).unwrap();
    assert!(file.contains(r#"tags = ["insects", "new"]"#), "{file}");

    let edited = author.get(&Write::link().page("on-wasps".parse::<skep::Slug>().unwrap()).url()).form::<Save>();
    assert_eq!(edited.value(Save::title), Some("On \"wasps\""));
    let edited = edited.set(Save::text, "They sting no more.").submit();
    assert_eq!(edited.url(), "/writings/on-wasps");
    assert!(reader.get("/search?q=more").text().contains("wasps"));

    let again = written(&author, "On wasps", "x").submit();
    assert_eq!(again.status(), 422);
    assert!(again.text().contains("There is an article with this title"), "{}", again.text());

    assert_eq!(author.post("/desk/on-wasps/delete", &[]).url(), "/desk");
    assert_eq!(reader.get("/writings/on-wasps").status(), 404);
    assert!(!reader.get("/").text().contains("wasps"));
}

#[test]
fn what_was_published_is_there_after_a_restart() {
    let blog = Blog::new();
    assert_eq!(written(&blog.author(), "Kept", "It *stays*.").submit().status(), 200);
    let before = blog.reader().get("/writings/kept").text().to_owned();
    let Blog { folder, site } = blog;
    drop(site);
    let again = Blog::in_folder(folder);
    blog::library::look(&again.site).unwrap();
    assert_eq!(again.reader().get("/writings/kept").text(), before);
}

#[test]
fn comments_are_moderated_page_by_page() {
    let blog = Blog::new();
    let (author, reader) = (blog.author(), blog.reader());
    for number in 1..=21 {
        let row = skep::sql!(
            "insert into comment (slug, author, html) values ('bees', 'Bob', ?)",
            format!("<p>word {number}.</p>"),
        );
        blog.site.db().write(|db| db.execute(row)).unwrap();
    }
    let first = author.get("/desk/comments");
    assert!(
        first.text().contains("word 21.") && !first.text().contains("word 1.") && first.text().contains("Page 1 of 2"),
        "{}",
        first.text()
    );
    assert!(author.get("/desk/comments?page=2").text().contains("word 1."));
    assert!(reader.get("/writings/bees").text().contains("word 21."));
    assert!(author.post("/desk/comments/21/remove", &[]).text().contains("The comment is removed."));
    assert!(!reader.get("/writings/bees").text().contains("word 21."));
    assert_eq!(author.post("/desk/comments/21/remove", &[]).status(), 404);
}

#[test]
fn readers_pages_are_cached_without_cookies_and_the_same_for_authors() {
    let blog = Blog::new();
    let (author, reader) = (blog.author(), blog.reader());
    let cookies = |answer: &TestResponse| answer.headers().contains_key("set-cookie");
    for path in ["/", "/tags/insects", "/archive", "/writings/bees", "/feed.atom", "/search?q=hum"] {
        let (read, signed_in) = (reader.get(path), author.get(path));
        assert_eq!(read.text(), signed_in.text(), "{path}");
        assert!(!cookies(&read) && !cookies(&signed_in), "{path}");
        assert_eq!(read.header("cache-control"), signed_in.header("cache-control"), "{path}");
    }
    assert_eq!(author.get("/").header("cache-control"), Some("public, no-cache"));
    assert!(reader.cookie("skep-session").is_none());
}
