//! The articles in SQLite, through sqlx.
//!
//! It fills an empty database with [`articles::all`] and never writes again.

use std::path::Path;

use sqlx::Result;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

const SCHEMA: &str = "
    create table if not exists article (
        id integer primary key, slug text not null unique, title text not null, summary text not null,
        published text not null, tags text not null) strict;
    create index if not exists article_published on article (published, id);";

const NEWEST: &str = "
    select slug, title, summary, published, tags
    from article order by published desc, id desc limit ?";

/// The first page, and how many articles there are in all.
pub(crate) struct List {
    pub(crate) articles: Vec<Row>,
    pub(crate) count: i64,
}

/// An article as the list shows it.
pub(crate) struct Row {
    pub(crate) slug: String,
    pub(crate) title: String,
    pub(crate) summary: String,
    pub(crate) published: String,
    /// With a space between them.
    pub(crate) tags: String,
}

/// An open database.
pub(crate) struct Store(SqlitePool);

impl Store {
    /// Opens the database with sqlx's own pool size (10, each connection tested before it is used), or `tuned` to what
    /// suits one core: one connection, not tested.
    pub(crate) async fn open(file: &Path, tuned: bool) -> Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Normal);
        let pool = SqlitePoolOptions::new();
        let pool = if tuned { pool.max_connections(1).test_before_acquire(false) } else { pool };
        let store = Self(pool.connect_with(options).await?);
        store.fill().await?;
        Ok(store)
    }

    async fn fill(&self) -> Result<()> {
        sqlx::raw_sql(SCHEMA).execute(&self.0).await?;
        if self.count().await? > 0 {
            return Ok(());
        }
        let mut transaction = self.0.begin().await?;
        for article in articles::all() {
            sqlx::query("insert into article (slug, title, summary, published, tags) values (?, ?, ?, ?, ?)")
                .bind(article.slug)
                .bind(article.title)
                .bind(article.summary)
                .bind(article.published)
                .bind(article.tags.join(" "))
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await
    }

    async fn count(&self) -> Result<i64> {
        sqlx::query_scalar("select count(*) from article").fetch_one(&self.0).await
    }

    /// The newest articles and the number of all, over one connection.
    pub(crate) async fn newest(&self) -> Result<List> {
        let mut connection = self.0.acquire().await?;
        let rows: Vec<(String, String, String, String, String)> = sqlx::query_as(NEWEST)
            .bind(i64::try_from(articles::PER_PAGE).expect("a page is small"))
            .fetch_all(&mut *connection)
            .await?;
        let count = sqlx::query_scalar("select count(*) from article").fetch_one(&mut *connection).await?;
        let row = |(slug, title, summary, published, tags)| Row { slug, title, summary, published, tags };
        Ok(List { articles: rows.into_iter().map(row).collect(), count })
    }
}
