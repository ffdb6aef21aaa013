//! Unit tests of `supervisor::control`.

use super::*;

fn client(clients: &mut Clients) -> UnixStream {
    let (ours, theirs) = UnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    clients.add(ours);
    theirs
}

#[test]
fn commands_are_parsed_and_an_unknown_one_lists_them() {
    assert_eq!(ControlCommand::parse("status json"), Ok(ControlCommand::Status { json: true }));
    assert_eq!(ControlCommand::parse("log debug"), Ok(ControlCommand::Level(LevelChange::parse(&["debug"]).unwrap())));
    let name = WorkerName { worker: 3, process: Some(2) };
    assert_eq!(ControlCommand::parse(&format!("drain {name}")), Ok(ControlCommand::Drain(name)));
    for wrong in ["drain", "drain x", "drain 0", "drain 3.", "drain -1"] {
        assert!(ControlCommand::parse(wrong).unwrap_err().contains("such as"), "{wrong}");
    }
    assert!(ControlCommand::parse("restart").unwrap_err().contains("expected one of status"));
    assert!(ControlCommand::parse("log loud").unwrap_err().contains("error, warn"));
    assert!(ControlCommand::parse("log user").unwrap_err().contains("such as log user anna debug 15m"));
}

#[test]
fn a_silent_client_delays_nobody_and_half_a_line_is_kept() {
    let mut clients = Clients::default();
    let (_silent, mut slow, mut other) = (client(&mut clients), client(&mut clients), client(&mut clients));
    slow.write_all(b"sta").unwrap();
    other.write_all(b"add\n").unwrap();
    let lines = |clients: &mut Clients| clients.read_lines().into_iter().map(|(_, line)| line).collect::<Vec<_>>();
    assert_eq!(lines(&mut clients), ["add"]);
    slow.write_all(b"tus\n").unwrap();
    assert_eq!(lines(&mut clients), ["status"]);
    assert_eq!(clients.len(), 1);
    clients.sending[0].deadline = Instant::now();
    assert_eq!(lines(&mut clients), [""; 0]);
    assert_eq!(clients.len(), 0, "a client that sends nothing is disconnected in the end");
}

#[test]
fn a_client_that_does_not_read_blocks_nobody_and_gets_all_of_its_reply() {
    let mut clients = Clients::default();
    let mut theirs = client(&mut clients);
    let stream = clients.sending.pop().unwrap().stream;
    let text = "x".repeat(4 << 20);
    clients.reply(stream, &text);
    assert_eq!(clients.len(), 1, "the reply is larger than a socket's buffer");
    let reader = std::thread::spawn(move || {
        let mut reply = String::new();
        theirs.read_to_string(&mut reply).map(|_| reply)
    });
    while clients.len() > 0 {
        clients.flush();
        std::thread::yield_now();
    }
    assert_eq!(reader.join().unwrap().unwrap(), text);
}
