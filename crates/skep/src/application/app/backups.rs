//! Backups of SQLite: commands of a server.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::App;
use super::database::DATABASE;
use crate::context::setup::StartError;
use crate::security::secret::Secret;
use crate::sql::{Function, Migrations, backup};

/// A database, and a copy of it.
struct Backup {
    database: PathBuf,
    copy: PathBuf,
    migrations: Option<Migrations>,
}

impl App {
    /// Copies the databases in this folder for data to new files, while others use them, and says which and how many
    /// bytes each has. The first one becomes `to`, and each other one a file with its name before the ending, unless it
    /// is `elsewhere`.
    #[doc(hidden)]
    pub fn back_up(
        &self,
        data: &Path,
        to: &Path,
        elsewhere: &HashMap<String, Secret<String>>,
    ) -> Result<Vec<(PathBuf, u64)>, StartError> {
        let copies = self.copies(data, to, elsewhere);
        let failed = |Backup { database, copy, .. }: &Backup, error: &str| {
            StartError::new(format!("{} is not backed up to {}: {error}", database.display(), copy.display()))
        };
        // Before the first one is copied.
        if let Some(there) = copies.iter().find(|one| copies.len() > 1 && one.copy.exists()) {
            return Err(failed(there, "there is a file of that name already"));
        }
        let copies = copies.into_iter().map(|one| {
            let functions: &[Function] = one.migrations.as_ref().map_or(&[], Migrations::functions);
            let size = backup::back_up(&one.database, &one.copy, functions).map_err(|error| failed(&one, &error))?;
            Ok((one.copy, size))
        });
        copies.collect()
    }

    /// Puts copies of the backups with these names, as [`back_up`](Self::back_up) gives them, in the place of the
    /// databases in this folder for data, and says for each how the old one is called now, if there was one.
    #[doc(hidden)]
    pub fn restore(
        &self,
        data: &Path,
        from: &Path,
        elsewhere: &HashMap<String, Secret<String>>,
    ) -> Result<Vec<(PathBuf, Option<PathBuf>)>, StartError> {
        let copies = self.copies(data, from, elsewhere);
        let mut restored: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
        let failed = |copy: &Path, error: &str, restored: &[(PathBuf, Option<PathBuf>)]| {
            let names: Vec<_> = restored.iter().map(|(copy, _)| copy.display().to_string()).collect();
            let changed =
                if names.is_empty() { "and nothing has changed".into() } else { format!("after {}", names.join(", ")) };
            StartError::new(format!("{} is not restored, {changed}: {error}", copy.display()))
        };
        if let Some(missing) = copies.iter().find(|one| !one.copy.is_file()) {
            return Err(failed(&missing.copy, "there is no such file", &restored));
        }
        for Backup { database, copy, migrations } in copies {
            // Otherwise it would become a file that nobody opens: components have theirs in folders of their own.
            let none = || "this application has no database of its own (App::database)".to_owned();
            let old = migrations.ok_or_else(none).and_then(|migrations| backup::restore(&copy, &database, &migrations));
            let old = old.map_err(|error| failed(&copy, &error, &restored))?;
            restored.push((copy, old));
        }
        Ok(restored)
    }

    fn copies(&self, data: &Path, first: &Path, elsewhere: &HashMap<String, Secret<String>>) -> Vec<Backup> {
        let mut copies = Vec::new();
        if self.database.is_some() || self.databases.is_empty() {
            let migrations = self.database.as_ref().map(|(migrations, _)| *migrations);
            copies.push(Backup { database: data.join(DATABASE), copy: first.to_owned(), migrations });
        }
        for one in self.databases.iter().filter(|one| !elsewhere.contains_key(one.name())) {
            let ending = first.extension().map(|ending| format!(".{}", ending.to_string_lossy())).unwrap_or_default();
            let copy = first.with_extension(format!("{}{ending}", one.name()));
            copies.push(Backup { database: one.folder(data).join(DATABASE), copy, migrations: Some(one.migrations()) });
        }
        copies
    }
}
