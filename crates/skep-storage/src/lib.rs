//! Files of an application: in a folder, or on a server that speaks S3, as the setting `storage.at` says.
//!
//! A file gets a random key and never changes. What it was found to be (name, media type, size, hash) is its
//! [`FileRecord`], which the application keeps in a column. A file belongs to a transaction, as a row does: it is there
//! if and only if that was committed.
//!
//! ```
//! use skep::form::Upload;
//! use skep::prelude::*;
//! use skep::sql::{Migration, Migrations, query};
//! use skep_storage::prelude::*;
//!
//! #[derive(Service)]
//! #[service(POST "/pictures")]
//! struct Add { #[form] picture: Upload }
//!
//! impl Handle for Add {
//!     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//!         let file = cx.store_file(&self.picture).await?;
//!         cx.transaction().await?.execute(query("insert into picture (file) values (?)", &file)).await?;
//!         Ok(Response::text("stored"))
//!     }
//! }
//!
//! #[derive(Service)]
//! #[service(GET "/pictures/{id}")]
//! struct Picture { id: i64 }
//!
//! impl Handle for Picture {
//!     async fn handle(self, cx: &mut Cx<'_>) -> Result {
//!         let select = query::<FileRecord>("select file from picture where id = ?", self.id);
//!         cx.send_stored(&cx.db().one(select).await?.or_404()?).await
//!     }
//! }
//!
//! # const TABLES: Migrations = Migrations::new(&[Migration::new(1, "0001.sql",
//! #     "create table picture (id integer primary key autoincrement, file text not null) strict")]);
//! let app = App::new().database(TABLES).serve(services![Add, Picture]).storage();
//! # let client = skep::test::Client::new(app);
//! # let files = [("picture", "dot.png", "image/png", &b"\x89PNG\r\n\x1a\n"[..])];
//! # client.request(skep::Method::POST, "/pictures").files(&[], &files).send();
//! # let answer = client.get("/pictures/1");
//! # assert_eq!((answer.status().as_u16(), answer.header("content-type")), (200, Some("image/png")));
//! ```
//!
//! Start reading at [`StorageCx`], and in `storage.rs`.

mod app;
mod bytes;
mod cx;
mod error;
mod folder;
mod key;
mod link;
mod name;
mod new_file;
#[cfg(feature = "image")]
mod photo;
mod record;
#[cfg(all(feature = "s3", not(target_family = "wasm")))]
mod s3;
mod schema;
mod settings;
mod storage;
mod sweep;

pub use app::StorageApp;
pub use cx::StorageCx;
pub use key::Key;
pub use link::FileLink;
pub use new_file::NewFile;
#[cfg(feature = "image")]
pub use photo::{Photo, PhotoError};
pub use record::FileRecord;
pub use storage::{Storage, Uncommitted};

/// What an application's source usually needs.
pub mod prelude {
    pub use crate::{FileRecord, NewFile, Storage, StorageApp, StorageCx};
    #[cfg(feature = "image")]
    pub use crate::{Photo, PhotoError};
}
