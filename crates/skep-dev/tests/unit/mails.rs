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
    assert!(list(&[(1, mail)]).contains("<a href=\"/-/dev/mails/1\">&lt;b&gt;Hi&lt;/b&gt;</a> to Ada"));
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
    let frame = "<iframe sandbox=\"allow-popups allow-popups-to-escape-sandbox\" src=\"/-/dev/mails/7/html\"";
    assert!(page.contains(frame), "{page}");
    let shown = content(&mail);
    assert_eq!(shown, "<!DOCTYPE html><base target=\"_blank\"><img src=\"data:image/png;base64,iVBORw==\">");
}

#[test]
fn a_picture_is_shown_however_its_name_is_quoted() {
    let logo = json!({ "name": "logo", "content_type": "image/png", "bytes": "iVBORw==", "is_inline": true });
    let html = "<img src='cid:logo'><p style=\"background: url(cid:logo)\"><a href=\"cid:logo2\">";
    let shown = content(&json!({ "html": html, "attachments": [logo] }));
    let data = "data:image/png;base64,iVBORw==";
    let expected = format!("<img src='{data}'><p style=\"background: url({data})\"><a href=\"cid:logo2\">");
    assert!(shown.ends_with(&expected), "{shown}");
}

#[test]
fn urls_of_a_text_are_links() {
    let shown = |text: &str| {
        let mut html = String::new();
        with_links(&mut html, text);
        html.replace("<a target=\"_blank\" rel=\"noopener noreferrer\" href=", "<a ")
    };
    let (a, b) = ("http://127.0.0.1:8080/in?a=1&b=2", "https://b.example/x");
    let expected = "Go (<a \"http://127.0.0.1:8080/in?a=1&amp;b=2\">http://127.0.0.1:8080/in?a=1&amp;b=2</a>), or to \
                    <a \"https://b.example/x\">https://b.example/x</a>.\n";
    assert_eq!(shown(&format!("Go ({a}), or to {b}.\n")), expected);
    assert_eq!(shown("javascript:alert(1) <b> http://"), "javascript:alert(1) &lt;b&gt; <a \"http://\">http://</a>");
    assert!(shown("http://a\"onclick=x").starts_with("<a \"http://a\">http://a</a>&quot;onclick"));
}

#[test]
fn the_last_mails_keep_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mails");
    let lines = |count: usize| (1..=count).map(|number| format!("{{\"id\":{number}}}\n")).collect::<Vec<_>>().concat();
    // One that is no mail, and one that is not written to its end.
    fs::write(&file, "{\"id\":1}\nno mail\n{\"id\":3}\n{\"id\":").unwrap();
    let numbers = || last_mails(&file).iter().map(|(number, mail)| (*number, mail["id"].as_u64())).collect::<Vec<_>>();
    assert_eq!(numbers(), [(1, Some(1)), (3, Some(3))]);
    fs::write(&file, lines(MOST + 5)).unwrap();
    assert_eq!((numbers().len(), numbers()[0], numbers()[MOST - 1]), (MOST, (6, Some(6)), (105, Some(105))));
    let large = format!("{{\"id\":3,\"text\":\"{}\"}}\n", "x".repeat(MOST_BYTES));
    fs::write(&file, lines(2) + &large).unwrap();
    assert_eq!(numbers(), [(3, Some(3))]);
    fs::remove_file(&file).unwrap();
    assert!(numbers().is_empty());
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
