//! Work that somebody starts by its name.

use std::fmt;

use super::App;
use crate::application::site::Site;
use skep_http::error::Result;
use skep_http::ext::ErrorExt as _;

/// Work of the application that a server runs instead of serving: [`App::task`].
pub struct Task {
    name: &'static str,
    about: &'static str,
    work: Work,
}

type Work = Box<dyn FnOnce(&Site, &[String]) -> Result<()> + Send>;

impl App {
    /// Adds a task: `shop --run NAME ARGUMENT...`, or `skep run` in development, runs it in an environment like that of
    /// the server, with settings, database, caches and mail, and ends. Blocking is allowed. `about` stands in the list
    /// of tasks. An error is printed, and the exit code is 1 then.
    ///
    /// ```
    /// use skep::Site;
    /// use skep::prelude::*;
    /// use skep::sql::query;
    ///
    /// fn app() -> App {
    ///     App::new().task("lock", "lock the accounts with these addresses", lock)
    /// }
    ///
    /// fn lock(site: &Site, addresses: &[String]) -> Result<()> {
    ///     site.db().write(|db| {
    ///         addresses.iter().try_for_each(|email| {
    ///             db.execute(query("update account set locked = 1 where email = ?", email)).map(drop)
    ///         })
    ///     })?;
    ///     Ok(())
    /// }
    /// # skep::test::Client::new(app());
    /// ```
    ///
    /// Its caches are its own: what it writes invalidates pages and values in tiers that the server shares, such as
    /// Redis, but not those that a running server has in memory, which is the default. Those stay until they expire, or
    /// until `shop --control swap`.
    ///
    /// Run by root, the process becomes the `user` of the settings before, as the server does.
    ///
    /// A test calls the function with the site of [`App::open`].
    #[must_use]
    pub fn task(
        mut self,
        name: &'static str,
        about: &'static str,
        work: impl FnOnce(&Site, &[String]) -> Result<()> + Send + 'static,
    ) -> Self {
        if self.tasks.iter().any(|task| task.name == name) {
            self.problems.push(format!("two tasks are named \"{name}\""));
        }
        self.tasks.push(Task { name, about, work: Box::new(work) });
        self
    }

    /// Takes the tasks out, for a command of a server.
    #[doc(hidden)]
    pub fn take_tasks(&mut self) -> Vec<Task> {
        std::mem::take(&mut self.tasks)
    }
}

impl Task {
    /// Its name on the command line.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// A line about it.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Runs it on this thread.
    ///
    /// # Errors
    /// Its own, as a text with all causes.
    pub fn run(self, site: &Site, arguments: &[String]) -> Result<(), String> {
        (self.work)(site, arguments).map_err(|error| error.at_start())
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.name).finish()
    }
}
