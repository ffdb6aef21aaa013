//! Attachments: files in the data directory, which only those get who may see their comment.

use skep::files::StoredFile;
use skep::form::{FileKind, Upload};
use skep::prelude::*;
use skep::sql::{self, Row};
use skep_people::Signed;

use crate::ticket::Ticket;
use crate::user::User;

/// What may be attached.
#[derive(Debug)]
pub struct Document;

impl FileKind for Document {
    const ACCEPT: Option<&'static str> = Some("image/png,image/jpeg,image/webp,application/pdf,text/plain");
    const MAX: u64 = 5_000_000;
}

/// An attachment, in the list of its comment.
#[derive(Debug, Row)]
pub struct Attachment {
    /// Its number.
    pub id: i64,
    /// The comment that it belongs to.
    pub comment_id: i64,
    /// What its owner calls it.
    pub name: String,
    /// Its size.
    pub bytes: u64,
}

/// Of all comments on a ticket.
pub async fn of(db: &sql::Local, ticket: &Ticket) -> Result<Vec<Attachment>> {
    let select = sql!(
        Attachment,
        "select attachment.id, comment_id, name, bytes
        from attachment join comment on comment.id = comment_id where ticket_id = ?",
        ticket.id
    );
    Ok(db.all(select).await?)
}

/// Keeps files that came with a comment. The name of a file is ours; what its owner calls it is only shown.
pub async fn keep(cx: &Cx<'_>, comment: i64, files: Vec<Upload<Document>>) -> Result<()> {
    for (at, upload) in files.into_iter().enumerate() {
        let (file, name, bytes) = (format!("{}-{at}", cx.id()), upload.file_name().to_owned(), upload.len());
        upload.keep(cx.data().join(FOLDER).join(&file)).await?;
        let insert = sql!(
            "insert into attachment (comment_id, file, name, bytes) values (?, ?, ?, ?)",
            comment,
            file,
            name,
            bytes
        );
        cx.transaction().await?.execute(insert).await?;
    }
    Ok(())
}

const FOLDER: &str = "attachments";

/// Sends an attachment.
#[derive(Service)]
#[service(GET "/attachments/{id}")]
pub struct Download {
    id: i64,
    #[guard]
    user: Signed<User>,
}

impl Handle for Download {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let select = sql!(
            (String, String),
            "select file, attachment.name from attachment
            join comment on comment.id = attachment.comment_id join ticket on ticket.id = comment.ticket_id
            where attachment.id = ?"
            {if let Some(user) = self.user.sees_only(): "and ticket.customer_id = ? and not comment.internal", user},
            self.id
        );
        let (file, name) = cx.db().one(select).await?.or_404()?;
        cx.send_file(&StoredFile::new(cx.data().join(FOLDER), file).name(name))
    }
}
