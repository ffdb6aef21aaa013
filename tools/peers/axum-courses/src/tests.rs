//! What the parts do, as `examples/courses` is tested.

use axum::body::Body;
use axum::http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use sqlx::sqlite::{SqlitePool, SqlitePoolOptions};
use tower::ServiceExt as _;

/// A course with one place by each of two trainers, and twelve more.
async fn studio() -> SqlitePool {
    let db = SqlitePoolOptions::new().max_connections(1).connect("sqlite::memory:").await.unwrap();
    sqlx::raw_sql(include_str!("../schema.sql")).execute(&db).await.unwrap();
    let rows = "insert into account (name, role) values ('Tara', 'trainer'), ('Tom', 'trainer'), ('Mia', 'member'), ('Max', 'member');
        insert into course (title, level, trainer_id, starts, places, price) values
            ('Wax', 'beginner', 1, '2990-01-01T10:00:00Z', 1, '28.00'), ('Gone', 'all', 2, '1990-01-01T10:00:00Z', 9, '1.00');
        insert into course (title, level, trainer_id, starts, places, price)
            select 'Later ' || value, 'advanced', 2, '2991-01-01T10:00:00Z', 5, '9.50' from json_each('[1,2,3,4,5,6,7,8,9,10,11,12]')";
    sqlx::raw_sql(rows).execute(&db).await.unwrap();
    db
}

async fn ask(db: &SqlitePool, method: &str, path: &str, account: i64, site: &str) -> (StatusCode, String, String) {
    let request = Request::builder().method(method).uri(path).header("x-account", account);
    let request = request.header("sec-fetch-site", site).body(Body::empty()).unwrap();
    let answer = super::app(db.clone()).oneshot(request).await.unwrap();
    let location = answer.headers().get("location").map(|to| to.to_str().unwrap().to_owned()).unwrap_or_default();
    let (status, body) = (answer.status(), answer.into_body().collect().await.unwrap().to_bytes());
    (status, location, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn the_list_has_filters_and_pages() {
    let db = studio().await;
    let (status, _, page) = ask(&db, "GET", "/courses", 3, "none").await;
    assert_eq!((status, page.matches("class=\"card\"").count()), (StatusCode::OK, 12), "{page}");
    let next = page.split("rel=\"next\" href=\"").nth(1).unwrap().split('"').next().unwrap();
    let next = next.replace("&#38;", "&").replace("&amp;", "&");
    let (_, _, rest) = ask(&db, "GET", &next, 3, "none").await;
    assert_eq!(rest.matches("class=\"card\"").count(), 1, "{rest}");
    let (_, _, page) = ask(&db, "GET", "/courses?level=beginner&trainer=1", 3, "none").await;
    assert!(page.contains("Wax") && page.contains("<option value=\"beginner\" selected>"), "{page}");
    assert_eq!(ask(&db, "GET", "/courses?level=best", 3, "none").await.0, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn who_waits_moves_up() {
    let db = studio().await;
    assert_eq!(ask(&db, "POST", "/courses/1/booking", 3, "same-origin").await.1, "/courses/1?told=booked");
    assert_eq!(ask(&db, "POST", "/courses/1/booking", 4, "same-origin").await.1, "/courses/1?told=waiting");
    assert_eq!(ask(&db, "POST", "/courses/1/booking/cancel", 3, "same-origin").await.1, "/courses/1?told=cancelled");
    assert!(ask(&db, "GET", "/courses/1", 4, "none").await.2.contains("You have a place."));
    assert_eq!(ask(&db, "POST", "/courses/2/booking", 3, "same-origin").await.0, StatusCode::CONFLICT);
    assert_eq!(ask(&db, "POST", "/courses/99/booking", 3, "same-origin").await.0, StatusCode::NOT_FOUND);
    assert_eq!(ask(&db, "POST", "/courses/1/booking", 3, "cross-site").await.0, StatusCode::FORBIDDEN);
}
