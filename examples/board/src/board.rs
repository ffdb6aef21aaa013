//! A board: its lists with their cards, and who looks at it.

use std::time::Duration;

use skep::cache::{EntryPolicy, Fragment, SharedCx};
use skep::form::Hidden;
use skep::html::Items;
use skep::prelude::*;
use skep::sql::Row;
use skep_live::{Presence, live};

use crate::card::{Add, Move, Put, Remove, Save};
use crate::layout::page;
use crate::person::Person;

/// Who looks at a board, by its number.
const VIEWERS: Presence<Person, i64> = Presence::new("board");

/// A list of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Param)]
pub enum List {
    /// Not begun.
    #[param(label = "To do")]
    Todo,
    /// Somebody is at it.
    Doing,
    /// Over.
    Done,
}

/// From left to right.
pub const LISTS: [List; 3] = [List::Todo, List::Doing, List::Done];

impl List {
    const fn title(self) -> &'static str {
        match self {
            Self::Todo => "To do",
            Self::Doing => "Doing",
            Self::Done => "Done",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Todo => "todo",
            Self::Doing => "doing",
            Self::Done => "done",
        }
    }
}

/// A card as it is shown.
#[derive(Row)]
struct Card {
    id: i64,
    list: List,
    title: String,
    note: String,
    version: i64,
}

/// The page of a board.
#[derive(Service)]
#[service(GET "/boards/{board}")]
pub struct Board {
    board: i64,
    #[guard]
    person: Person,
}

impl Handle for Board {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let title = cx.db().one(sql!(String, "select title from board where id = ?", self.board)).await?.or_404()?;
        VIEWERS.track(cx, &self.board, &self.person.id, &self.person)?;
        let viewers = cx.fragment(&Viewers { board: self.board }).await?;
        let cards = sql!(
            Card,
            "select id, list, title, note, version from card where board = ? order by position, id",
            self.board
        );
        let cards = cx.db().all(cards).await?;
        let content = html! {
            div.top { h1 { (title) } (live("viewers", viewers)) }
            (live("lists", html! { div.lists { @for list in LISTS { (column(cx, self.board, list, &cards)) } } }))
            // What the script for dragging fills in and sends.
            form #put hidden (Put::form(cx, self.board).prefixed("put")) {
                input (Put::card);
                input (Put::list);
                input (Put::before);
                button { "Put it there" }
            }
        };
        Ok(page(&title, &content))
    }
}

/// Who looks at a board: made once for all of them.
#[derive(Hash)]
struct Viewers {
    board: i64,
}

impl Fragment for Viewers {
    fn policy(&self) -> EntryPolicy {
        EntryPolicy::new(Duration::from_mins(1))
    }

    async fn make(&self, cx: &SharedCx<'_>) -> Result<Html> {
        let viewers = VIEWERS.list(cx, &self.board).await?;
        Ok(html! {
            ul.viewers aria-label="Who looks at this board" { @for viewer in &viewers { li { (viewer.name) } } }
        })
    }
}

fn column(cx: &Cx<'_>, board: i64, list: List, cards: &[Card]) -> Html {
    let cards: Vec<&Card> = cards.iter().filter(|card| card.list == list).collect();
    let heading = format!("list-{}", list.name());
    html! {
        section.list data-list=(list.name()) aria-labelledby=(&*heading) {
            h2 id=(&*heading) { (list.title()) " " span.count { (cards.len()) } }
            ol.cards { @for card in cards { (shown(cx, board, card)) } }
            form.add (Add::form(cx, board, list).prefixed(format!("add-{}", list.name()))) {
                input (Add::title) placeholder="A new card" aria-label={ "A new card in " (list.title()) };
                button { "Add" }
            }
        }
    }
}

fn shown(cx: &Cx<'_>, board: i64, card: &Card) -> Html<Items> {
    let save = Save::form(cx, board, card.id)
        .prefixed(format!("save-{}", card.id))
        .value(Save::version, &Hidden(card.version))
        .text(Save::title, &card.title)
        .text(Save::note, &card.note);
    // What was refused is shown.
    let is_open = save.action() == cx.uri().path();
    piece! {
        li.card id={ "card-" (card.id) } draggable="true" {
            details open[is_open] {
                summary { (card.title) }
                form (save) {
                    input (Save::version);
                    label (Save::title) { "Title" }
                    input (Save::title);
                    label (Save::note) { "Note" }
                    textarea (Save::note) rows="3";
                    button { "Save" }
                }
                form (Remove::form(cx, board, card.id)) { button.quiet { "Remove" } }
            }
            @if !card.note.is_empty() { p.note { (card.note) } }
            form.moves (Move::form(cx, board, card.id).prefixed(format!("move-{}", card.id))) {
                @for (to, sign, label) in MOVES {
                    button (Move::to) value=(to) aria-label={ (label) ": " (card.title) } { (sign) }
                }
            }
        }
    }
}

/// The buttons that move a card.
const MOVES: [(&str, &str, &str); 4] =
    [("left", "←", "To the list before"), ("up", "↑", "Up"), ("down", "↓", "Down"), ("right", "→", "To the next list")];
