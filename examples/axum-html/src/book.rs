//! The entries. An application has a database for them.

use std::sync::{Arc, Mutex, PoisonError};

use serde::Deserialize;

/// All entries: cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct Book {
    entries: Arc<Mutex<Vec<Entry>>>,
}

#[derive(Clone)]
pub(crate) struct Entry {
    pub(crate) number: usize,
    pub(crate) name: String,
    pub(crate) website: Option<String>,
    pub(crate) text: String,
}

/// The form of an entry, as it was typed.
#[derive(Default, Deserialize)]
pub(crate) struct NewEntry {
    pub(crate) name: String,
    pub(crate) website: String,
    pub(crate) text: String,
}

/// The field that is not filled in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    Name,
    Text,
}

impl NewEntry {
    pub(crate) fn wrong(&self) -> Option<Wrong> {
        match (self.name.trim(), self.text.trim()) {
            ("", _) => Some(Wrong::Name),
            (_, "") => Some(Wrong::Text),
            _ => None,
        }
    }
}

impl Book {
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn find(&self, number: usize) -> Option<Entry> {
        self.entries().into_iter().find(|entry| entry.number == number)
    }

    /// Returns its number.
    pub(crate) fn add(&self, new: NewEntry) -> usize {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let number = entries.len() + 1;
        let website = Some(new.website).filter(|url| !url.is_empty());
        entries.push(Entry { number, name: new.name, website, text: new.text });
        number
    }
}
