//! The blog without a socket: reading, commenting, searching, subscribing, and the folder of articles.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use skep::test::Client;
use skep::{Setup, Site};
use tempfile::TempDir;

/// A blog in a folder of its own.
struct Blog {
    folder: TempDir,
    site: Arc<Site>,
    client: Client,
}

impl Blog {
    /// With the articles that a new blog begins with.
    fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    /// With these articles and no others.
    fn with(articles: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("articles")).unwrap();
        for (name, text) in articles {
            fs::write(folder.path().join("articles").join(name), text).unwrap();
        }
        Self::in_folder(folder)
    }

    fn in_folder(folder: TempDir) -> Self {
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        let site = Arc::new(blog::app().open(setup).unwrap());
        let client = Client::of_site(&site);
        Self { folder, site, client }
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.articles().join(name), text).unwrap();
        blog::library::look(&self.site).unwrap();
    }

    fn articles(&self) -> std::path::PathBuf {
        self.folder.path().join("articles")
    }

    fn get(&self, url: &str) -> String {
        let answer = self.client.get(url);
        assert_eq!(answer.status(), 200, "{url}");
        answer.text().to_owned()
    }
}

fn article(title: &str, day: &str, tags: &str, text: &str) -> String {
    format!("+++\ntitle = \"{title}\"\ndate = {day}\ntags = [{tags}]\nsummary = \"About {title}.\"\n+++\n\n{text}\n")
}

#[test]
fn a_new_blog_has_articles_on_two_pages() {
    let blog = Blog::new();
    let first = blog.get("/");
    assert_eq!(first.matches("<article class=\"teaser\"").count(), 20);
    assert!(first.contains("href=\"/?page=2\"") && first.contains("Page 1 of 2"), "{first}");
    let second = blog.get("/?page=2");
    assert!(second.contains("href=\"/\"") && second.contains("Page 2 of 2"));
    assert_eq!(blog.client.get("/?page=3").status(), 404);
    assert_eq!(blog.client.get("/?page=0").status(), 404);
}

#[test]
fn every_link_of_every_page_leads_somewhere() {
    let blog = Blog::new();
    let mut seen = std::collections::BTreeSet::new();
    let mut open = vec!["/".to_owned()];
    while let Some(url) = open.pop() {
        if !seen.insert(url.clone()) {
            continue;
        }
        let answer = blog.client.get(&url);
        assert_eq!(answer.status(), 200, "{url}");
        if answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html")) {
            open.extend(links(answer.text()));
        }
    }
    assert!(seen.len() > 40, "{seen:?}");
}

/// The links of a page that stay on the site, without their fragments.
fn links(html: &str) -> Vec<String> {
    let values = html.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    values
        .map(|link| link.split('#').next().unwrap_or_default().replace("&amp;", "&"))
        .filter(|link| link.starts_with('/'))
        .collect()
}

#[test]
fn an_article_has_its_text_its_day_and_its_tags() {
    let blog = Blog::with(&[("a-day.md", &article("A & day", "2026-11-21", "\"bees\"", "Some *text*."))]);
    let page = blog.get("/writings/a-day");
    assert!(page.contains("<h1>A &amp; day</h1>") && page.contains("<em>text</em>"), "{page}");
    assert!(page.contains("<time datetime=\"2026-11-21\">21 November 2026</time>"), "{page}");
    assert!(page.contains("href=\"/tags/bees\""), "{page}");
    assert!(blog.get("/tags/bees").contains("A &amp; day"));
    assert!(blog.get("/archive").contains("<h2>2026</h2>"));
    assert_eq!(blog.client.get("/writings/another").status(), 404);
    assert_eq!(blog.client.get("/tags/none").status(), 404);
}

#[test]
fn a_comment_is_previewed_kept_and_harmless() {
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", "x"))]);
    let url = "/writings/a/comments";
    let text = "**Fine** <script>alert(1)</script>";
    let preview = blog.client.post(url, &[("author", "Ann"), ("text", text), ("preview", "yes")]);
    assert_eq!(preview.status(), 200);
    assert!(preview.text().contains("<strong>Fine</strong>") && preview.text().contains("No comments yet"));
    assert!(preview.text().contains("value=\"Ann\""), "what was typed stays");
    let sent = blog.client.post(url, &[("author", "Ann <b>"), ("text", text)]);
    assert_eq!(sent.url(), "/writings/a#comments");
    let page = sent.text();
    assert!(page.contains("One comment") && page.contains("Ann &lt;b&gt;"), "{page}");
    assert!(!page.contains("<script>"), "{page}");
}

#[test]
fn a_comment_with_faults_comes_back_with_what_was_typed() {
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", "x"))]);
    let answer = blog.client.post("/writings/a/comments", &[("author", " "), ("text", "I wrote \"this\"")]);
    assert_eq!(answer.status(), 422);
    let page = answer.text();
    assert!(page.contains("Please fill this in.") && page.contains("I wrote &quot;this&quot;</textarea>"), "{page}");
    assert!(page.contains("aria-invalid=\"true\""), "{page}");
    let long = "x".repeat(10_001);
    assert_eq!(blog.client.post("/writings/a/comments", &[("author", "A"), ("text", &long)]).status(), 422);
    assert_eq!(blog.client.post("/writings/b/comments", &[("author", "A"), ("text", "x")]).status(), 404);
}

#[test]
fn the_longest_comment_fits_in_whatever_letters_it_is_written() {
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", "x"))]);
    for longest in ["中".repeat(10_000), "🐝".repeat(5_000), format!("{}xx", "x\r\n".repeat(4_999))] {
        let answer =
            blog.client.post("/writings/a/comments", &[("author", "🐝"), ("text", &longest), ("preview", "yes")]);
        assert_eq!(answer.status(), 200, "{}", answer.text());
    }
}

#[test]
fn a_reader_who_writes_a_lot_has_to_wait_and_loses_nothing() {
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", "x"))]);
    for count in 0..5 {
        let text = format!("comment {count}");
        assert_eq!(blog.client.post("/writings/a/comments", &[("author", "A"), ("text", &text)]).status(), 200);
    }
    let answer = blog.client.post("/writings/a/comments", &[("author", "A"), ("text", "one more")]);
    assert_eq!((answer.status().as_u16(), answer.header("retry-after")), (429, Some("600")));
    assert!(answer.text().contains("one more</textarea>") && answer.text().contains("5 comments"));
}

#[test]
fn a_comment_that_cannot_be_kept_is_not_lost() {
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", "x"))]);
    // A database that may not grow is what a full disk looks like.
    blog.site.db().write(|db| db.one::<i64>("pragma max_page_count = 1").map(drop)).unwrap();
    let text = "Many words. ".repeat(800);
    let answer = blog.client.post("/writings/a/comments", &[("author", "A"), ("text", &text)]);
    assert_eq!((answer.status().as_u16(), answer.header("retry-after")), (503, Some("30")));
    assert!(answer.text().contains(text.trim()) && answer.text().contains("Please send it again"));
    assert!(blog.get("/writings/a").contains("No comments yet"));
}

/// The address of the link with this text.
fn link<'p>(page: &'p str, text: &str) -> Option<&'p str> {
    let before = page[..page.find(text)?].rfind("href=\"")? + "href=\"".len();
    page[before..].split('"').next()
}

#[test]
fn however_many_comments_there_are_a_page_has_fifty_and_leads_to_the_others() {
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", "x"))]);
    let many = "insert into comment (slug, author, html)
        with recursive n (n) as (select 1 union all select n + 1 from n where n < 100000)
        select case when n % 1000 = 7 then 'b' else 'a' end, 'Ann', '<p>word ' || n || '.</p>' from n";
    blog.site.db().write(|db| db.execute(many)).unwrap();
    let first = blog.get("/writings/a");
    assert!(first.len() < 40_000 && first.contains("99900 comments"), "{} bytes", first.len());
    assert_eq!(first.matches("<article class=\"comment\"").count(), 50);
    assert!(first.contains("word 1.") && first.contains("word 51.") && !first.contains("word 52."), "the oldest first");
    assert!(link(&first, "← Earlier comments").is_none());
    // By links alone, there and back again.
    let second = blog.get(link(&first, "Later comments →").unwrap());
    assert!(second.contains("word 52.") && second.contains("word 101.") && !second.contains("word 51."));
    let back = blog.get(link(&second, "← Earlier comments").unwrap());
    assert!(back.contains("word 1.") && back.contains("word 51.") && !back.contains("word 52."));
    // Who writes one sees it.
    let sent = blog.client.post("/writings/a/comments", &[("author", "Bob"), ("text", "the last")]);
    assert!(sent.url().ends_with("#comment-100001"), "{}", sent.url());
    assert!(sent.text().contains("the last") && sent.text().contains("word 100000."), "{}", sent.text());
    assert!(sent.text().contains("99901 comments") && link(sent.text(), "Later comments →").is_none());
    for odd in ["after~x", "before~", "after~1~2", "x", "after~99999999999999999999"] {
        assert_eq!(blog.client.get(&format!("/writings/a?comments={odd}")).status(), 400, "{odd}");
    }
    assert!(blog.get("/writings/a?comments=before~-9223372036854775808").contains("99901 comments"));
}

#[test]
fn an_excerpt_has_whole_words_and_no_marks() {
    let words = (0..60).map(|nth| format!("word{nth}")).collect::<Vec<_>>().join(" ");
    let text = format!(
        "{words} *and*\n\n## When a `handler` **fails**\n\n* one &amp; [two](/writings/two \"T\")\n* ![a picture](/p.png)\n\n\
         > The hornet, [^1] said.\n\n| a | b |\n|---|---|\n| c | d |\n\n```rust\nlet (a, _) = b_c;\n```\n\n{words}\n\n[^1]: Note.\n"
    );
    let blog = Blog::with(&[("a.md", &article("A", "2026-11-21", "", &text))]);
    for asked in ["fails", "hornet", "handler", "picture", "word30", "b_c", "two"] {
        let page = blog.get(&format!("/search?q={asked}"));
        let excerpt = page.split("<article class=\"teaser\"").nth(1).unwrap().split("<p>").nth(1).unwrap();
        let excerpt = excerpt.split("</p>").next().unwrap();
        let plain = excerpt.replace("<mark>", "").replace("</mark>", "");
        assert!(excerpt.contains("<mark>"), "{asked}: {excerpt}");
        for mark in ["##", "**", "](", "`", "> ", "|", "* ", "[^", "&amp;amp;", "/p.png", "/writings/two"] {
            assert!(!plain.contains(mark), "{asked}: {mark:?} in {excerpt}");
        }
        for word in plain.trim_matches('…').split_whitespace().filter(|word| word.starts_with("word")) {
            assert!(words.split(' ').any(|whole| whole == word), "{asked}: {word:?} is cut in {excerpt}");
        }
    }
}

#[test]
fn search_finds_words_in_any_form_and_marks_them() {
    let blog = Blog::with(&[
        ("bees.md", &article("On bees", "2026-11-20", "", "A hive of Bienenkörbe & <b>honey</b> makers, `<i>`.")),
        ("wasps.md", &article("On wasps", "2026-11-21", "", "No honey here.")),
    ]);
    let both = blog.get("/search?q=HONEY");
    assert!(both.contains("On bees") && both.contains("On wasps") && both.contains("2 articles"), "{both}");
    assert!(both.contains("Bienenkörbe &amp; <mark>honey</mark> makers, &lt;i&gt;."), "{both}");
    assert!(blog.get("/search?q=bienenkorb").contains("On bees"), "without marks, and a beginning is enough");
    assert!(blog.get("/search?q=bee+wasp").contains("No article has all of these words"));
    for odd in ["%22", "*", "a+OR", "NEAR(", "title:x", "%00", ""] {
        assert_eq!(blog.client.get(&format!("/search?q={odd}")).status(), 200, "{odd}");
    }
}

#[test]
fn feeds_are_well_formed_and_hold_the_newest_articles() {
    let blog = Blog::with(&[
        ("a.md", &article("Old & good", "2026-11-20", "\"x\"", "a <b>b</b>")),
        ("b.md", &article("New", "2026-11-21", "", "b")),
    ]);
    for (url, kind) in
        [("/feed.atom", "atom"), ("/feed.rss", "rss"), ("/tags/x/feed.atom", "atom"), ("/tags/x/feed.rss", "rss")]
    {
        let answer = blog.client.get(url);
        let content_type = format!("application/{kind}+xml; charset=utf-8");
        assert_eq!(answer.header("content-type"), Some(content_type.as_str()), "{url}");
        let mut reader = quick_xml::Reader::from_str(answer.text());
        while reader.read_event().unwrap() != quick_xml::events::Event::Eof {}
        assert_eq!(answer.text().contains("<title>New</title>"), !url.contains("tags"), "{url}");
        assert!(answer.text().contains("http://localhost/writings/a"), "{url}: {}", answer.text());
    }
    assert!(blog.get("/feed.atom").contains("<updated>2026-11-21T00:00:00Z</updated>"));
    assert!(blog.get("/feed.rss").contains("<pubDate>Sat, 21 Nov 2026 00:00:00 GMT</pubDate>"));
    assert_eq!(blog.client.get("/tags/none/feed.atom").status(), 404);
}

#[test]
fn the_folder_is_the_blog() {
    let blog = Blog::with(&[("a.md", &article("First", "2026-11-20", "\"x\"", "one"))]);
    blog.write("b.md", article("Second", "2026-11-21", "", "two"));
    assert!(blog.get("/").contains("Second"), "a new file is a new article");
    blog.client.post("/writings/b/comments", &[("author", "A"), ("text", "kept")]);
    blog.write("b.md", article("Edited", "2026-11-21", "\"y\"", "two and a half"));
    assert!(blog.get("/writings/b").contains("Edited") && blog.get("/search?q=half").contains("Edited"));
    assert!(blog.get("/search?q=Second").contains("No article"), "the search forgets what was edited away");
    fs::remove_file(blog.articles().join("b.md")).unwrap();
    blog::library::look(&blog.site).unwrap();
    assert_eq!(blog.client.get("/writings/b").status(), 404);
    blog.write("b.md", article("Back", "2026-11-21", "", "two"));
    assert!(blog.get("/writings/b").contains("kept"), "comments outlive a file that comes back");
}

#[test]
fn a_broken_file_leaves_its_article_and_the_others_as_they_were() {
    let blog = Blog::with(&[
        ("a.md", &article("Good", "2026-11-20", "", "one")),
        ("broken.md", "no front matter"),
        ("NOT A NAME.md", &article("Bad name", "2026-11-20", "", "one")),
    ]);
    assert_eq!(blog.client.get("/writings/broken").status(), 404);
    blog.write("a.md", b"+++\n\xff\xfe\n+++\n");
    assert!(blog.get("/writings/a").contains("Good"));
    blog.write("broken.md", article("Mended", "2026-11-21", "", "two"));
    assert!(blog.get("/").contains("Mended") && blog.get("/").contains("Good"));
}

#[test]
#[cfg(unix)]
fn what_is_no_file_is_no_article_and_stops_nothing() {
    let blog = Blog::with(&[("a.md", &article("Good", "2026-11-20", "", "one"))]);
    let made = std::process::Command::new("mkfifo").arg(blog.articles().join("pipe.md")).status().unwrap();
    assert!(made.success());
    fs::create_dir(blog.articles().join("folder.md")).unwrap();
    blog.write("b.md", article("Better", "2026-11-21", "", "two"));
    assert!(blog.get("/").contains("Better") && blog.get("/").contains("Good"));
}

#[test]
fn a_folder_that_goes_away_is_an_error_and_no_loss() {
    let blog = Blog::with(&[("a.md", &article("Good", "2026-11-20", "", "one"))]);
    fs::rename(blog.articles(), blog.folder.path().join("elsewhere")).unwrap();
    let error = blog::library::look(&blog.site).unwrap_err().to_string();
    assert!(error.contains("articles"), "{error}");
    assert!(blog.get("/").contains("Good"));
}

#[test]
fn a_second_start_finds_what_the_first_one_left() {
    let blog = Blog::with(&[("a.md", &article("Good", "2026-11-20", "", "one"))]);
    blog.client.post("/writings/a/comments", &[("author", "A"), ("text", "kept")]);
    let Blog { folder, site, client } = blog;
    drop((site, client));
    let again = Blog::in_folder(folder);
    assert!(again.get("/writings/a").contains("kept"));
    assert!(Path::new(&again.articles()).join("a.md").exists());
}

#[test]
fn programs_read_the_list_in_json() {
    let blog = Blog::with(&[("bees.md", &article("Bees", "2026-11-21", "\"insects\"", "They hum."))]);
    let articles: serde_json::Value = serde_json::from_str(blog.client.get("/api/articles").text()).unwrap();
    assert_eq!((&articles[0]["slug"], &articles[0]["title"]), (&"bees".into(), &"Bees".into()));
    assert_eq!(blog.client.get("/api/articles?tag=nothing").text(), "[]");
    let document: serde_json::Value = serde_json::from_str(blog.client.get("/api.json").text()).unwrap();
    assert_eq!(document["paths"].as_object().map(serde_json::Map::len), Some(1));
}
