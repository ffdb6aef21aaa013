//! The tests of both databases: each is given a new one, and is over HTTP but for the socket.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum_sql::router;
use http_body_util::BodyExt as _;
use skep_sql::{Database, query};
use tower::ServiceExt as _;

/// Each test of this file as one of the file that calls this. `$attribute` is for all of them.
macro_rules! tests {
    ($database:path, $(#[$attribute:meta])*) => {
        requests::tests!(@ $database, [$(#[$attribute])*] a_book_is_added_listed_and_shown a_title_is_there_once
            all_copies_are_lent_and_no_more an_export_has_each_row a_list_has_pages requests_at_once_lend_each_copy_once
            a_serializable_transaction_goes_from_thread_to_thread);
    };
    (@ $database:path, $attributes:tt $($test:ident)*) => {
        $(requests::tests!(@@ $database, $attributes $test);)*
    };
    (@@ $database:path, [$($attribute:tt)*] $test:ident) => {
        $($attribute)*
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $test() {
            requests::$test($database()).await;
        }
    };
}

pub(crate) use tests;

async fn send(app: &Router, request: Request<Body>) -> (StatusCode, String) {
    let response = app.clone().oneshot(request).await.unwrap();
    let status = response.status();
    let location = response.headers().get(header::LOCATION).map(|to| to.to_str().unwrap().to_owned());
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, location.unwrap_or_else(|| String::from_utf8(body.to_vec()).unwrap()))
}

async fn get(app: &Router, path: &str) -> (StatusCode, String) {
    send(app, Request::get(path).body(Body::empty()).unwrap()).await
}

async fn post(app: &Router, path: &str, form: &str) -> (StatusCode, String) {
    let request = Request::post(path).header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    send(app, request.body(form.to_owned().into()).unwrap()).await
}

async fn add(app: &Router, title: &str, copies: u32) -> String {
    let (status, page) = post(app, "/", &format!("title={title}&author=Ada&copies={copies}")).await;
    assert_eq!(status, StatusCode::SEE_OTHER, "{page}");
    page
}

pub(crate) async fn a_book_is_added_listed_and_shown(db: Database) {
    let app = router(db);
    let page = add(&app, "Bees+%26+%3Cb%3E", 2).await;
    let (status, list) = get(&app, "/").await;
    assert_eq!(status, StatusCode::OK);
    assert!(list.contains(&format!("<a href=\"{page}\">Bees &amp; &lt;b></a> by Ada, 2 left")), "{list}");
    assert!(get(&app, &page).await.1.contains("<h1>Bees &amp; &lt;b></h1>"));
    assert_eq!(get(&app, "/books/4711").await.0, StatusCode::NOT_FOUND);
}

pub(crate) async fn a_title_is_there_once(db: Database) {
    let app = router(db);
    add(&app, "Bees", 1).await;
    assert_eq!(post(&app, "/", "title=Bees&author=Ada&copies=1").await.0, StatusCode::CONFLICT);
}

pub(crate) async fn all_copies_are_lent_and_no_more(db: Database) {
    let app = router(db);
    let page = add(&app, "Bees", 1).await;
    let loans = format!("{page}/loans");
    assert_eq!(post(&app, &loans, "reader=Grace").await.0, StatusCode::SEE_OTHER);
    let refused = post(&app, &loans, "reader=Alan").await;
    assert_eq!(refused, (StatusCode::CONFLICT, "all copies are lent".to_owned()));
    let (_, shown) = get(&app, &page).await;
    assert!(shown.contains("0 left") && shown.contains("<li>Grace</li>") && !shown.contains("Alan"), "{shown}");
}

pub(crate) async fn an_export_has_each_row(db: Database) {
    const BOOKS: usize = 3_000;
    for number in 0..BOOKS {
        let book = query("insert into book (title, author, copies) values (?, 'Ada \"A\"', 1)", format!("{number:04}"));
        db.execute(book).await.unwrap();
    }
    let app = router(db);
    let (status, csv) = get(&app, "/export.csv").await;
    assert_eq!((status, csv.lines().count()), (StatusCode::OK, BOOKS));
    assert_eq!(csv.lines().last(), Some("\"2999\",\"Ada \"\"A\"\"\",0"));
}

pub(crate) async fn a_list_has_pages(db: Database) {
    let app = router(db);
    for number in 10..35 {
        add(&app, &format!("Book+{number}"), 1).await;
    }
    let (_, first) = get(&app, "/").await;
    assert!(first.contains("Book 29") && !first.contains("Book 30") && first.contains("/?page=2"), "{first}");
    let (_, second) = get(&app, "/?page=2").await;
    assert!(second.contains("Book 30") && !second.contains("Book 29") && second.contains("/?page=1"), "{second}");
}

/// On a runtime with several threads, whose tasks go from one to the other.
pub(crate) async fn requests_at_once_lend_each_copy_once(db: Database) {
    let app = router(db);
    let page = add(&app, "Bees", 10).await;
    let lend = |reader: usize| {
        let (app, path) = (app.clone(), format!("{page}/loans"));
        tokio::spawn(async move { post(&app, &path, &format!("reader=R{reader}")).await.0 })
    };
    let mut loans = 0;
    for task in (0..25).map(lend).collect::<Vec<_>>() {
        loans += usize::from(task.await.unwrap() == StatusCode::SEE_OTHER);
    }
    assert_eq!(loans, 10);
    assert_eq!(get(&app, &page).await.1.matches("<li>").count(), 10);
}

pub(crate) async fn a_serializable_transaction_goes_from_thread_to_thread(db: Database) {
    let count = tokio::spawn(async move {
        let added: skep_sql::Result<_> = db
            .serializable(async |db| {
                db.execute("insert into book (title, author, copies) values ('Bees', 'Ada', 1)").await?;
                db.one::<i64>("select count(*) from book").await
            })
            .await;
        (added.unwrap(), db.one::<i64>("select count(*) from book").await.unwrap())
    });
    assert_eq!(count.await.unwrap(), (Some(1), Some(1)));
}
