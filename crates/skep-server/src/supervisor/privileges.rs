//! Giving up root privileges.
//!
//! While the process is root, it touches no path that another user can change: it works in folders of [root
//! alone](only_root_changes) before it becomes the user, and everywhere else after that.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::Path;

use crate::config::Config;
use crate::sys;

/// The user and groups to change to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) user: u32,
    pub(crate) group: u32,
    groups: Vec<u32>,
}

impl Identity {
    /// The identity of the settings `user` and `group`, if one is set.
    pub(crate) fn of(config: &Config) -> Result<Option<Self>, String> {
        if config.user.is_none() && config.group.is_none() {
            return Ok(None);
        }
        let read = |path: &str| fs::read_to_string(path).map_err(|error| format!("{path}: {error}"));
        let (users, groups) = (read("/etc/passwd")?, read("/etc/group")?);
        let wanted = config.user.clone().unwrap_or_else(|| rustix::process::getuid().as_raw().to_string());
        Self::find(&users, &groups, &wanted, config.group.as_deref()).map(Some)
    }

    /// `passwd(5)`, `group(5)`.
    fn find(users: &str, groups: &str, user: &str, group: Option<&str>) -> Result<Self, String> {
        let (users, groups) = (rows(users), rows(groups));
        let found = find(&users, user);
        let id = found.and_then(|row| number(row, 2)).or_else(|| user.parse().ok());
        let id = id.ok_or_else(|| format!("user = {user}: there is no such user in /etc/passwd"))?;
        let own_group = match group {
            Some(name) => find(&groups, name)
                .and_then(|row| number(row, 2))
                .or_else(|| name.parse().ok())
                .ok_or_else(|| format!("group = {name}: there is no such group in /etc/group"))?,
            None => found
                .and_then(|row| number(row, 3))
                .ok_or_else(|| format!("user = {user}: set `group`, too: /etc/passwd does not say which"))?,
        };
        let name = found.map(|row| row[0]).filter(|name| !name.is_empty());
        let belongs =
            |row: &&Vec<&str>| row.get(3).is_some_and(|members| members.split(',').any(|one| Some(one) == name));
        let mut all: Vec<u32> = groups.iter().filter(belongs).filter_map(|row| number(row, 2)).collect();
        if !all.contains(&own_group) {
            all.push(own_group);
        }
        Ok(Self { user: id, group: own_group, groups: all })
    }

    /// Gives a file or directory to the user, and to the user's group. The folder that holds it must be one that
    /// [only root changes](only_root_changes).
    pub(crate) fn own(&self, path: &Path, and_group: bool) -> io::Result<()> {
        std::os::unix::fs::lchown(path, Some(self.user), and_group.then_some(self.group))
    }

    /// Makes a data directory where only root can, and gives it to the user. Elsewhere the user makes it.
    pub(crate) fn prepare_data_dir(&self, path: &Path) -> io::Result<()> {
        let path = std::path::absolute(path)?;
        let Some(parent) = path.parent().filter(|parent| only_root_changes(parent)) else { return Ok(()) };
        fs::create_dir_all(parent)?;
        match fs::DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        if fs::symlink_metadata(&path)?.uid() == 0 { self.own(&path, true) } else { Ok(()) }
    }

    /// Changes to this identity for good.
    pub(crate) fn assume(&self) -> Result<(), String> {
        let process = (rustix::process::getuid().as_raw(), rustix::process::getgid().as_raw());
        if process == (self.user, self.group) {
            return Ok(());
        }
        sys::process::become_user(self.user, self.group, &self.groups).map_err(|error| {
            format!("this process cannot become user {} and group {}: {error}; start it as root, or leave `user` and `group` out", self.user, self.group)
        })
    }
}

fn rows(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(':').collect()).collect()
}

/// The row with this name or number.
fn find<'r, 't>(rows: &'r [Vec<&'t str>], wanted: &str) -> Option<&'r Vec<&'t str>> {
    rows.iter().find(|row| row[0] == wanted || row.get(2) == Some(&wanted))
}

fn number(row: &[&str], at: usize) -> Option<u32> {
    row.get(at)?.parse().ok()
}

/// True if this process is root, and nobody else can change what a path in this folder names: the folder and all above
/// it belong to root, none is a symbolic link, and nobody else may write to them. Above an existing folder of root, a
/// sticky one such as `/tmp` is as good.
pub(crate) fn only_root_changes(folder: &Path) -> bool {
    let Ok(folder) = std::path::absolute(folder) else { return false };
    let mut below_exists = false;
    let is_safe = |path: &Path| match fs::symlink_metadata(path) {
        Ok(found) => {
            let sticky = std::mem::replace(&mut below_exists, true) && found.mode() & 0o1000 != 0;
            found.is_dir() && found.uid() == 0 && (found.mode() & 0o022 == 0 || sticky)
        }
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    rustix::process::geteuid().is_root() && folder.ancestors().all(is_safe)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nwww:x:33:33::/:/bin/false\n";
    const GROUPS: &str = "root:x:0:\nwww:x:33:\nmedia:x:44:www,other\n";

    #[test]
    fn a_user_has_its_group_and_those_that_name_it() {
        let www = Identity::find(USERS, GROUPS, "www", None).unwrap();
        assert_eq!((www.user, www.group, www.groups), (33, 33, vec![44, 33]));
        let other = Identity::find(USERS, GROUPS, "33", Some("media")).unwrap();
        assert_eq!((other.user, other.group), (33, 44));
        assert!(Identity::find(USERS, GROUPS, "nobody", None).unwrap_err().contains("no such user"));
        assert!(Identity::find(USERS, GROUPS, "www", Some("x")).unwrap_err().contains("no such group"));
        assert!(Identity::find(USERS, GROUPS, "1234", None).unwrap_err().contains("set `group`, too"));
    }
}
