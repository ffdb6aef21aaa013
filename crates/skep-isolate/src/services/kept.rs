//! What is kept for an application, made of what was said about it.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use skep::cache::Tiers;

use super::{Application, OnPool, Version};
use crate::error::Wrong;
use crate::options::Options;
use crate::state::Dir;

/// What is kept for an application: opened for its first version, and the same for all that follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<OnceLock<Arc<Application>>>);

/// What was said is the same; what was opened, nobody compares.
impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Kept {}

/// Where an application sees the folder of its files.
const FOLDER: &str = "/data";
/// That folder, in the one of what is kept: the database and the keys beside it are the host's, which maps them into its memory and
/// trusts what they say.
const FILES: &str = "files";

/// A version, and the environment and the folders of its instances.
type Given = (Option<Arc<Version>>, Vec<(String, String)>, Vec<Dir>);

impl Options {
    /// What a version is given beside what was said: who its host is, its settings, and its folder.
    pub(crate) fn kept(&self, env: Vec<(String, String)>, mut dirs: Vec<Dir>) -> Result<Given, Wrong> {
        let Some(data) = &self.data else {
            return Ok((None, env, dirs));
        };
        let application = match self.kept.0.get() {
            Some(application) => Arc::clone(application),
            None => {
                let made = self.open(data)?;
                Arc::clone(self.kept.0.get_or_init(|| made))
            }
        };
        if dirs.iter().all(|dir| dir.guest != FOLDER) {
            dirs.push(Dir { host: data.join(FILES), guest: FOLDER.to_owned(), may_write: true });
        }
        Ok((Some(application.version()), with(application.hosted.environment(), env), dirs))
    }

    fn open(&self, data: &Path) -> Result<Arc<Application>, Wrong> {
        let files = data.join(FILES);
        std::fs::create_dir_all(&files)
            .map_err(|error| Wrong(format!("the folder for data {}: {error}", files.display())))?;
        let mut setup = skep::Setup::default();
        setup.data = data.to_owned();
        setup.offload = Arc::new(OnPool);
        for (name, tiers) in &self.caches {
            let tiers = Tiers::parse(tiers.split(',')).map_err(|error| Wrong(format!("cache {name}: {error}")))?;
            setup.caches.insert(name.clone(), tiers);
        }
        Application::new(&self.name, setup)
            .map_err(|error| Wrong(format!("what is kept in {}: {error}", data.display())))
    }
}

/// What somebody said goes before what we know.
fn with(known: Vec<(String, String)>, said: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all: Vec<_> = known.into_iter().filter(|(name, _)| said.iter().all(|(other, _)| other != name)).collect();
    all.extend(said);
    all
}
