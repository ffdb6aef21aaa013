//! What an application reports about itself.

use super::App;
use crate::application::site::Site;
use crate::status::Part;

impl App {
    /// Says how the application is, whenever somebody asks the server: `--control status` shows it below the worker,
    /// and in `status json` it is the list `application`. Called on the thread that hears signals: it is to be quick,
    /// and waits for nothing. With `prefork`, where what an application knows is spread over its processes, each is
    /// asked: entries of the list have `process` besides, which is no key then.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    /// use skep::prelude::*;
    /// use skep::status::Part;
    ///
    /// static WAITING: AtomicU64 = AtomicU64::new(0);
    ///
    /// let app = App::new()
    ///     .on_status(|_site| vec![Part::new("orders").value("waiting", WAITING.load(Ordering::Relaxed))]);
    /// # let site = app.open(skep::Setup::default()).unwrap();
    /// # assert_eq!(site.status(), [Part::new("orders").value("waiting", 0_u64)]);
    /// ```
    #[must_use]
    pub fn on_status(mut self, say: impl Fn(&Site) -> Vec<Part> + Send + Sync + 'static) -> Self {
        self.status_fns.push(Box::new(say));
        self
    }
}
