//! The rows in PostgreSQL, through tokio-postgres and deadpool: statements are prepared once for each connection, and
//! those that do not depend on each other are sent together.

use std::error::Error;

use deadpool_postgres::{Client, Manager, ManagerConfig, Pool, RecyclingMethod};
use futures_util::future::{try_join, try_join_all};
use tokio_postgres::{Config, NoTls, Row};

use crate::{Article, Fortune, PER_PAGE, ROWS, World, random};

const NEWEST: &str =
    "select slug, title, summary, published, tags from article order by published desc, id desc limit $1";

const COUNT: &str = "select count(*) from article";

const WORLD: &str = "select id, randomnumber from world where id = $1";

const FORTUNES: &str = "select id, message from fortune";

const UPDATE: &str = "update world set randomnumber = other.number \
    from (select unnest($1::int[]) as id, unnest($2::int[]) as number) other where world.id = other.id";

/// Why there are no rows.
pub type Failure = Box<dyn Error + Send + Sync>;

/// A pool of connections.
#[derive(Clone)]
pub struct Store(Pool);

impl Store {
    /// For a database, with at most this number of connections.
    ///
    /// # Errors
    ///
    /// The address is malformed.
    pub fn open(address: &str, connections: usize) -> Result<Self, Failure> {
        let config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_config(address.parse::<Config>()?, NoTls, config);
        Ok(Self(Pool::builder(manager).max_size(connections).build()?))
    }

    /// The newest articles and the number of all.
    ///
    /// # Errors
    ///
    /// What PostgreSQL or the pool says.
    pub async fn newest(&self) -> Result<(Vec<Article>, i64), Failure> {
        let client = self.0.get().await?;
        let (newest, count) = (client.prepare_cached(NEWEST).await?, client.prepare_cached(COUNT).await?);
        let (rows, count) = try_join(client.query(&newest, &[&PER_PAGE]), client.query_one(&count, &[])).await?;
        let article = |row: &Row| Article {
            slug: row.get(0),
            title: row.get(1),
            summary: row.get(2),
            published: row.get(3),
            tags: row.get(4),
        };
        Ok((rows.iter().map(article).collect(), count.get(0)))
    }

    /// A row, by a random number.
    ///
    /// # Errors
    ///
    /// What PostgreSQL or the pool says.
    pub async fn world(&self) -> Result<World, Failure> {
        let client = self.0.get().await?;
        let statement = client.prepare_cached(WORLD).await?;
        Ok(world(&client.query_one(&statement, &[&random()]).await?))
    }

    /// As many as [`ROWS`] says, each by a statement of its own.
    ///
    /// # Errors
    ///
    /// What PostgreSQL or the pool says.
    pub async fn worlds(&self) -> Result<Vec<World>, Failure> {
        worlds(&self.0.get().await?).await
    }

    /// The same, with other numbers, which are written.
    ///
    /// # Errors
    ///
    /// What PostgreSQL or the pool says.
    pub async fn update(&self) -> Result<Vec<World>, Failure> {
        let client = self.0.get().await?;
        let mut rows = worlds(&client).await?;
        rows.iter_mut().for_each(|row| row.number = random());
        // In one order, so that no two requests wait for each other.
        rows.sort_unstable_by_key(|row| row.id);
        let (ids, numbers): (Vec<_>, Vec<_>) = rows.iter().map(|row| (row.id, row.number)).unzip();
        let statement = client.prepare_cached(UPDATE).await?;
        client.execute(&statement, &[&ids, &numbers]).await?;
        Ok(rows)
    }

    /// All fortunes of the table.
    ///
    /// # Errors
    ///
    /// What PostgreSQL or the pool says.
    pub async fn fortunes(&self) -> Result<Vec<Fortune>, Failure> {
        let client = self.0.get().await?;
        let statement = client.prepare_cached(FORTUNES).await?;
        let rows = client.query(&statement, &[]).await?;
        Ok(rows.iter().map(|row| Fortune { id: row.get(0), message: row.get(1) }).collect())
    }
}

async fn worlds(client: &Client) -> Result<Vec<World>, Failure> {
    let statement = client.prepare_cached(WORLD).await?;
    let ids: [i32; ROWS] = std::array::from_fn(|_| random());
    let rows = ids.iter().map(async |id| client.query_one(&statement, &[id]).await);
    Ok(try_join_all(rows).await?.iter().map(world).collect())
}

fn world(row: &Row) -> World {
    World { id: row.get(0), number: row.get(1) }
}
