//! Mail reaches a mail server, also when the first connection fails, and no request waits for a slow one.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

use super::*;

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
    let smtp = Smtp::new(&url, Duration::from_secs(20), 2).unwrap();
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
    let refused = Smtp::new("http://user:pa55word@mail.example.org", Duration::from_secs(1), 1).err().unwrap();
    assert!(refused.contains("smtps://") && !refused.contains("pa55word"), "{refused}");
}
