//! A second server that replays what a first one writes.

use super::{Cluster, as_server, give};

impl Cluster {
    /// A standby of it, which replays what it writes, and can be read.
    #[must_use]
    pub fn standby(&self) -> Self {
        let folder = tempfile::Builder::new().prefix("skep-pg").tempdir().expect("a temporary folder");
        give(folder.path());
        let output = as_server("pg_basebackup")
            .args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--username=skep", "-h"])
            .arg(self.folder.path())
            .arg("-D")
            .arg(folder.path().join("data"))
            .output()
            .expect("it is installed with PostgreSQL");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut standby = Self { folder, options: Vec::new(), shell: None };
        standby.start_again();
        standby
    }
}
