//! Unit tests of `mails`.

use serde_json::json;

use super::*;

#[test]
fn what_a_mail_says_is_text() {
    let mail =
        json!({ "to": "Ada <ada@example.org>", "subject": "<b>Hi</b>", "text": "1 < 2", "html": null, "from": null });
    let page = page("1", &mail);
    assert!(page.contains("<dd>Ada &lt;ada@example.org&gt;</dd>") && page.contains("<h1>&lt;b&gt;Hi"), "{page}");
    assert!(page.contains("1 &lt; 2</pre>") && !page.contains("iframe") && !page.contains("From"), "{page}");
    assert!(list(&[mail]).contains("<a href=\"/-/dev/mails/1\">&lt;b&gt;Hi&lt;/b&gt;</a> to Ada"));
    assert!(list(&[]).contains("No mail was sent yet"));
}

#[test]
fn what_goes_along_can_be_saved_and_pictures_are_shown() {
    let logo = json!({ "name": "logo", "content_type": "image/png", "bytes": "iVBORw==", "is_inline": true });
    let bill = json!({ "name": "bill.csv", "content_type": "text/csv", "bytes": "MQ==", "is_inline": false });
    let mail = json!({ "to": "a@b", "subject": "x", "text": "", "html": "<img src=\"cid:logo\">", "attachments": [logo, bill] });
    let page = page("7", &mail);
    assert!(
        page.contains("<a download=\"bill.csv\" href=\"data:text/csv;base64,MQ==\">bill.csv</a> text/csv"),
        "{page}"
    );
    assert!(page.contains("<iframe sandbox=\"allow-popups\" src=\"/-/dev/mails/7/html\""), "{page}");
    assert_eq!(content(&mail), "<img src=\"data:image/png;base64,iVBORw==\">");
}

#[test]
fn a_mailbox_begins_empty_and_is_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("new/shop.mails");
    clear(&file).unwrap();
    fs::write(&file, "{}\n").unwrap();
    clear(&file).unwrap();
    assert_eq!((fs::read(&file).unwrap().len(), file.metadata().unwrap().permissions().mode() & 0o777), (0, 0o600));
}
