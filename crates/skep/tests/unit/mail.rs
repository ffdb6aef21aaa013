//! Unit tests of `mail`.

use std::fs;
use std::process::Command;
use std::task::{Context, Poll, Waker};

use serde_json::{Value, json};

use super::*;

const VARIABLE: &str = "MAILS_OF_SKEP_DEV";

struct Discarding;

impl Mailer for Discarding {
    fn send(&self, _: Mail) -> Delivery {
        Box::pin(async { Ok(()) })
    }
}

fn mail(subject: &str) -> Mail {
    Mail::new("ada@example.org", subject, "text")
        .html("<img src=\"cid:logo\">")
        .reply_to("shop@example.org")
        .unsubscribe("https://example.org/end")
        .id("order-7")
        .attach(Attachment::inline("logo", "image/png", b"bees".to_vec()))
}

fn is_sent(outbox: &Outbox, mail: Mail) -> bool {
    let mut delivery = outbox.send(mail);
    matches!(delivery.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(Ok(())))
}

/// It has the variable.
#[test]
#[ignore = "child process of the test below"]
fn child_process_sends_to_each_outbox() {
    assert!(is_sent(&Outbox::Mailer(Arc::new(Discarding)), mail("mailer")));
    assert!(is_sent(&Outbox::Collected(Mutex::default()), mail("collected")));
    assert!(!is_sent(&Outbox::Missing, mail("missing")));
    assert!(is_sent(&Outbox::Log, mail("log")), "with and without the file");
}

/// `skep dev` reads these keys (`crates/skep-dev/src/front/mails.rs`).
#[test]
fn what_goes_to_the_log_in_development_is_recorded_where_skep_dev_has_a_file() {
    let folder = std::env::temp_dir().join(format!("skep-mail-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mails");
    let run = || {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--ignored", "child_process_sends_to_each_outbox"]).env(VARIABLE, &file);
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
    };
    run();
    assert!(!file.exists(), "a file of mails that nobody made would be readable by others");
    fs::write(&file, "").unwrap();
    run();
    let lines = fs::read_to_string(&file).unwrap();
    fs::remove_dir_all(folder).unwrap();
    let recorded: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let logo = json!({ "name": "logo", "content_type": "image/png", "bytes": "YmVlcw==", "is_inline": true });
    let expected = json!({
        "to": "ada@example.org", "subject": "log", "text": "text", "html": "<img src=\"cid:logo\">", "from": null,
        "reply_to": "shop@example.org", "attachments": [logo], "unsubscribe": "https://example.org/end", "id": "order-7",
    });
    assert_eq!(recorded, [expected]);
}
