//! Groups of settings: structs in which each field is a row.

use std::collections::BTreeMap;

use super::kind::Value;
use super::table::Row;

/// A struct of settings that [`settings!`](crate::settings) writes, or what has others in it.
pub trait Group: Default {
    /// The rows, in the order of the fields.
    #[must_use]
    fn rows() -> Vec<Row>;

    /// Stores the value of a setting. `None` if it is not one of these.
    fn set(&mut self, name: &str, value: &Value) -> Option<Result<(), String>>;

    /// The variables of a component's environment: names and texts.
    #[must_use]
    fn variables(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Reads such variables.
    ///
    /// # Errors
    /// A variable, its text, and what that is not.
    fn read_variables(&mut self, _variable: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        Ok(())
    }
}

/// Groups of one kind by their names: `[cache.pages]`, `[cache.sessions]`. In the rows of `T`, a part `NAME` stands for
/// the name.
#[derive(Clone, Debug)]
pub struct Named<T>(BTreeMap<String, T>);

impl<T> Named<T> {
    /// The names, and what has them, in the order of the names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, group)| (&**name, group))
    }

    /// Adds one, unless something has this name.
    pub fn insert_new(&mut self, name: &str, group: T) {
        self.0.entry(name.to_owned()).or_insert(group);
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T: Group> Group for Named<T> {
    fn rows() -> Vec<Row> {
        T::rows()
    }

    fn set(&mut self, setting: &str, value: &Value) -> Option<Result<(), String>> {
        let rows = T::rows();
        let (row, name) = rows.iter().find_map(|row| Some((row, row.name_in(setting)?)))?;
        self.0.entry(name.to_owned()).or_default().set(&row.name, value)
    }
}

#[cfg(test)]
#[path = "../tests/unit/group.rs"]
mod tests;
