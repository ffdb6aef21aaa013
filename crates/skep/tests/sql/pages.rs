//! `{page 20: number}` and `{keyset 20: cursor}` of `sql!`: each row is on one page, forwards and backwards.

use std::sync::Arc;

use skep::offload::Inline;
use skep::param::Param;
use skep::sql::{self, Blocking, Cursor, Database, Migrations, Page, PageNumber, Row, migrations};

const MIGRATIONS: Migrations = migrations!("tests/sql/checked");

macro_rules! sql {
    ($($input:tt)*) => { skep::sql!(in "tests/sql/checked"; $($input)*) };
}

#[derive(Row, Clone, Debug, PartialEq)]
struct Post {
    id: i64,
    seen: i64,
    author: Option<String>,
}

type Place = Cursor<(i64, i64)>;

/// Eleven posts, of which many were seen as often.
fn with_posts(work: impl FnOnce(&mut Blocking<'_>) -> sql::Result<()>) {
    let database = Database::temporary(&MIGRATIONS, Arc::new(Inline)).unwrap();
    let fill = |db: &mut Blocking<'_>| {
        db.execute(sql!("insert into author (id, name) values (1, 'Ann')"))?;
        for id in 1..=11_i64 {
            let (slug, author) = (format!("post-{id}"), (id % 2 == 0).then_some(1));
            db.execute(sql!(
                "insert into post (id, author, slug, title, seen) values (?, ?, ?, 'A post', ?)",
                id,
                author,
                slug,
                id % 3
            ))?;
        }
        work(db)
    };
    database.write(fill).unwrap();
}

fn page(db: &mut Blocking<'_>, at: Option<Place>, of_ann: bool) -> sql::Result<Page<Post, Place>> {
    db.page(sql!(
        Post,
        "select post.id, post.seen, author.name as author from post left join author on author.id = post.author where post.id > ?"
        {if of_ann: "and author.name = ?", "Ann"}
        "order by seen desc, id desc" {keyset 3: at},
        0
    ))
}

fn ids(rows: &[Post]) -> Vec<i64> {
    rows.iter().map(|post| post.id).collect()
}

/// As a link carries it.
fn sent(at: &Place) -> Option<Place> {
    let mut text = String::new();
    at.write(&mut text);
    Place::parse(&text)
}

#[test]
fn a_keyset_leads_through_all_rows_and_back() {
    with_posts(|db| {
        let all = [11, 8, 5, 2, 10, 7, 4, 1, 9, 6, 3];
        let (mut seen, mut page) = (Vec::new(), page(db, None, false)?);
        assert_eq!((page.len(), page.previous), (3, None));
        loop {
            seen.extend(ids(&page));
            let Some(next) = &page.next else { break };
            page = self::page(db, sent(next), false)?;
        }
        assert_eq!(seen, all);
        let mut back = Vec::new();
        while let Some(previous) = &page.previous {
            page = self::page(db, sent(previous), false)?;
            back.splice(0..0, ids(&page));
        }
        assert_eq!(back, all[..9]);
        assert!(page.next.is_some());
        Ok(())
    });
}

#[test]
fn what_is_added_or_removed_meanwhile_moves_no_other_row_to_another_page() {
    with_posts(|db| {
        let first = page(db, None, false)?;
        assert_eq!(ids(&first), [11, 8, 5]);
        db.execute(sql!("insert into post (id, slug, title, seen) values (20, 'new', 'New', 2)"))?;
        db.execute(sql!("delete from post where id = 5"))?;
        let second = page(db, first.next, false)?;
        assert_eq!(ids(&second), [2, 10, 7]);
        assert_eq!(ids(&page(db, second.previous, false)?), [20, 11, 8]);
        Ok(())
    });
}

#[test]
fn conditional_parts_choose_among_the_statements_of_a_page() {
    with_posts(|db| {
        let first = page(db, None, true)?;
        assert_eq!((ids(&first), first[0].author.as_deref()), (vec![8, 2, 10], Some("Ann")));
        let last = page(db, first.next, true)?;
        assert_eq!((ids(&last), last.next), (vec![4, 6], None));
        Ok(())
    });
}

#[test]
fn behind_the_last_row_is_an_empty_page_that_leads_nowhere() {
    with_posts(|db| {
        let beyond = page(db, Some(Cursor::After((0, 3))), false)?;
        assert!(beyond.is_empty() && beyond.previous.is_none() && beyond.next.is_none(), "{beyond:?}");
        Ok(())
    });
}

#[test]
fn one_column_and_rows_without_a_type_have_a_cursor_too() {
    with_posts(|db| {
        let first = db.page(sql!("select slug, id from post order by slug" {keyset 10: None::<Cursor<String>>}))?;
        assert_eq!(first.next, Some(Cursor::After("post-8".to_owned())));
        let second = db.page(sql!("select slug, id from post order by slug" {keyset 10: first.next}))?;
        assert_eq!(second.rows[0].id, 9);
        Ok(())
    });
}

#[test]
fn numbers_lead_to_the_pages_around() {
    with_posts(|db| {
        let mut page = |number: u32, least: i64| {
            let number = PageNumber::new(number).unwrap();
            db.page(sql!(i64, "select id from post where id >= ? order by id" {page 4: number}, least))
        };
        let number = PageNumber::new;
        let first = page(1, 0)?;
        assert_eq!((first.rows, first.previous, first.next), (vec![1, 2, 3, 4], None, number(2)));
        let last = page(3, 0)?;
        assert_eq!((last.rows, last.previous, last.next), (vec![9, 10, 11], number(2), None));
        let exact = page(2, 4)?;
        assert_eq!((exact.rows, exact.next), (vec![8, 9, 10, 11], None));
        Ok(())
    });
}
