//! A run as it is kept: everything that was measured, nothing rounded, and the machine it was measured on.

mod environment;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::compare::Rounds;

pub use environment::{Environment, Load};

/// The shape of a record. It grows when a key changes its meaning.
const VERSION: u32 = 1;

/// A run.
///
/// ```
/// use skep_bench::record::{Environment, Record};
///
/// let record = Record::new("compare", Environment::look());
/// let text = record.to_json();
/// assert_eq!(Record::from_json(&text)?, record);
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The shape of this record.
    #[serde(rename = "record")]
    shape: u32,
    /// What was run: load, compare, cold, cache, log.
    pub kind: String,
    /// The machine.
    pub environment: Environment,
    /// How it was measured, as names and values.
    pub settings: BTreeMap<String, String>,
    /// What was measured.
    pub experiments: Vec<Rounds>,
}

impl Record {
    /// Nothing measured yet. See [`Record`].
    #[must_use]
    pub fn new(kind: &str, environment: Environment) -> Self {
        let (settings, experiments) = (BTreeMap::new(), Vec::new());
        Self { shape: VERSION, kind: kind.to_owned(), environment, settings, experiments }
    }

    /// Notes how it was measured. See [`Record`].
    pub fn set(&mut self, name: &str, value: impl ToString) {
        self.settings.insert(name.to_owned(), value.to_string());
    }

    /// As JSON, with a line end behind it. See [`Record`].
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }

    /// From JSON. See [`Record`].
    pub fn from_json(text: &str) -> Result<Self, String> {
        let record: Self =
            serde_json::from_str(text).map_err(|error| format!("it is no record of skep bench: {error}"))?;
        if record.shape != VERSION {
            return Err(format!("its shape is {}, and {VERSION} is what this program reads", record.shape));
        }
        Ok(record)
    }

    /// From a file. See [`Record`].
    pub fn read(path: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        Self::from_json(&text).map_err(|error| format!("{}: {error}", path.display()))
    }
}
