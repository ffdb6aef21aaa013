//! What is shown, and what keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::widgets::TableState;

use crate::feed::{News, Rates, Snapshot};

pub(super) const VIEWS: [&str; 7] = ["Workers", "Services", "Running", "Slow", "Errors", "SQL", "Application"];

/// The longest command that is typed: the server reads no more of a line.
const LONGEST: usize = 200;

/// The state of the program.
pub(super) struct Screen {
    pub(super) snapshot: Snapshot,
    pub(super) rates: Rates,
    /// Why `snapshot` is an old one.
    pub(super) lost: Option<String>,
    /// One of [`VIEWS`].
    pub(super) view: usize,
    pub(super) table: TableState,
    pub(super) mode: Mode,
    /// What the last command has led to.
    pub(super) message: Option<Result<String, String>>,
}

/// What keys are for at the moment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Watch,
    /// A command waits for a yes.
    Confirm {
        question: String,
        command: String,
    },
    /// The words after `log` are being typed.
    Prompt {
        text: String,
    },
}

/// What follows from a key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reaction {
    None,
    Quit,
    Send(String),
}

impl Screen {
    pub(super) fn new(snapshot: Snapshot) -> Self {
        let (rates, table) = (Rates::default(), TableState::new().with_selected(0));
        Self { snapshot, rates, lost: None, view: 0, table, mode: Mode::Watch, message: None }
    }

    pub(super) fn on_news(&mut self, news: News) {
        match news {
            News::Status(snapshot) => {
                self.rates = Rates::between(&self.snapshot, &snapshot);
                (self.snapshot, self.lost) = (*snapshot, None);
            }
            News::Lost(problem) => self.lost = Some(problem),
            News::Reply(reply) => self.message = Some(reply),
        }
    }

    pub(super) fn on_key(&mut self, key: KeyEvent) -> Reaction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if control && matches!(key.code, KeyCode::Char('c')) {
            return Reaction::Quit;
        }
        match std::mem::replace(&mut self.mode, Mode::Watch) {
            Mode::Watch => self.watch(key.code),
            // Anything but a yes is a no.
            Mode::Confirm { command, .. } if matches!(key.code, KeyCode::Char('y' | 'Y')) => self.send(command),
            Mode::Confirm { .. } => Reaction::None,
            Mode::Prompt { text } => self.type_on(text, key.code, control),
        }
    }

    fn watch(&mut self, key: KeyCode) -> Reaction {
        match key {
            KeyCode::Char('q') | KeyCode::Esc => return Reaction::Quit,
            KeyCode::Tab | KeyCode::Right => self.show((self.view + 1) % VIEWS.len()),
            KeyCode::BackTab | KeyCode::Left => self.show((self.view + VIEWS.len() - 1) % VIEWS.len()),
            KeyCode::Char(digit @ '1'..='7') => self.show(usize::from(digit as u8 - b'1')),
            KeyCode::Down | KeyCode::Char('j') => self.table.select_next(),
            KeyCode::Up | KeyCode::Char('k') => self.table.select_previous(),
            KeyCode::Home => self.table.select_first(),
            KeyCode::End => self.table.select_last(),
            KeyCode::Char('d') => self.confirm_drain(),
            KeyCode::Char('l') => self.mode = Mode::Prompt { text: String::new() },
            KeyCode::Char('s') => self.confirm("Swap: start the version on disk, and serve with it?", "swap"),
            KeyCode::Char('u') => self.confirm("Upgrade: swap, and replace the supervisor as well?", "upgrade"),
            _ => {}
        }
        Reaction::None
    }

    fn show(&mut self, view: usize) {
        self.view = view;
        self.table.select_first();
    }

    fn confirm(&mut self, question: &str, command: &str) {
        self.mode = Mode::Confirm { question: question.to_owned(), command: command.to_owned() };
    }

    fn confirm_drain(&mut self) {
        let name =
            self.table.selected().filter(|_| self.view == 0).and_then(|row| self.drainable().into_iter().nth(row));
        match name {
            Some(name) if name.contains('.') => self.confirm(
                &format!("Drain process {name}? It finishes its requests; another one replaces it."),
                &format!("drain {name}"),
            ),
            Some(name) => self.confirm(
                &format!("Drain worker {name}? It finishes its requests, and a successor takes over."),
                &format!("drain {name}"),
            ),
            None => self.message = Some(Err("select the worker to drain in the view Workers".to_owned())),
        }
    }

    /// What `drain` takes, for each row of the view of workers. A thread drains with its worker.
    fn drainable(&self) -> Vec<String> {
        let overview = &self.snapshot.overview;
        let has_processes = overview.mpm == "prefork";
        let names = overview.workers.iter().flat_map(|worker| {
            let of_slot = move |slot: u32| {
                if has_processes { format!("{}.{slot}", worker.number) } else { worker.number.to_string() }
            };
            let slots = worker.slots.iter().map(move |slot| of_slot(slot.number));
            std::iter::once(worker.number.to_string()).chain(slots)
        });
        names.collect()
    }

    fn type_on(&mut self, mut text: String, key: KeyCode, control: bool) -> Reaction {
        match key {
            KeyCode::Esc => return Reaction::None,
            KeyCode::Enter if text.trim().is_empty() => return Reaction::None,
            KeyCode::Enter => return self.send(format!("log {}", text.trim())),
            KeyCode::Backspace => drop(text.pop()),
            KeyCode::Char('u') if control => text.clear(),
            KeyCode::Char(letter) if !control && text.len() + letter.len_utf8() <= LONGEST => text.push(letter),
            _ => {}
        }
        self.mode = Mode::Prompt { text };
        Reaction::None
    }

    fn send(&mut self, command: String) -> Reaction {
        self.message = Some(Ok(format!("{command}: waiting for the reply")));
        Reaction::Send(command)
    }
}

#[cfg(test)]
#[path = "../tests/unit/screen.rs"]
pub(super) mod tests;
