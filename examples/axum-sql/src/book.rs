//! Books and loans in the database. Each statement is checked while this is compiled.

use serde::Deserialize;
use skep_sql::{Database, Page, PageNumber, Result, Row, RowStream, sql};

/// A row of the table. Its fields are compared with the columns of the statements.
#[derive(Row)]
pub(crate) struct Book {
    pub(crate) id: i64,
    pub(crate) title: String,
    pub(crate) author: String,
    pub(crate) copies: i64,
}

/// The form of a new book.
#[derive(Deserialize)]
pub(crate) struct NewBook {
    title: String,
    author: String,
    copies: i64,
}

/// A line of the export.
#[derive(Row)]
pub(crate) struct Exported {
    title: String,
    author: String,
    loans: i64,
}

/// What came of a loan.
pub(crate) enum Lent {
    Yes,
    NoCopyLeft,
}

pub(crate) async fn list(db: &Database, page: PageNumber) -> Result<Page<Book, PageNumber>> {
    db.page(sql!(Book, "select id, title, author, copies from book order by title" {page 20: page})).await
}

pub(crate) async fn find(db: &Database, id: i64) -> Result<Option<Book>> {
    db.one(sql!(Book, "select id, title, author, copies from book where id = ?", id)).await
}

pub(crate) async fn readers(db: &Database, id: i64) -> Result<Vec<String>> {
    db.all(sql!(String, "select reader from loan where book_id = ? order by id", id)).await
}

/// The number of the new book. A title that is there already is a [unique
/// violation](skep_sql::Error::is_unique_violation).
pub(crate) async fn add(db: &Database, book: &NewBook) -> Result<i64> {
    let NewBook { title, author, copies } = book;
    let insert =
        sql!(i64, "insert into book (title, author, copies) values (?, ?, ?) returning id", title, author, copies);
    let id = db.one(insert).await?;
    id.ok_or_else(|| skep_sql::Error::other("`returning` gave no row"))
}

/// Takes a copy and notes who has it, or does neither: a transaction that is dropped is rolled back.
pub(crate) async fn lend(db: &Database, id: i64, reader: &str) -> Result<Lent> {
    let transaction = db.transaction().await?;
    let taken =
        transaction.execute(sql!("update book set copies = copies - 1 where id = ? and copies > 0", id)).await?;
    if taken.rows == 0 {
        return Ok(Lent::NoCopyLeft);
    }
    transaction.execute(sql!("insert into loan (book_id, reader) values (?, ?)", id, reader)).await?;
    transaction.commit().await?;
    Ok(Lent::Yes)
}

/// All books, as they were at one moment, with how often each was lent.
pub(crate) async fn export(db: &Database) -> Result<RowStream<Exported>> {
    let books = sql!(
        Exported,
        "select title, author, (select count(*) from loan where book_id = book.id) as loans from book order by title"
    );
    db.stream(books).await
}

impl Exported {
    /// As a line of CSV.
    pub(crate) fn csv(&self) -> String {
        let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!("{},{},{}\n", quoted(&self.title), quoted(&self.author), self.loans)
    }
}
