//! Pages and JSON from PostgreSQL with actix-web, tokio-postgres, deadpool and askama, with one worker.
//!
//! Run: `peer-actix-postgres PORT ADDRESS CONNECTIONS`. It ends on SIGTERM, by the signal's default: actix's own way
//! waits for idle connections.

use std::error::Error;
use std::fmt::Display;
use std::net::Ipv4Addr;

use actix_web::error::ErrorInternalServerError;
use actix_web::web::{self, Data, Html, Json};
use actix_web::{App, HttpServer, rt};
use peer_data::World;
use peer_data::postgres::Store;

const USAGE: &str = "usage: peer-actix-postgres PORT ADDRESS CONNECTIONS";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let port = arguments.next().and_then(|port| port.parse().ok()).expect(USAGE);
    let address = arguments.next().expect(USAGE);
    let connections = arguments.next().and_then(|number| number.parse().ok()).expect(USAGE);
    rt::System::new().block_on(serve(port, address, connections))
}

async fn serve(port: u16, address: String, connections: usize) -> Result<(), Box<dyn Error>> {
    let store = Store::open(&address, connections).map_err(|error| error.to_string())?;
    let app = move || {
        App::new()
            .app_data(Data::new(store.clone()))
            .route("/list", web::get().to(list))
            .route("/db", web::get().to(db))
            .route("/queries", web::get().to(queries))
            .route("/fortunes", web::get().to(fortunes))
            .route("/updates", web::get().to(updates))
    };
    Ok(HttpServer::new(app).workers(1).disable_signals().bind((Ipv4Addr::LOCALHOST, port))?.run().await?)
}

async fn list(store: Data<Store>) -> actix_web::Result<Html> {
    let (articles, count) = store.newest().await.map_err(failure)?;
    peer_data::list(&articles, count).map(Html::new).map_err(failure)
}

async fn db(store: Data<Store>) -> actix_web::Result<Json<World>> {
    store.world().await.map(Json).map_err(failure)
}

async fn queries(store: Data<Store>) -> actix_web::Result<Json<Vec<World>>> {
    store.worlds().await.map(Json).map_err(failure)
}

async fn fortunes(store: Data<Store>) -> actix_web::Result<Html> {
    let fortunes = store.fortunes().await.map_err(failure)?;
    peer_data::fortunes(fortunes).map(Html::new).map_err(failure)
}

async fn updates(store: Data<Store>) -> actix_web::Result<Json<Vec<World>>> {
    store.update().await.map(Json).map_err(failure)
}

fn failure(error: impl Display) -> actix_web::Error {
    ErrorInternalServerError(error.to_string())
}
