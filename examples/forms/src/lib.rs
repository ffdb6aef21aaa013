//! Forms: a course with every kind of field, an order with lines that is accepted once, and trainers, of whom new and
//! edit share the fields.

pub mod course;
pub mod order;
pub mod trainers;

use skep::html::Document;
use skep::prelude::*;
use skep::sql::migrations;

use course::{Course, Register};
use order::{Order, Shop, Thanks};
use trainers::{Create, Edit, Save, Trainers};

skep::assets!(pub Static = "static" at "/static");

/// The application.
#[must_use]
pub fn app() -> App {
    App::new()
        .name(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .serve(services![Course, Register, Shop, Order, Thanks, Trainers, Create, Edit, Save])
        .files("/static", Static::files())
        .database(migrations!("migrations"))
}

skep::component!(app());

/// A page, and what the one before has to say.
fn page(cx: &Cx<'_>, title: &str, content: &Html) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                link rel="stylesheet" href=(Static::FORMS_CSS);
                link rel="icon" href=(Static::FAVICON_SVG) type="image/svg+xml";
            }
            body {
                nav { a href=(Course) { "A course" } " " a href=(Shop) { "An order" } " " a href=(Trainers) { "Trainers" } }
                main {
                    h1 { (title) }
                    @for text in cx.flashes() { p.done role="status" { (text) } }
                    (content)
                }
            }
        }
    }
}
