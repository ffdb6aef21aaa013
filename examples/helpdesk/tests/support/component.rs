//! An example as a component: how it is built, and the server that serves it, which is the test program itself in a
//! child process.

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::thread;

use tempfile::TempDir;

/// The arguments of the server, one a line.
const ARGUMENTS: &str = "TEST_COMPONENT";

const NAME: &str = env!("CARGO_PKG_NAME");

#[test]
#[ignore = "child process: the server of components of the tests here"]
fn child_process() {
    let arguments = std::env::var(ARGUMENTS).unwrap_or_default();
    let code = skep_isolate::serve(arguments.lines().map(OsString::from).collect());
    assert_eq!(format!("{code:?}"), format!("{:?}", ExitCode::SUCCESS));
}

/// A server, which ends with this.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
    _folder: TempDir,
}

impl Server {
    /// Serves the component with its data in this folder. `how` is its module cache. To compile it takes half a minute,
    /// once.
    pub(crate) fn start(folder: TempDir, how: &str, arguments: &[&str]) -> Self {
        let mut child = command(folder.path(), how, arguments).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let found = lines.find_map(|line| line.split_once(" listens on http://").map(|(_, rest)| rest.to_owned()));
        let mut server = Self { child, address: String::new(), _folder: folder };
        let found = found.expect("the server ended before it listened");
        found.split_whitespace().next().unwrap().clone_into(&mut server.address);
        // Whatever else it says is read, so that it never waits for us.
        thread::spawn(move || lines.for_each(drop));
        server
    }

    /// Where the component has its database, in the folder of its server.
    #[allow(dead_code, reason = "tests in browsers do not look into it")]
    pub(crate) fn data(folder: &Path) -> PathBuf {
        folder.join("data").join(NAME)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn command(folder: &Path, how: &str, arguments: &[&str]) -> Command {
    let (file, data) = (built(), folder.join("data"));
    let fixed = [file.to_str().unwrap(), "--module-cache", how, "--data", data.to_str().unwrap()];
    // One process, so that nothing outlives the test.
    let quiet = ["--listen", "127.0.0.1:0", "--set", "log.access=false", "--set", "supervise=false"];
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "component::child_process", "--ignored", "--nocapture"]);
    command.env(ARGUMENTS, [&fixed, &quiet[..], arguments].concat().join("\n"));
    command.env("XDG_CACHE_HOME", target().join("guests/cache")).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// Built once for each run.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["rustc", "--quiet", "--lib", "--crate-type", "cdylib", "--target", "wasm32-wasip2", "-p", NAME]);
        cargo.arg("--target-dir").arg(target()).current_dir(env!("CARGO_MANIFEST_DIR"));
        // Flags for the tests themselves do not fit another target.
        cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").env_remove("CARGO_TARGET_DIR");
        assert!(cargo.status().unwrap().success(), "no component: is the target wasm32-wasip2 installed?");
        // A package for PostgreSQL has the library of the one whose source it has.
        let library = NAME.strip_suffix("-postgres").unwrap_or(NAME);
        let built = target().join("wasm32-wasip2/debug").join(library).with_extension("wasm");
        if NAME == library {
            return built;
        }
        let own = target().join("guests").join(NAME).with_extension("wasm");
        std::fs::create_dir_all(target().join("guests")).unwrap();
        std::fs::copy(built, &own).unwrap();
        own
    })
}

fn target() -> PathBuf {
    std::env::current_exe().unwrap().ancestors().nth(3).unwrap().to_owned()
}
