//! What is done with cards. Each is a form, which a live page sends in place.

use skep::form::{Conflict, Hidden, MultilineText, Text};
use skep::html::Href;
use skep::prelude::*;
use skep::sql::Transaction;

use crate::board::{Board, LISTS, List};
use crate::person::Person;

/// A link to a card on its board.
fn at(board: i64, card: i64) -> impl Destination + Href {
    Board::link(board).at(format!("card-{card}"))
}

/// Adds a card at the end of a list.
#[derive(Service)]
#[service(POST "/boards/{board}/{list}", page = Board::link(board))]
pub struct Add {
    board: i64,
    list: List,
    #[guard]
    _person: Person,
    #[form]
    title: Text<1, 120>,
}

impl Handle for Add {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        db.one(sql!(i64, "select id from board where id = ?", self.board)).await?.or_404()?;
        let insert = sql!(
            "insert into card (board, list, position, title) values
                (?, ?, (select count(*) from card where board = ? and list = ?), ?)",
            self.board,
            &self.list,
            self.board,
            &self.list,
            &self.title
        );
        let added = db.execute(insert).await?;
        Ok(Response::see_other(at(self.board, added.last_insert_id)))
    }
}

/// Changes what is on a card, unless somebody else did meanwhile.
#[derive(Service)]
#[service(POST "/boards/{board}/cards/{card}", page = Board::link(board))]
pub struct Save {
    board: i64,
    card: i64,
    #[guard]
    _person: Person,
    /// The version that was edited.
    #[form]
    version: Hidden<i64>,
    #[form]
    title: Text<1, 120>,
    #[form]
    note: Option<MultilineText<1, 2000>>,
}

impl Handle for Save {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        let select = sql!(
            (i64, String, String),
            "select version, title, note from card where id = ? and board = ?",
            self.card,
            self.board
        );
        let (version, title, note) = db.one(select).await?.or_404()?;
        if version != self.version.0 {
            let conflict = Conflict::new(cx, Self::version, &version);
            let conflict = conflict.field(Self::title, &self.title, &title.parse().map_err(Error::internal)?);
            return Err(conflict.field(Self::note, &self.note, &note.parse().ok()).into());
        }
        let note = self.note.as_ref().map_or("", MultilineText::as_str);
        let update = sql!(
            "update card set title = ?, note = ?, version = version + 1 where id = ?",
            &self.title,
            note,
            self.card
        );
        db.execute(update).await?;
        Ok(Response::see_other(at(self.board, self.card)))
    }
}

/// Where a button moves a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum Way {
    /// To the list before.
    Left,
    /// Before the card above.
    Up,
    /// Behind the card below.
    Down,
    /// To the next list.
    Right,
}

/// Moves a card by one place, or to the end of another list.
#[derive(Service)]
#[service(POST "/boards/{board}/cards/{card}/move")]
pub struct Move {
    board: i64,
    card: i64,
    #[guard]
    _person: Person,
    #[form]
    to: Way,
}

impl Handle for Move {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        let (list, position) = place(db, self.board, self.card).await?;
        let column = LISTS.iter().position(|one| *one == list).unwrap_or_default();
        let beside = |column: usize| LISTS.get(column).map_or((list, position), |list| (*list, i64::MAX));
        let (list, position) = match self.to {
            Way::Left => beside(column.wrapping_sub(1)),
            Way::Right => beside(column + 1),
            Way::Up => (list, position - 1),
            Way::Down => (list, position + 1),
        };
        put(db, (self.board, self.card), list, position).await?;
        Ok(Response::see_other(at(self.board, self.card)))
    }
}

/// Puts a card before another one, or at the end of a list: what dragging does.
#[derive(Service)]
#[service(POST "/boards/{board}/put")]
pub struct Put {
    board: i64,
    #[guard]
    _person: Person,
    #[form]
    card: Hidden<i64>,
    #[form]
    list: Hidden<List>,
    #[form]
    before: Option<Hidden<i64>>,
}

impl Handle for Put {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let (db, card) = (cx.transaction().await?, self.card.0);
        let (from, old) = place(db, self.board, card).await?;
        let position = match self.before {
            None => i64::MAX,
            Some(Hidden(before)) => {
                let (list, position) = place(db, self.board, before).await?;
                // Those behind it move up once it is taken out.
                if list == from && old < position { position - 1 } else { position }
            }
        };
        put(db, (self.board, card), self.list.0, position).await?;
        Ok(Response::see_other(at(self.board, card)))
    }
}

/// Removes a card.
#[derive(Service)]
#[service(POST "/boards/{board}/cards/{card}/remove")]
pub struct Remove {
    board: i64,
    card: i64,
    #[guard]
    _person: Person,
}

impl Handle for Remove {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let db = cx.transaction().await?;
        // Who was second finds it gone, which is what they want.
        if let Some((list, position)) = find(db, self.board, self.card).await? {
            db.execute(sql!("delete from card where id = ?", self.card)).await?;
            close_gap(db, self.board, list, position).await?;
        }
        Ok(Response::see_other(Board::link(self.board)))
    }
}

async fn find(db: &Transaction, board: i64, card: i64) -> Result<Option<(List, i64)>> {
    let select = sql!((List, i64), "select list, position from card where id = ? and board = ?", card, board);
    Ok(db.one(select).await?)
}

async fn place(db: &Transaction, board: i64, card: i64) -> Result<(List, i64)> {
    find(db, board, card).await?.or_404()
}

/// Takes a card out of its list, and puts it into this one.
async fn put(db: &Transaction, (board, card): (i64, i64), list: List, position: i64) -> Result<()> {
    let (from, old) = place(db, board, card).await?;
    db.execute(sql!("update card set position = -1 where id = ?", card)).await?;
    close_gap(db, board, from, old).await?;
    let count = sql!(i64, "select count(*) from card where board = ? and list = ? and position >= 0", board, &list);
    let position = position.clamp(0, db.one(count).await?.unwrap_or(0));
    let make_room = sql!(
        "update card set position = position + 1 where board = ? and list = ? and position >= ?",
        board,
        &list,
        position
    );
    db.execute(make_room).await?;
    db.execute(sql!("update card set list = ?, position = ? where id = ?", &list, position, card)).await?;
    Ok(())
}

async fn close_gap(db: &Transaction, board: i64, list: List, position: i64) -> Result<()> {
    let update = sql!(
        "update card set position = position - 1 where board = ? and list = ? and position > ?",
        board,
        &list,
        position
    );
    db.execute(update).await?;
    Ok(())
}
