//! A file, found by one check and answered after another: what the post on Dart varied.
//!
//! Skep serves files by itself (`/static`); these handlers do by hand what that post's did.

use std::path::PathBuf;

use skep::files::Files;
use skep::prelude::*;
use skep::session::Key;

/// The folder.
pub(crate) struct Public {
    folder: PathBuf,
    files: Files,
}

impl Public {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { files: Files::dir(&folder), folder }
    }

    /// The name, if there is such a file: a check that blocks, as in the post.
    fn find(&self, file: &str) -> Result<String> {
        let found = !file.contains("..") && self.folder.join(file).exists();
        found.then(|| file.to_owned()).ok_or_else(Error::not_found)
    }

    fn answer(&self, cx: &Cx<'_>, file: &str) -> Result {
        self.files.answer(cx.method(), file, cx.uri().path(), cx.request_headers())
    }
}

/// Matched by one check, answered after another.
#[derive(Service)]
#[service(GET "/twice/{*file}")]
pub(crate) struct Twice {
    file: String,
}

impl Handle for Twice {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let public = cx.state::<Public>();
        public.find(&self.file)?;
        public.answer(cx, &public.find(&self.file)?)
    }
}

/// The match is a value, which the answer takes.
#[derive(Service)]
#[service(GET "/once/{*file}")]
pub(crate) struct Once {
    file: String,
}

impl Handle for Once {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let public = cx.state::<Public>();
        public.answer(cx, &public.find(&self.file)?)
    }
}

/// The match goes by way of a session, and each request begins one.
#[derive(Service)]
#[service(GET "/session/{*file}")]
pub(crate) struct BySession {
    file: String,
}

const PATH: Key<String> = Key::new("path");

impl Handle for BySession {
    async fn handle(self, cx: &mut Cx<'_>) -> Result {
        let found = cx.state::<Public>().find(&self.file)?;
        cx.session().set(&PATH, &found).await?;
        let file = cx.session().get(&PATH).await?.or_404()?;
        cx.state::<Public>().answer(cx, &file)
    }
}
