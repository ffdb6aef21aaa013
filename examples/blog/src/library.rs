//! The folder of articles: what is in it becomes rows, at the start and whenever a file changes.
//!
//! Who may write to the folder owns the blog: a file that appears is a new article, one that changes is an edited
//! article, one that goes away is gone. What authors write at their desk becomes a file, too. A file that cannot be
//! read as an article is named in the log, once, and the article stays as it was before.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use skep::Site;
use skep::cache::EntryPolicy;
use skep::prelude::*;
use skep::sql::{self, Blocking, Query, Row};

use crate::markdown;
use crate::source::ArticleSource;

mod seeds;

/// What was last seen of the folder.
#[derive(Default)]
pub struct Library {
    seen: Mutex<BTreeMap<String, Stamp>>,
}

/// What tells a file from what it was before without reading it.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    len: u64,
}

/// What has to be done to the table.
#[derive(Default)]
struct Changes {
    written: Vec<ArticleSource>,
    /// The addresses of all files, broken ones included: an article whose file is broken stays.
    present: BTreeSet<String>,
}

const FOLDER: &str = "articles";

/// The life of a page that is made of articles: writing to the tables that it reads ends it.
pub fn until_an_article_changes() -> EntryPolicy {
    EntryPolicy::new(Duration::from_hours(1))
}

/// Before the first request: a folder for a new blog, with the articles of this one, and all files read.
pub fn open(site: &Site) -> Result<()> {
    let folder = site.data().join(FOLDER);
    if !folder.exists() {
        seeds::write(&folder).map_err(|error| named(&folder, &error))?;
        tracing::info!(target: "blog", folder = %folder.display(), "a new folder of articles");
    }
    look(site)
}

/// While the blog runs: what has changed since the last look.
pub fn look(site: &Site) -> Result<()> {
    let mut seen = site.state::<Library>().seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let folder = site.data().join(FOLDER);
    let now = stamps(&folder).map_err(|error| named(&folder, &error))?;
    if now == *seen {
        return Ok(());
    }
    let changes = read(&folder, &seen, &now);
    site.db().write(|db| db.transaction(|db| store(db, &changes)))?;
    *seen = now;
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> Error {
    Error::internal(format!("{}: {error}", path.display()))
}

/// The Markdown files of the folder. One that goes away while we look is not there.
fn stamps(folder: &Path) -> io::Result<BTreeMap<String, Stamp>> {
    let mut stamps = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Some(stem) = name.strip_suffix(".md").filter(|stem| !stem.starts_with('.')) else { continue };
        // To read a pipe would be to wait for its writer.
        if let Some(metadata) =
            fs::metadata(entry.path()).ok().filter(|metadata| metadata.is_file() || metadata.is_dir())
        {
            stamps.insert(stem.to_owned(), Stamp { modified: metadata.modified().ok(), len: metadata.len() });
        }
    }
    Ok(stamps)
}

fn read(folder: &Path, seen: &BTreeMap<String, Stamp>, now: &BTreeMap<String, Stamp>) -> Changes {
    let mut changes = Changes { written: Vec::new(), present: now.keys().cloned().collect() };
    for (stem, _) in now.iter().filter(|(stem, stamp)| seen.get(*stem) != Some(stamp)) {
        let path = folder.join(format!("{stem}.md"));
        let source = fs::read(&path).map_err(|error| error.to_string());
        match source.and_then(|bytes| ArticleSource::parse(stem, &bytes).map_err(|broken| broken.to_string())) {
            Ok(source) => changes.written.push(source),
            Err(problem) => {
                tracing::warn!(target: "blog", "{}: {problem}; the article stays as it was", path.display());
            }
        }
    }
    changes
}

fn store(db: &mut Blocking<'_>, changes: &Changes) -> sql::Result<()> {
    for sources in changes.written.chunks(AT_ONCE) {
        let stored = stored(db, sources)?;
        // At a start most files are as they were, and each row written is also indexed for the search.
        for source in sources.iter().filter(|source| !stored.contains(&columns(source))) {
            store_one(db, source)?;
        }
    }
    let known = db.all(sql!((i64, String), "select id, slug from article"))?;
    for (id, slug) in known.iter().filter(|(_, slug)| !changes.present.contains(slug)) {
        db.execute(sql!("delete from article where id = ?", id))?;
        tracing::info!(target: "blog", slug, "article removed");
    }
    Ok(())
}

/// How many articles are in memory twice while they are compared.
const AT_ONCE: usize = 100;

/// A row of `article`.
#[derive(PartialEq, Row)]
struct Columns {
    slug: Slug,
    title: String,
    published: String,
    summary: String,
    markdown: String,
    plain: String,
    tags: String,
}

/// A row as it is to be.
fn columns(source: &ArticleSource) -> Columns {
    let ArticleSource { slug, title, published, summary, markdown, tags } = source.clone();
    let tags = tags.iter().map(Slug::as_str).collect::<Vec<_>>().join(" ");
    let plain = markdown::plain(&markdown);
    Columns { slug, title, published, summary, markdown, plain, tags }
}

/// The rows there are from the first of these to the last; they are in the order of their addresses.
fn stored(db: &mut Blocking<'_>, sources: &[ArticleSource]) -> sql::Result<Vec<Columns>> {
    let (Some(first), Some(last)) = (sources.first(), sources.last()) else { return Ok(Vec::new()) };
    db.all(sql!(
        Columns,
        "select slug, title, published, summary, markdown, plain, tags from article where slug between ? and ?",
        &first.slug,
        &last.slug
    ))
}

/// Inserts the row or replaces what it holds, and gives its id.
fn upsert(row: &Columns) -> Query<'_, i64> {
    let Columns { slug, title, published, summary, markdown, plain, tags } = row;
    sql!(
        i64,
        "insert into article (slug, title, published, summary, markdown, plain, tags) values (?, ?, ?, ?, ?, ?, ?)
        on conflict (slug) do update set title = excluded.title, published = excluded.published,
            summary = excluded.summary, markdown = excluded.markdown, plain = excluded.plain,
            tags = excluded.tags
        returning id",
        slug,
        title,
        published,
        summary,
        markdown,
        plain,
        tags
    )
}

fn untag(article: Option<i64>) -> Query<'static> {
    sql!("delete from article_tag where article_id = ?", article)
}

fn tag(article: Option<i64>, tag: &Slug) -> Query<'_> {
    sql!("insert into article_tag (article_id, tag) values (?, ?)", article, tag)
}

fn store_one(db: &mut Blocking<'_>, source: &ArticleSource) -> sql::Result<()> {
    let id = db.one(upsert(&columns(source)))?;
    db.execute(untag(id))?;
    for name in &source.tags {
        db.execute(tag(id, name))?;
    }
    Ok(())
}

/// True if there is an article at this address.
pub async fn is_taken(cx: &Cx<'_>, page: &Slug) -> Result<bool> {
    Ok(cx.db().one(sql!(i64, "select id from article where slug = ?", page)).await?.is_some())
}

/// Writes the file of an article and its row, so that it is there at once. Should the row fail, the next look finds the
/// file.
pub async fn publish(cx: &Cx<'_>, source: &ArticleSource) -> Result<()> {
    let (folder, name, text) = (cx.data().join(FOLDER), source.slug.to_string(), source.to_text());
    cx.offload(move || replace(&folder, &name, &text)).await??;
    let db = cx.transaction().await?;
    let id = db.one(upsert(&columns(source))).await?;
    db.execute(untag(id)).await?;
    for name in &source.tags {
        db.execute(tag(id, name)).await?;
    }
    Ok(())
}

/// In one step, so that no look sees half a file.
fn replace(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    let unfinished = folder.join(format!(".{name}.md"));
    fs::write(&unfinished, text)?;
    fs::rename(unfinished, folder.join(format!("{name}.md")))
}

/// Removes the file of an article and its row.
pub async fn withdraw(cx: &Cx<'_>, page: &Slug) -> Result<()> {
    let file = cx.data().join(FOLDER).join(format!("{page}.md"));
    cx.offload(move || fs::remove_file(file)).await??;
    cx.transaction().await?.execute(sql!("delete from article where slug = ?", page)).await?;
    Ok(())
}
