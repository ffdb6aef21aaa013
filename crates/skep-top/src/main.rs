//! The command `skep-top`, which `skep top` runs: a running server in the terminal, with keys to raise a log level,
//! drain a worker, swap and upgrade.
//!
//! It is a client of the control socket and holds nothing: whatever happens to it, the server does not notice. One
//! thread asks for the status, one sends each command, and the main thread draws; so it stays usable while the server
//! is slow to reply.
//!
//! | module | what it does |
//! |---|---|
//! | `feed` | the thread that asks; what changed between two replies |
//! | `screen` | what is shown, and what keys do |
//! | `draw`, `tables` | how it looks |

mod draw;
mod feed;
mod screen;
mod tables;

use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use skep_server::control::Client;

use feed::{Feed, News};
use screen::{Reaction, Screen};

const HELP: &str = "\
Usage: skep top [FLAGS]

Show a running server in the terminal, and control it. Run it where the server runs, in the same folder and as the same
user: it reads skep.toml and SKEP_* as the server does, and connects to the control socket.

  --config FILE        read settings from FILE instead of skep.toml
  --set NAME=VALUE     change a setting, such as data or control, which say where the socket is
";

/// The exit code for a command line that is wrong.
const BAD_USAGE: u8 = 2;

/// How often the main thread looks for signals and news.
const TICK: Duration = Duration::from_millis(100);

/// Runs until a key or a signal ends it.
fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        print!("{HELP}");
        return ExitCode::SUCCESS;
    }
    if arguments.iter().any(|argument| argument == "--version" || argument == "-V") {
        println!("skep-top {}", env!("CARGO_PKG_VERSION"));
        return ExitCode::SUCCESS;
    }
    let client = match Client::of_arguments(arguments) {
        Ok(client) => client,
        Err(error) => {
            eprintln!("skep top: {error}");
            return ExitCode::from(if error.is_usage() { BAD_USAGE } else { 1 });
        }
    };
    match watch(client) {
        Ok(0) => ExitCode::SUCCESS,
        // As shells report a process that a signal ended.
        Ok(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX)),
        Err(problem) => {
            eprintln!("skep top: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the signal that ended it, or 0.
fn watch(client: Client) -> Result<usize, String> {
    let client = Arc::new(client);
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err("standard input and output must be a terminal; programs read --control \"status json\"".to_owned());
    }
    // Without a server, this says so on a terminal that nothing has changed.
    let first = feed::ask(&client)?;
    let signal = Arc::new(AtomicUsize::new(0));
    for number in [SIGTERM, SIGHUP, SIGINT] {
        let value = usize::try_from(number).unwrap_or_default();
        signal_hook::flag::register_usize(number, Arc::clone(&signal), value).map_err(|error| error.to_string())?;
    }
    let (feed, news) = Feed::start(client);
    // From here to `restore`, also a panic restores the terminal: `try_init` sees to it.
    let mut terminal = ratatui::try_init().map_err(|error| format!("the terminal cannot be used: {error}"))?;
    let result = show(&mut terminal, Screen::new(first), &feed, &news, &signal);
    ratatui::restore();
    result.map(|()| signal.load(Ordering::Relaxed)).map_err(|error| error.to_string())
}

fn show(
    terminal: &mut DefaultTerminal,
    mut screen: Screen,
    feed: &Feed,
    news: &Receiver<News>,
    signal: &AtomicUsize,
) -> io::Result<()> {
    while signal.load(Ordering::Relaxed) == 0 {
        terminal.draw(|frame| draw::draw(frame, &mut screen))?;
        if event::poll(TICK)?
            && let Event::Key(key) = event::read()?
            && key.kind != KeyEventKind::Release
        {
            match screen.on_key(key) {
                Reaction::None => {}
                Reaction::Quit => return Ok(()),
                Reaction::Send(command) => feed.send(command),
            }
        }
        loop {
            match news.try_recv() {
                Ok(news) => screen.on_news(news),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(io::Error::other("the thread that asks has ended")),
            }
        }
    }
    Ok(())
}
