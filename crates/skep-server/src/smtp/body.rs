//! The body of a mail: its text, its HTML with the pictures in it, and its files (RFC 2045, 2046, 2387).

use lettre::Message;
use lettre::message::header::{ContentTransferEncoding, ContentType};
use lettre::message::{Attachment, Body, MessageBuilder, MultiPart, SinglePart};
use skep::mail::{self, Failure, Mail, Permanent};

/// Adds it.
pub(super) fn add(message: MessageBuilder, mail: &Mail) -> Result<Message, Failure> {
    // Without HTML nothing shows a picture: it is a file.
    let is_shown = |attachment: &&mail::Attachment| attachment.is_inline && mail.html.is_some();
    let files = mail.attachments.iter().filter(|attachment| !is_shown(attachment));
    let files = files.map(|attachment| file(attachment, Attachment::new)).collect::<Result<Vec<_>, _>>()?;
    let text = with_line_ends(&mail.text);
    let Some(html) = &mail.html else {
        if files.is_empty() {
            return Ok(message.header(ContentType::TEXT_PLAIN).body(text)?);
        }
        return Ok(message.multipart(with(MultiPart::mixed().singlepart(SinglePart::plain(text)), files))?);
    };
    let pictures = mail.attachments.iter().filter(is_shown).map(|picture| file(picture, Attachment::new_inline));
    let pictures = pictures.collect::<Result<Vec<_>, _>>()?;
    let html = SinglePart::html(with_line_ends(html));
    let texts = MultiPart::alternative().singlepart(SinglePart::plain(text));
    let texts = if pictures.is_empty() {
        texts.singlepart(html)
    } else {
        texts.multipart(with(MultiPart::related().singlepart(html), pictures))
    };
    let all = if files.is_empty() { texts } else { with(MultiPart::mixed().multipart(texts), files) };
    Ok(message.multipart(all)?)
}

fn with(parts: MultiPart, files: Vec<SinglePart>) -> MultiPart {
    files.into_iter().fold(parts, MultiPart::singlepart)
}

fn file(attachment: &mail::Attachment, part: impl Fn(String) -> Attachment) -> Result<SinglePart, Failure> {
    let mail::Attachment { name, content_type, bytes, .. } = attachment;
    let kind = ContentType::parse(content_type);
    let kind =
        kind.map_err(|error| Permanent::mail(format!("the attachment {name:?} is {content_type:?}: {error}")))?;
    // Bytes as they are: other encodings are for text, whose line ends are changed on the way.
    let body = Body::new_with_encoding(bytes.to_vec(), ContentTransferEncoding::Base64).expect("any bytes have it");
    Ok(part(name.clone()).body(body, kind))
}

/// Each line ends with CRLF, and there is no other CR or LF (RFC 5321, 2.3.8): servers disagree about what else ends a
/// line.
fn with_line_ends(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n").replace('\n', "\r\n")
}
