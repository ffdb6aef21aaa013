//! The table of odd requests: what Skep, nginx, Apache, Go and Node respond to them. `cargo xtask peers odd` writes it
//! to `tools/odd/table.md`.
//!
//! Start reading at [`run`]. [`cases`] has the requests, [`servers`] starts those who respond.

mod cases;
mod servers;

use std::fmt::Write as _;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use crate::command;
use cases::Case;
use servers::Server;

const PAGE: &str = "tools/odd/table.md";

/// The names of what is needed.
pub(crate) const NEEDS: [&str; 3] = ["Go", "Node", "nginx and Apache"];

/// How long a server has to say more.
const SILENCE: Duration = Duration::from_millis(400);

/// A server that keeps talking is cut off.
const MOST: usize = 1 << 20;

/// Sends each request to each server, and writes the table.
pub(crate) fn run() -> Result<ExitCode, String> {
    let folder = command::root().join("target/odd");
    let servers = servers::start(&folder)?;
    let cases = cases::all();
    let answers: Vec<Vec<String>> = thread::scope(|scope| {
        let ask = |server: &Server| {
            let address = server.address.clone();
            let cases = &cases;
            scope.spawn(move || cases.iter().map(|case| answer(&address, &case.bytes)).collect())
        };
        let asked: Vec<_> = servers.iter().map(ask).collect();
        asked.into_iter().map(|asked| asked.join().expect("asking does not panic")).collect()
    });
    fs::write(command::root().join(PAGE), page(&servers, &cases, &answers))
        .map_err(|error| format!("{PAGE}: {error}"))?;
    println!("{} requests: {PAGE}", cases.len());
    let unexplained: Vec<_> =
        (0..cases.len()).filter(|at| differs(&answers, *at) != cases[*at].reason.is_some()).collect();
    for at in &unexplained {
        let problem = if cases[*at].reason.is_some() {
            "has a reason, and differs no more"
        } else {
            "differs, and has no reason"
        };
        println!("{}: {} {problem}", at + 1, cases[*at].shown());
    }
    Ok(if unexplained.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// True if Skep does something else than most others with this request.
fn differs(answers: &[Vec<String>], at: usize) -> bool {
    is_alone(&answers.iter().map(|answers| answers[at].as_str()).collect::<Vec<_>>())
}

/// What a server responds: the statuses, and whether it then closes the connection.
fn answer(address: &str, bytes: &[u8]) -> String {
    let Ok((said, is_closed)) = exchange(address, bytes) else { return "reset".to_owned() };
    let mut statuses = statuses(&said);
    if statuses.is_empty() && !said.is_empty() {
        statuses.push("0.9".to_owned());
    }
    match (statuses.is_empty(), is_closed) {
        (true, true) => "closes".to_owned(),
        (true, false) => "waits".to_owned(),
        (false, true) => statuses.join(" ") + " ×",
        (false, false) => statuses.join(" "),
    }
}

fn exchange(address: &str, bytes: &[u8]) -> std::io::Result<(Vec<u8>, bool)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(SILENCE))?;
    // A server may close before it has read everything.
    let _ = stream.write_all(bytes);
    let (mut said, mut buffer) = (Vec::new(), [0; 16 << 10]);
    while said.len() < MOST {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok((said, true)),
            Ok(count) => said.extend_from_slice(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => break,
            // What came before the reset counts.
            Err(_) if !said.is_empty() => return Ok((said, true)),
            Err(error) => return Err(error),
        }
    }
    let _ = stream.shutdown(Shutdown::Both);
    Ok((said, false))
}

/// The statuses in what was said. No body here has a line that looks like one.
fn statuses(said: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(said);
    let after = ["HTTP/1.1 ", "HTTP/1.0 "].map(|version| text.match_indices(version).collect::<Vec<_>>());
    let mut found: Vec<_> = after.concat();
    found.sort_unstable();
    let status = |(at, version): (usize, &str)| text.get(at + version.len()..at + version.len() + 3).map(str::to_owned);
    found.into_iter().filter_map(status).filter(|status| status.bytes().all(|byte| byte.is_ascii_digit())).collect()
}

fn page(servers: &[Server], cases: &[Case], answers: &[Vec<String>]) -> String {
    let mut page = String::from(
        "<!-- Written by `cargo xtask peers odd`; edit the tables in xtask/src/odd/cases instead. -->\n# Odd requests\n\n\
         What Skep and others respond to requests at the edge of HTTP/1.1, and beyond it. A number is the status of a response; `×` means that the\n\
         connection is closed after it, `waits` that the server waits for more, `closes` and `reset` that it ends the connection without a response, `0.9`\n\
         that there is a body without a head. Where a second request follows on the connection, there are two numbers if the server found both. The\n\
         section is the one of RFC 9112 that decides, or of RFC 9110 where that is said. All servers read the body and respond with 200; of nginx and Apache\n\
         this is a fixed response and a file; of Skep one address, so other targets are a 404.\n\n",
    );
    let _ = writeln!(
        page,
        "Compared: {}. Rows in which Skep differs from at least three of the others are marked with `*`, and the reason stands below the table.\n",
        servers.iter().map(|server| server.version.as_str()).collect::<Vec<_>>().join("; ")
    );
    let mut group = "";
    for (at, case) in cases.iter().enumerate() {
        if case.group != group {
            group = case.group;
            let names: Vec<_> = servers.iter().map(|server| server.name).collect();
            let _ = write!(
                page,
                "## {group}\n\n| | request | {} | section |\n|---|---|{}---|\n",
                names.join(" | "),
                "---|".repeat(names.len())
            );
        }
        let row: Vec<_> = answers.iter().map(|answers| answers[at].as_str()).collect();
        let mark = if differs(answers, at) { "*" } else { "" };
        let _ = writeln!(page, "| {}{mark} | {} | {} | {} |", at + 1, case.shown(), row.join(" | "), case.section);
        if cases.get(at + 1).is_none_or(|next| next.group != group) {
            page += &reasons(cases, group);
        }
    }
    page.truncate(page.trim_end().len());
    page + "\n"
}

/// Why Skep differs in rows of this group, with their numbers.
fn reasons(cases: &[Case], group: &str) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (at, case) in cases.iter().enumerate().filter(|(_, case)| case.group == group) {
        let Some(reason) = case.reason else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, rows)) => rows.push((at + 1).to_string()),
            None => reasons.push((reason, vec![(at + 1).to_string()])),
        }
    }
    let mut text = String::from("\n");
    for (reason, rows) in &reasons {
        let _ = writeln!(text, "- {}: {reason}", rows.join(", "));
    }
    if reasons.is_empty() { text } else { text + "\n" }
}

/// True if the first server says something else than three of the others. What is refused may have any status, and
/// whether there is something at an address is the application's affair.
fn is_alone(row: &[&str]) -> bool {
    let kind = |answer: &str| match answer.split([' ', '×']).next().unwrap_or_default() {
        "404" => "200".to_owned(),
        first if first.starts_with(['4', '5']) || matches!(first, "closes" | "reset") => "refused".to_owned(),
        _ => answer.trim_end_matches([' ', '×']).to_owned(),
    };
    let Some((own, others)) = row.split_first() else { return false };
    others.iter().filter(|other| kind(other) != kind(own)).count() >= 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_found_in_order() {
        let said = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\nok\nHTTP/1.0 400 Bad Request\r\n\r\n";
        assert_eq!(statuses(said), ["100", "200", "400"]);
    }

    #[test]
    fn refusals_are_alike_whatever_their_status() {
        assert!(!is_alone(&["400 ×", "closes", "501 ×", "400", "200"]));
        assert!(!is_alone(&["404", "200", "200", "200", "200"]));
        assert!(is_alone(&["200", "400 ×", "400", "reset", "200"]));
    }

    #[test]
    fn there_are_at_least_two_hundred_requests_and_no_two_alike() {
        let cases = cases::all();
        let mut bytes: Vec<_> = cases.iter().map(|case| &case.bytes).collect();
        bytes.sort();
        bytes.dedup();
        assert_eq!(bytes.len(), cases.len());
        assert!(cases.len() >= 200, "{}", cases.len());
    }
}
