//! The Rust of the article `error-pages-and-what-they-keep-quiet`.

use skep::prelude::*;

fn reserve(seats: u8) -> Result<()> {
    if seats > 8 {
        return Err(Error::bad_request("a table has eight seats at most"));
    }
    std::fs::write("reservations.txt", seats.to_string())?;
    Ok(())
}

fn closed() -> Error {
Error::new(StatusCode::SERVICE_UNAVAILABLE)
    .with_message("Bookings are closed for a moment. Please try again.")
    .with_cause("the printer in the kitchen does not answer")
}

mod page {
use skep::error_page::Failure;
use skep::html::Document;
use skep::prelude::*;

fn failed(failure: &Failure) -> Html<Document> {
    html! {
        (DOCTYPE)
        html lang="en" {
            head { meta charset="utf-8"; title { (failure.title()) } }
            body {
                h1 { (failure.title()) }
                p { (failure.message()) }
                p { a href=(Menu) { "Back to the menu" } }
                @if let Some(detail) = failure.detail() { pre { (detail) } }
                p { small { "Error " (failure.status().as_u16()) ", id " (failure.id()) } }
            }
        }
    }
}

fn app() -> App {
    App::new().serve(services![Menu]).error_page(failed)
}

#[derive(Service)]
#[service(GET "/menu")]
struct Menu;

impl Handle for Menu {
    async fn handle(self, _cx: &mut Cx<'_>) -> Result {
        Err(super::closed())
    }
}

#[test]
fn the_page_shows_the_message_and_not_the_cause() {
    let client = skep::test::Client::new(app());
    let answer = client.get("/menu");
    assert_eq!(answer.status(), 503);
    assert!(answer.text().contains("Bookings are closed") && !answer.text().contains("printer"), "{}", answer.text());
}
}
