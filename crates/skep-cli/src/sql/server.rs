//! The PostgreSQL that is asked: a cluster that lives as long as the command, or the server that `SKEP_POSTGRES` names.
//!
//! A shell owns the cluster. It ends the server and removes the folder when our end of its input is closed, so also
//! when this process is killed.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio_postgres::{Client, Config, NoTls};

use super::installed::{give, lower, program};

/// The address of a server that is used instead of a cluster of our own.
const ADDRESS: &str = "SKEP_POSTGRES";

/// The oldest one that can store an analysed statement.
const OLDEST: i32 = 14;

/// How many databases this process has made.
static MADE: AtomicUsize = AtomicUsize::new(0);

/// How long a cluster may take to start.
const PATIENCE: Duration = Duration::from_mins(1);

const SCRIPT: &str = "\"$@\" & trap '' INT TERM HUP; read -r end; kill -QUIT $!; wait $!; rm -rf -- \"$SKEP_FOLDER\"";

/// Where databases can be made.
pub(super) struct Server {
    config: Config,
    cluster: Option<Child>,
    /// Those that are to be dropped.
    databases: Vec<String>,
}

impl Server {
    pub(super) async fn start() -> Result<Self, String> {
        let (config, cluster) = match std::env::var(ADDRESS) {
            Ok(address) if !address.is_empty() => {
                let config = address.parse::<Config>();
                (config.map_err(|error| format!("{ADDRESS}: {}", chain(&error)))?, None)
            }
            _ => {
                let (config, cluster) = cluster().await?;
                (config, Some(cluster))
            }
        };
        Ok(Self { config, cluster, databases: Vec::new() })
    }

    /// One for all tests of a process, with which it ends.
    #[cfg(test)]
    pub(super) fn shared() -> Self {
        static SHARED: std::sync::OnceLock<Server> = std::sync::OnceLock::new();
        let start = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(Self::start()).unwrap()
        };
        // A thread of its own: tests start it within their runtimes.
        let shared = SHARED.get_or_init(|| std::thread::spawn(start).join().unwrap());
        Self { config: shared.config.clone(), cluster: None, databases: Vec::new() }
    }

    /// A new database.
    pub(super) async fn database(&mut self) -> Result<Client, String> {
        let name = format!("skep_sql_{}_{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let client = connect(&self.config).await?;
        let version = client.query_one("select current_setting('server_version_num')::int / 10000", &[]).await;
        let version: i32 = version.map_err(|error| chain(&error))?.get(0);
        if version < OLDEST {
            return Err(format!("this is PostgreSQL {version}, and {OLDEST} or later is needed to check statements"));
        }
        for text in [format!("drop database if exists {name} with (force)"), format!("create database {name}")] {
            client.batch_execute(&text).await.map_err(|error| format!("`{text}`: {}", chain(&error)))?;
        }
        self.databases.push(name.clone());
        let mut config = self.config.clone();
        config.dbname(&name);
        connect(&config).await
    }

    /// Removes all that was made.
    pub(super) async fn end(mut self) {
        if self.cluster.is_none()
            && let Ok(client) = connect(&self.config).await
        {
            for name in &self.databases {
                let dropped = client.batch_execute(&format!("drop database if exists {name} with (force)")).await;
                if let Err(error) = dropped {
                    eprintln!("skep sql: the database {name} is left: {}", chain(&error));
                }
            }
        }
        if let Some(mut shell) = self.cluster.take() {
            drop(shell.stdin.take());
            _ = shell.wait();
        }
    }
}

async fn connect(config: &Config) -> Result<Client, String> {
    let (client, connection) = config.connect(NoTls).await.map_err(|error| format!("PostgreSQL: {}", chain(&error)))?;
    // It ends with its client.
    tokio::spawn(async move { drop(connection.await) });
    Ok(client)
}

async fn cluster() -> Result<(Config, Child), String> {
    let folder = tempfile::Builder::new().prefix("skep-sql").tempdir().map_err(|error| error.to_string())?;
    give(folder.path()).map_err(|error| format!("{}: {error}", folder.path().display()))?;
    let data = folder.path().join("data");
    let mut initdb = Command::new(program("initdb"));
    lower(&mut initdb);
    initdb.args(["--auth=trust", "--username=skep", "--no-sync", "--encoding=UTF8", "--locale=C", "-D"]).arg(&data);
    let made = initdb.output().map_err(|error| {
        format!("PostgreSQL is not installed here ({error}): install Debian's package `postgresql`, or name a server in {ADDRESS}")
    })?;
    if !made.status.success() {
        return Err(format!("initdb: {}", String::from_utf8_lossy(&made.stderr)));
    }
    let mut shell = Command::new("sh");
    lower(&mut shell);
    // In a process group of its own: what is typed in the terminal ends this command, and that the shell.
    shell
        .process_group(0)
        .args(["-c", SCRIPT, "sh"])
        .arg(program("postgres"))
        .arg("-D")
        .arg(&data)
        .arg("-k")
        .arg(folder.path());
    shell.args(["-c", "listen_addresses=", "-c", "fsync=off"]).env("SKEP_FOLDER", folder.path());
    let shell = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let shell = shell.map_err(|error| format!("sh: {error}"))?;
    // From here on the shell removes it.
    let folder = folder.keep();
    let mut config = Config::new();
    config.host_path(&folder).user("skep").dbname("postgres");
    let started = Instant::now();
    loop {
        match connect(&config).await {
            Ok(_) => return Ok((config, shell)),
            Err(error) if started.elapsed() > PATIENCE => return Err(error),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// An error with its causes.
pub(super) fn chain(error: &impl std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let next_text = next.to_string();
        if !text.contains(&next_text) {
            text = format!("{text}: {next_text}");
        }
        cause = next.source();
    }
    text
}
