//! What is kept for an application, made of what was said about it and about the server.
//!
//! Each application has a folder of its own in the server's: `DATA/NAME`, with its database, sessions and keys; and `DATA/NAME/files`, which it
//! sees as `/data`. One application or several, it is the same.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use skep::Setup;
use skep::cache::Tiers;

use super::{Application, OnPool, Version};
use crate::error::Wrong;
use crate::options::Options;
use crate::state::Dir;

/// What is kept for an application: opened for its first version, and the same for all that follow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    server: OnceLock<Server>,
    application: OnceLock<Arc<Application>>,
}

/// What the server was told that its applications are told, too.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    pub(crate) setup: Setup,
    /// A new version may run migrations that do more than add.
    pub(crate) allow_breaking: bool,
}

impl Server {
    /// One that keeps nothing: what its applications begin with is gone when they are. Databases in this folder are looked at.
    pub(crate) fn that_only_looks(data: PathBuf) -> Self {
        let mut setup = Setup::default();
        setup.data = data;
        setup.temporary_database = true;
        Self { setup, allow_breaking: false }
    }
}

/// What was said is the same; what was opened, nobody compares.
impl PartialEq for Kept {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Kept {}

/// Where an application sees the folder of its files.
pub(crate) const FOLDER: &str = "/data";
/// That folder, in the one of what is kept: the database and the keys beside it are the host's, which maps them into its memory and
/// trusts what they say.
const FILES: &str = "files";

/// A version, and the environment and the folders of its instances.
type Given = (Option<Arc<Version>>, Vec<(String, String)>, Vec<Dir>);

impl Kept {
    /// Says what server this is. Until then nothing is kept.
    pub(crate) fn begin(&self, server: Server) {
        let _ = self.0.server.set(server);
    }

    /// True if nothing that happens is to last.
    pub(crate) fn only_looks(&self) -> bool {
        self.0.server.get().is_some_and(|server| server.setup.temporary_database)
    }
}

impl Options {
    /// What a version is given beside what was said: who its host is, its settings, and its folder.
    pub(crate) fn kept(&self, env: Vec<(String, String)>, mut dirs: Vec<Dir>) -> Result<Given, Wrong> {
        let Some(server) = self.kept.0.server.get() else {
            return Ok((None, env, dirs));
        };
        let application = match self.kept.0.application.get() {
            Some(application) => Arc::clone(application),
            None => {
                let made = self.open(server)?;
                Arc::clone(self.kept.0.application.get_or_init(|| made))
            }
        };
        let files = application.hosted.setup().data.join(FILES);
        let may_write = !server.setup.temporary_database;
        if dirs.iter().all(|dir| dir.guest != FOLDER) && (may_write || files.is_dir()) {
            dirs.push(Dir { host: files, guest: FOLDER.to_owned(), may_write });
        }
        Ok((Some(application.version()), with(application.hosted.environment(), env), dirs))
    }

    fn open(&self, server: &Server) -> Result<Arc<Application>, Wrong> {
        let mut setup = server.setup.clone();
        setup.data = folder(&server.setup.data, &self.name)?;
        if !setup.temporary_database {
            let files = setup.data.join(FILES);
            std::fs::create_dir_all(&files)
                .map_err(|error| Wrong(format!("the folder for data {}: {error}", files.display())))?;
        }
        setup.offload = Arc::new(OnPool);
        for (name, tiers) in &self.caches {
            let tiers = Tiers::parse(tiers.split(',')).map_err(|error| Wrong(format!("cache {name}: {error}")))?;
            setup.caches.insert(name.clone(), tiers);
        }
        let data = setup.data.clone();
        Application::new(&self.name, setup, server.allow_breaking)
            .map_err(|error| Wrong(format!("what is kept in {}: {error}", data.display())))
    }
}

/// The folder of an application.
pub(crate) fn folder(data: &Path, name: &str) -> Result<PathBuf, Wrong> {
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', '\0']) {
        return Err(Wrong(format!(
            "an application named {name:?} can have no folder for data: expected a name without slashes, and without a dot at \
             its beginning"
        )));
    }
    Ok(data.join(name))
}

/// Two applications with one folder would each be the other's user: that is refused. Only links can lead there.
pub(crate) fn apart<'o>(data: &Path, applications: impl Iterator<Item = &'o Options>) -> Result<(), Wrong> {
    let mut folders: Vec<(PathBuf, &str)> = Vec::new();
    for options in applications {
        let folder = folder(data, &options.name)?;
        // One that is not there yet is nobody else's, unless names differ by their letters' case only and the disk does not tell.
        let real = folder.canonicalize().unwrap_or_else(|_| PathBuf::from(folder.to_string_lossy().to_lowercase()));
        if let Some((_, other)) = folders.iter().find(|(known, _)| *known == real) {
            return Err(Wrong(format!(
                "{other} and {} would share the folder {}: give each application a folder of its own",
                options.name,
                real.display()
            )));
        }
        folders.push((real, &options.name));
    }
    Ok(())
}

/// What somebody said goes before what we know.
fn with(known: Vec<(String, String)>, said: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut all: Vec<_> = known.into_iter().filter(|(name, _)| said.iter().all(|(other, _)| other != name)).collect();
    all.extend(said);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Options {
        Options { name: name.into(), ..Options::default() }
    }

    #[test]
    fn each_application_has_a_folder_and_sees_only_its_files() {
        let data = tempfile::tempdir().unwrap();
        let mut setup = Setup::default();
        setup.data = data.path().to_owned();
        setup.development = true;
        setup.careful = true;
        setup.limits.body = 77;
        let shop = named("shop");
        shop.kept.begin(Server { setup, allow_breaking: true });
        let (version, env, dirs) = shop.kept(Vec::new(), Vec::new()).unwrap();
        let version = version.unwrap();
        assert_eq!(version.application.hosted.setup().data, data.path().join("shop"));
        assert!(version.application.hosted.setup().careful && version.application.allow_breaking);
        assert_eq!(dirs[0].host, data.path().join("shop/files"));
        assert!(dirs.len() == 1 && dirs[0].guest == "/data" && dirs[0].may_write);
        let said = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
        assert_eq!((said("SKEP_DEVELOPMENT"), said("SKEP_LIMIT_BODY")), (Some("1"), Some("77")));
    }

    #[test]
    fn who_only_looks_leaves_nothing() {
        let data = tempfile::tempdir().unwrap();
        let shop = named("shop");
        shop.kept.begin(Server::that_only_looks(data.path().to_owned()));
        let (version, _, dirs) = shop.kept(Vec::new(), Vec::new()).unwrap();
        assert!(version.is_some() && dirs.is_empty() && shop.kept.only_looks());
        assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
    }

    #[test]
    fn no_two_share_a_folder_and_none_is_elsewhere() {
        let data = tempfile::tempdir().unwrap();
        let check = |names: &[&str]| {
            let all: Vec<Options> = names.iter().map(|name| named(name)).collect();
            apart(data.path(), all.iter()).map_err(|wrong| wrong.0)
        };
        assert!(check(&["blog", "shop"]).is_ok());
        for name in ["..", "a/b", "", ".hidden"] {
            assert!(check(&[name]).unwrap_err().contains("expected a name"), "{name}");
        }
        assert!(check(&["blog", "Blog"]).is_err());
        #[cfg(unix)]
        {
            std::fs::create_dir(data.path().join("blog")).unwrap();
            std::os::unix::fs::symlink("blog", data.path().join("shop")).unwrap();
            assert!(check(&["blog", "shop"]).unwrap_err().starts_with("blog and shop would share the folder"));
        }
    }
}
