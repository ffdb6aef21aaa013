//! What the parts do, as `examples/courses` is tested.

use skep::Method;
use skep::prelude::*;
use skep::test::{Client, TestResponse};

/// A course with one place by each of two trainers, and twelve more.
fn studio() -> Client {
    let client = Client::new(super::app());
    let rows = |cx: &mut Cx<'_>| cx.db().clone();
    client
        .with_cx(async move |cx| {
            let db = rows(cx);
            db.execute(sql!("insert into account (name, role) values ('Tara', 'trainer'), ('Tom', 'trainer'), ('Mia', 'member'), ('Max', 'member')")).await?;
            db.execute(sql!(
                "insert into course (title, level, trainer_id, starts, places, price) values
                 ('Wax', 'beginner', 1, '2990-01-01T10:00:00.000000Z', 1, '28.00'), ('Gone', 'all', 2, '1990-01-01T10:00:00.000000Z', 9, '1.00')"
            ))
            .await?;
            for number in 1..=12 {
                let title = format!("Later {number}");
                db.execute(sql!(
                    "insert into course (title, level, trainer_id, starts, places, price)
                     values (?, 'advanced', 2, '2991-01-01T10:00:00.000000Z', 5, '9.50')",
                    title
                ))
                .await?;
            }
            Ok(())
        })
        .unwrap();
    client
}

fn ask(client: &Client, method: Method, path: &str, account: i64) -> TestResponse {
    client.request(method, path).header("x-account", &account.to_string()).send()
}

#[test]
fn the_list_has_filters_and_pages() {
    let client = studio();
    let page = ask(&client, Method::GET, "/courses", 3);
    assert_eq!((page.status().as_u16(), page.text().matches("class=\"card\"").count()), (200, 12), "{}", page.text());
    let next =
        page.text().split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap().replace("&amp;", "&");
    assert_eq!(ask(&client, Method::GET, &next, 3).text().matches("class=\"card\"").count(), 1);
    let page = ask(&client, Method::GET, "/courses?level=beginner&trainer=1", 3);
    assert!(page.text().contains("Wax") && page.text().contains("<option value=\"beginner\" selected>"));
    assert_eq!(ask(&client, Method::GET, "/courses?level=best", 3).status(), 400);
}

#[test]
fn who_waits_moves_up() {
    let client = studio();
    ask(&client, Method::POST, "/courses/1/booking", 3);
    assert!(ask(&client, Method::GET, "/courses/1", 3).text().contains("You have a place."));
    ask(&client, Method::POST, "/courses/1/booking", 4);
    assert!(ask(&client, Method::GET, "/courses/1", 4).text().contains("You are on the waiting list."));
    ask(&client, Method::POST, "/courses/1/booking/cancel", 3);
    assert!(ask(&client, Method::GET, "/courses/1", 4).text().contains("You have a place."));
    assert_eq!(ask(&client, Method::POST, "/courses/2/booking", 3).status(), 409);
    assert_eq!(ask(&client, Method::POST, "/courses/99/booking", 3).status(), 404);
    let other = client.request(Method::POST, "/courses/1/booking").header("x-account", "3");
    assert_eq!(other.header("sec-fetch-site", "cross-site").send().status(), 403);
}
