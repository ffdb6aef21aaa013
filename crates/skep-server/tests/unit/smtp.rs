//! Mail reaches a mail server, also when the first connection fails, and no request waits for a slow one.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use mail_parser::{MessageParser, MimeHeaders};
use skep::mail::Attachment;

use super::*;

/// Bytes of mails that wait.
const ROOM: u32 = 1 << 20;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// One conversation of a mail server: what it was told.
fn converse(stream: TcpStream) -> String {
    let (mut lines, mut stream) = (BufReader::new(stream.try_clone().unwrap()).lines(), stream);
    let mut told = String::new();
    write!(stream, "220 ready\r\n").unwrap();
    let mut in_data = false;
    while let Some(Ok(line)) = lines.next() {
        told.push_str(&line);
        told.push('\n');
        let answer = match &*line {
            "." => "250 taken\r\n",
            _ if in_data => continue,
            "DATA" => "354 go on\r\n",
            "QUIT" => "221 bye\r\n",
            _ => "250 fine\r\n",
        };
        in_data = line == "DATA";
        stream.write_all(answer.as_bytes()).unwrap();
        if line == "QUIT" || line == "." {
            break;
        }
    }
    told
}

fn server() -> (TcpListener, Smtp) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("smtp://{}", listener.local_addr().unwrap());
    let smtp = Smtp::new(&url, Duration::from_secs(20), 2, ROOM).unwrap();
    (listener, smtp)
}

fn mail() -> Mail {
    Mail::new("Ada <ada@example.org>", "Grüße", "Hello.").from("shop@example.org").html("<p>Hello.</p>")
}

#[test]
fn a_mail_reaches_its_server_in_both_forms() {
    let (listener, smtp) = server();
    let server = thread::spawn(move || converse(listener.accept().unwrap().0));
    block_on(smtp.send(mail())).unwrap();
    let told = server.join().unwrap();
    assert!(told.contains("MAIL FROM:<shop@example.org>") && told.contains("RCPT TO:<ada@example.org>"), "{told}");
    assert!(told.contains("multipart/alternative") && told.contains("<p>Hello.</p>"), "{told}");
    assert!(told.contains("Auto-Submitted: auto-generated") && told.contains("Message-ID: <"), "{told}");
}

#[test]
fn a_connection_that_breaks_is_replaced_once() {
    let (listener, smtp) = server();
    let server = thread::spawn(move || {
        drop(listener.accept().unwrap());
        converse(listener.accept().unwrap().0)
    });
    block_on(smtp.send(mail())).unwrap();
    assert!(server.join().unwrap().contains("Hello."));
}

#[test]
fn what_the_server_refuses_is_not_sent_again() {
    let (listener, smtp) = server();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        write!(stream, "554 not here\r\n").unwrap();
        listener.set_nonblocking(true).unwrap();
        listener
    });
    let failure = block_on(smtp.send(mail())).unwrap_err();
    assert!(failure.to_string().contains("permanent"), "{failure}");
    assert!(server.join().unwrap().accept().is_err(), "there is no second attempt");
}

#[test]
fn a_full_queue_is_said_at_once_and_the_end_waits_for_what_is_in_it() {
    let (listener, smtp) = server();
    // Nobody accepts: these connect, and wait for a greeting.
    let mut waiting: Vec<Delivery> = Vec::new();
    let failure = loop {
        let mut delivery = smtp.send(mail());
        match futures_now(&mut delivery) {
            Some(outcome) => break outcome.unwrap_err(),
            None => waiting.push(delivery),
        }
        assert!(waiting.len() <= CONNECTIONS + 3, "the queue has no end");
    };
    assert!(failure.to_string().contains("limits.mail_queue"), "{failure}");
    let many = waiting.len();
    let server =
        thread::spawn(move || (0..many).filter(|_| converse(listener.accept().unwrap().0).contains("Hello.")).count());
    drop(waiting);
    drop(smtp);
    assert_eq!(server.join().unwrap(), many);
}

fn futures_now(delivery: &mut Delivery) -> Option<Outcome> {
    use std::task::{Context, Poll, Waker};
    match delivery.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[test]
fn a_url_that_is_none_is_refused_without_showing_the_password() {
    let refused = Smtp::new("http://user:pa55word@mail.example.org", Duration::from_secs(1), 1, ROOM).err().unwrap();
    assert!(refused.contains("smtps://") && !refused.contains("pa55word"), "{refused}");
}

/// What a server receives of one mail, byte by byte from `DATA` on.
fn told_of(mail: Mail) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let smtp =
        Smtp::new(&format!("smtp://{}", listener.local_addr().unwrap()), Duration::from_secs(20), 2, ROOM).unwrap();
    let server = thread::spawn(move || {
        let (mut stream, mut all) = (listener.accept().unwrap().0, Vec::new());
        write!(stream, "220 ready\r\n").unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let mut in_data = false;
        loop {
            let mut line = Vec::new();
            lines.read_until(b'\n', &mut line).unwrap();
            let answer = match &*line {
                b".\r\n" => "250 taken\r\n",
                _ if in_data => {
                    all.extend(line);
                    continue;
                }
                b"DATA\r\n" => "354 go on\r\n",
                _ => "250 fine\r\n",
            };
            stream.write_all(answer.as_bytes()).unwrap();
            if in_data {
                return String::from_utf8(all).unwrap();
            }
            in_data = line == b"DATA\r\n";
        }
    });
    block_on(smtp.send(mail)).unwrap();
    server.join().unwrap()
}

#[test]
fn no_line_is_too_long_and_no_line_end_is_bare() {
    let (long, umlauts) = ("x".repeat(1500), "ü".repeat(700));
    let subjects = ["Your order", &long, &umlauts, "=?utf-8?q?x?=", "", " a ", &"word ".repeat(300)];
    let texts = ["plain", "a\rb", "a\nb", "a\r\nb", "a\r\r\nb", "a\n\rb", "\r", ".\r.\n.", &long, &umlauts, "a\u{b}b"];
    let names = ["Ada", "Müller", &long, "=?utf-8?q?x?=", "\"Müller, \\\"Q\\\"\""];
    let mail = |subject: &str, text: &str, name: &str| {
        let (to, from) = (format!("{name} <ada@example.org>"), format!("{name} <shop@example.org>"));
        Mail::new(to, subject, text).from(&*from).reply_to(from).html(format!("<p>{text}</p>"))
    };
    let subjects = subjects.iter().map(|subject| mail(subject, "text", "Ada"));
    let texts = texts.iter().map(|text| mail("Subject", text, "Ada"));
    let names = names.iter().map(|name| mail("Subject", "text", name));
    for mail in subjects.chain(texts).chain(names) {
        let shown = format!("{:?} {:?} {:?}", mail.subject, mail.text, mail.to);
        let told = told_of(mail);
        let (head, _) = told.split_once("\r\n\r\n").unwrap();
        for line in told.split("\r\n") {
            assert!(line.len() <= 998 && line.is_ascii() && !line.contains(['\r', '\n', '\0']), "{shown}: {line:?}");
        }
        for line in head.split("\r\n") {
            assert!(line.len() <= 78 || line.starts_with("Message-ID"), "{shown}: {line:?}");
        }
        assert!(!told.contains("=?utf-8?q?x?="), "{shown}: what looks like an encoded word is encoded");
    }
}

/// Read by a parser that is not ours.
#[test]
fn pictures_and_files_arrive_as_they_were_under_their_names() {
    let all_bytes: Vec<u8> = (0..=255).cycle().take(1000).collect();
    let name = format!("Rechnung \"Müller\" {}.bin", "ü".repeat(100));
    let invitation = "BEGIN:VCALENDAR\nEND:VCALENDAR\r\n\r";
    let mail = |has_html: bool| {
        let mut mail = mail()
            .attach(Attachment::inline("logo", "image/png", all_bytes.clone()))
            .attach(Attachment::new("invitation.ics", "text/calendar; method=REQUEST", invitation))
            .attach(Attachment::new(&*name, "application/octet-stream", all_bytes.clone()))
            .unsubscribe("https://shop.example.org/end?of=7");
        mail.html = mail.html.filter(|_| has_html);
        mail
    };
    for has_html in [true, false] {
        let told = told_of(mail(has_html));
        let read = MessageParser::new().parse(told.strip_suffix(".\r\n").unwrap_or(&told)).unwrap();
        assert_eq!(read.body_text(0).unwrap().trim_end(), "Hello.");
        assert_eq!(read.body_html(0).is_some_and(|html| html.trim_end() == "<p>Hello.</p>"), has_html);
        let files: Vec<_> = read.attachments().map(|file| (file.attachment_name(), file.contents())).collect();
        let picture = read.attachments().next().unwrap();
        assert_eq!((picture.content_id(), picture.contents()), (has_html.then_some("logo"), &*all_bytes));
        assert_eq!(files[1], (Some("invitation.ics"), invitation.as_bytes()));
        assert_eq!(read.attachment(1).unwrap().content_type().unwrap().attribute("method"), Some("REQUEST"));
        assert_eq!(files[2], (Some(&*name), &*all_bytes));
        assert!(told.contains("List-Unsubscribe: <https://shop.example.org/end?of=7>\r\n"), "{told}");
        assert!(told.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{told}");
        for line in told.split("\r\n") {
            assert!(line.len() <= 998 && line.is_ascii(), "{line:?}");
        }
    }
}

#[test]
fn mails_that_wait_have_a_limit_of_bytes() {
    let (_listener, smtp) = server();
    let large = |bytes: u32| mail().attach(Attachment::new("a", "text/plain", vec![b'x'; bytes as usize]));
    let failure = block_on(smtp.send(large(ROOM))).unwrap_err();
    assert!(failure.is::<Permanent>() && failure.to_string().contains("limits.mail_bytes"), "{failure}");
    let mut waiting = smtp.send(large(ROOM / 2));
    assert!(futures_now(&mut waiting).is_none());
    let failure = futures_now(&mut smtp.send(large(ROOM / 2))).unwrap().unwrap_err();
    assert!(!failure.is::<Permanent>() && failure.to_string().contains("limits.mail_bytes"), "{failure}");
}

#[test]
fn a_permanent_refusal_is_distinguished_from_what_may_be_tried_again() {
    use skep::mail::Permanent;
    // At which command, with what: none is temporary, and otherwise whether it is the recipient's address.
    for (command, answer, permanent) in [
        ("RCPT", "550 no such user", Some(true)),
        ("RCPT", "551 user not local", Some(true)),
        ("RCPT", "553 mailbox name not allowed", Some(true)),
        ("RCPT", "450 mailbox busy", None),
        ("RCPT", "452 too many recipients", None),
        ("MAIL", "530 authentication required", Some(false)),
        ("MAIL", "451 try again later", None),
        ("DATA", "554 no valid recipients", Some(false)),
        ("DATA", "421 shutting down", None),
        (".", "552 too large", Some(false)),
        (".", "554 looks like spam", Some(false)),
        (".", "451 local error", None),
    ] {
        let (listener, smtp) = server();
        let server = thread::spawn(move || {
            // Once more, if it may be tried again.
            for _ in 0..if permanent.is_some() { 1 } else { 2 } {
                let mut stream = listener.accept().unwrap().0;
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                write!(stream, "220 ready\r\n").unwrap();
                let mut in_data = false;
                while let Some(Ok(line)) = lines.next() {
                    if in_data && line != "." {
                        continue;
                    }
                    let is_it = line.split([' ', ':']).next() == Some(command);
                    let said = match &*line {
                        _ if is_it => answer,
                        "DATA" => "354 go on",
                        _ => "250 fine",
                    };
                    in_data = said.starts_with("354");
                    if write!(stream, "{said}\r\n").is_err() {
                        break;
                    }
                }
            }
        });
        let failure = block_on(smtp.send(mail())).unwrap_err();
        let found = failure.downcast_ref::<Permanent>().map(Permanent::is_recipient);
        assert_eq!(found, permanent, "{command} {answer}: {failure}");
        server.join().unwrap();
    }
    for mail in [mail().from("nonsense"), Mail::new("ada@example.org", "", "")] {
        let (_listener, smtp) = server();
        let failure = block_on(smtp.send(mail)).unwrap_err();
        assert!(!failure.downcast_ref::<Permanent>().unwrap().is_recipient(), "{failure}");
    }
}
