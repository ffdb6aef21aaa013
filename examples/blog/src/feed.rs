//! Feeds: Atom (RFC 4287) and RSS 2.0, whole and by tag.

use std::io;
use std::time::{Duration, UNIX_EPOCH};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesText, Event};
use skep::cache::{EntryPolicy, PublicPage, SharedCx};
use skep::prelude::*;
use skep::sql::{Query, Row};

use crate::article::Article;
use crate::index::{Index, Tagged};
use crate::layout::NAME;
use crate::library;
use crate::markdown;

/// All articles as Atom.
#[derive(Service)]
#[service(GET "/feed.atom")]
pub struct Atom;

/// All articles as RSS.
#[derive(Service)]
#[service(GET "/feed.rss")]
pub struct Rss;

/// The articles with a tag as Atom.
#[derive(Service)]
#[service(GET "/tags/{tag}/feed.atom")]
pub struct TaggedAtom {
    /// The tag.
    pub tag: Slug,
}

/// The articles with a tag as RSS.
#[derive(Service)]
#[service(GET "/tags/{tag}/feed.rss")]
pub struct TaggedRss {
    /// The tag.
    pub tag: Slug,
}

#[derive(Row)]
struct Entry {
    slug: Slug,
    title: String,
    published: String,
    seconds: i64,
    summary: String,
    markdown: String,
}

/// What the two formats have in common.
struct Feed {
    title: String,
    /// Scheme and host, for what articles link to.
    origin: String,
    home: String,
    itself: String,
    entries: Vec<(String, Entry)>,
}

/// Articles in a feed.
const MOST: u32 = 20;

impl PublicPage for Atom {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Feed::read(cx, None, self).await?.atom()
    }
}

impl PublicPage for Rss {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Feed::read(cx, None, self).await?.rss()
    }
}

impl PublicPage for TaggedAtom {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Feed::read(cx, Some(&self.tag), self).await?.atom()
    }
}

impl PublicPage for TaggedRss {
    fn policy(&self) -> EntryPolicy {
        library::until_an_article_changes()
    }

    async fn page(&self, cx: &SharedCx<'_>) -> Result {
        Feed::read(cx, Some(&self.tag), self).await?.rss()
    }
}

impl Feed {
    async fn read(cx: &SharedCx<'_>, tag: Option<&Slug>, itself: impl Destination) -> Result<Self> {
        let entries = cx.db().all(entries(tag)).await?;
        if tag.is_some() && entries.is_empty() {
            return Err(Error::not_found());
        }
        let link = |entry: &Entry| cx.absolute(Article::link(entry.slug.clone()));
        let entries = entries.into_iter().map(|entry| (link(&entry), entry)).collect();
        let (title, home) = match tag {
            Some(tag) => (format!("{NAME}: {tag}"), cx.absolute(Tagged { tag: tag.clone(), page: 1 })),
            None => (NAME.to_owned(), cx.absolute(Index { page: 1 })),
        };
        Ok(Self { title, origin: cx.origin(), home, itself: cx.absolute(itself), entries })
    }

    fn atom(&self) -> Result {
        let updated = self.entries.first().map_or("1970-01-01", |(_, entry)| &entry.published);
        let xml = document(|xml| {
            let root = xml.create_element("feed").with_attribute(("xmlns", "http://www.w3.org/2005/Atom"));
            root.write_inner_content(|xml| {
                text(xml, "title", &self.title)?;
                text(xml, "id", &self.home)?;
                text(xml, "updated", &midnight(updated))?;
                xml.create_element("author").write_inner_content(|xml| text(xml, "name", NAME))?;
                atom_link(xml, "alternate", &self.home)?;
                atom_link(xml, "self", &self.itself)?;
                self.entries.iter().try_for_each(|(link, entry)| entry.atom(xml, link, &self.origin))
            })?;
            Ok(())
        })?;
        Ok(Response::with_content_type("application/atom+xml; charset=utf-8", xml))
    }

    fn rss(&self) -> Result {
        let xml = document(|xml| {
            let root = xml.create_element("rss").with_attribute(("version", "2.0"));
            root.with_attribute(("xmlns:atom", "http://www.w3.org/2005/Atom")).write_inner_content(|xml| {
                xml.create_element("channel").write_inner_content(|xml| {
                    text(xml, "title", &self.title)?;
                    text(xml, "link", &self.home)?;
                    text(xml, "description", &self.title)?;
                    text(xml, "language", "en")?;
                    let itself = xml.create_element("atom:link").with_attribute(("rel", "self"));
                    itself
                        .with_attribute(("type", "application/rss+xml"))
                        .with_attribute(("href", self.itself.as_str()))
                        .write_empty()?;
                    self.entries.iter().try_for_each(|(link, entry)| entry.rss(xml, link, &self.origin))
                })?;
                Ok(())
            })?;
            Ok(())
        })?;
        Ok(Response::with_content_type("application/rss+xml; charset=utf-8", xml))
    }
}

/// The newest articles, with a tag or all.
fn entries(tag: Option<&Slug>) -> Query<'_, Entry> {
    sql!(
        Entry,
        "select slug, title, published, unixepoch(published) as \"seconds!\", summary, markdown from article"
        {if let Some(tag) = tag: "where id in (select article_id from article_tag where tag = ?)", tag}
        "order by published desc, id desc limit ?",
        MOST
    )
}

type Xml = Writer<Vec<u8>>;

impl Entry {
    fn atom(&self, xml: &mut Xml, link: &str, origin: &str) -> io::Result<()> {
        xml.create_element("entry").write_inner_content(|xml| {
            text(xml, "title", &self.title)?;
            text(xml, "id", link)?;
            atom_link(xml, "alternate", link)?;
            text(xml, "published", &midnight(&self.published))?;
            text(xml, "updated", &midnight(&self.published))?;
            text(xml, "summary", &self.summary)?;
            let content = xml.create_element("content").with_attribute(("type", "html"));
            content.write_text_content(BytesText::new(markdown::article_from(origin, &self.markdown).as_str()))?;
            Ok(())
        })?;
        Ok(())
    }

    fn rss(&self, xml: &mut Xml, link: &str, origin: &str) -> io::Result<()> {
        let seconds = u64::try_from(self.seconds).unwrap_or(0);
        let date = httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds));
        xml.create_element("item").write_inner_content(|xml| {
            text(xml, "title", &self.title)?;
            text(xml, "link", link)?;
            text(xml, "guid", link)?;
            text(xml, "pubDate", &date)?;
            text(xml, "description", markdown::article_from(origin, &self.markdown).as_str())
        })?;
        Ok(())
    }
}

fn document(write: impl FnOnce(&mut Xml) -> io::Result<()>) -> io::Result<Vec<u8>> {
    let mut xml = Writer::new(Vec::new());
    xml.write_event(Event::Decl(BytesDecl::new("1.0", Some("utf-8"), None)))?;
    write(&mut xml)?;
    Ok(xml.into_inner())
}

fn text(xml: &mut Xml, name: &str, text: &str) -> io::Result<()> {
    xml.create_element(name).write_text_content(BytesText::new(text))?;
    Ok(())
}

fn atom_link(xml: &mut Xml, relation: &str, href: &str) -> io::Result<()> {
    xml.create_element("link").with_attribute(("rel", relation)).with_attribute(("href", href)).write_empty()?;
    Ok(())
}

/// A day as the date and time that Atom wants.
fn midnight(day: &str) -> String {
    format!("{day}T00:00:00Z")
}
