//! A help-desk with its demo data.
#![allow(dead_code, reason = "each test program uses some of it")]

use std::path::Path;
use std::sync::Arc;

use helpdesk::sign_in::SignIn;
use skep::test::Client;
use skep::{Setup, Site};
use tempfile::TempDir;

pub(crate) const ADA: &str = "ada@example.org";
pub(crate) const ALICE: &str = "alice@example.org";
pub(crate) const BERT: &str = "bert@example.org";
pub(crate) const CARLA: &str = "carla@example.org";
pub(crate) const KARL: &str = "karl@example.org";

/// In a folder of its own.
pub(crate) struct Desk {
    _folder: TempDir,
    pub(crate) site: Arc<Site>,
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(|_setup| ())
    }

    pub(crate) fn with(change: impl FnOnce(&mut Setup)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut setup = Setup::default();
        folder.path().clone_into(&mut setup.data);
        change(&mut setup);
        let site = Arc::new(helpdesk::app().open(setup).unwrap());
        Self { _folder: folder, site }
    }

    /// A site with the data of this folder, for what a server has or is to have in it.
    pub(crate) fn in_folder(data: &Path) -> Site {
        let mut setup = Setup::default();
        data.clone_into(&mut setup.data);
        helpdesk::app().open(setup).unwrap()
    }

    /// A browser of somebody unknown.
    pub(crate) fn visitor(&self) -> Client {
        Client::of_site(&self.site)
    }

    /// A browser of somebody who has signed in.
    pub(crate) fn signed_in(&self, email: &str) -> Client {
        let client = self.visitor();
        let form = client.get("/sign-in").form::<SignIn>().set(SignIn::email, email);
        let answer = form.set(SignIn::password, helpdesk::demo::PASSWORD).submit();
        assert_eq!((answer.status().as_u16(), answer.url()), (200, "/tickets"), "{}", answer.text());
        client
    }
}
