//! Which functions of the application there are, by what its migrations declare one after the other.
//!
//! Start reading at [`Functions`].

use std::collections::BTreeMap;

use crate::directive::Directive;
use crate::function::Function;

/// A function, and where it is declared.
#[derive(Clone, Debug)]
pub struct Declared {
    /// The function.
    pub function: Function,
    /// The migration, for people.
    pub file: String,
    /// Its line there.
    pub line: usize,
}

/// The functions that migrations declare, by their names.
#[derive(Clone, Debug, Default)]
pub struct Functions(BTreeMap<String, Declared>);

impl Functions {
    /// Follows what a migration says. Of scopes it knows nothing.
    ///
    /// # Errors
    /// What was said before does not let it be so: a text for the developer, without the place.
    pub fn follow(&mut self, directive: &Directive<'_>, file: &str, line: usize) -> Result<(), String> {
        match directive {
            Directive::Function(function) => {
                if let Some(before) = self.0.get(&function.name) {
                    let Declared { function: known, file, line } = before;
                    return Err(format!(
                        "`{known}` is declared already, in {file}, line {line}: choose another name, or say \
                         `-- skep: drop function {}` before",
                        known.name
                    ));
                }
                let declared = Declared { function: function.clone(), file: file.to_owned(), line };
                self.0.insert(function.name.clone(), declared);
            }
            Directive::DropFunction { name } => {
                let name = name.to_ascii_lowercase();
                self.0.remove(&name).ok_or_else(|| format!("no function `{name}` was declared before"))?;
            }
            Directive::Scoped { .. } | Directive::NotScoped { .. } | Directive::Typed { .. } => {}
        }
        Ok(())
    }

    /// The function of this name, in any case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Declared> {
        self.0.get(&name.to_ascii_lowercase())
    }

    /// All of them, by their names.
    pub fn iter(&self) -> impl Iterator<Item = &Declared> {
        self.0.values()
    }
}

#[cfg(test)]
#[path = "../tests/unit/declared.rs"]
mod tests;
