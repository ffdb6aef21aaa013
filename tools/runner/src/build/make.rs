//! Makes what is not cargo's, with the peers' own tools.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Made, repository, tools};
use crate::Result;
use crate::need::Guest;
use crate::program::peer;

/// Makes it, if that takes anything. What the tool said is the error.
pub(super) fn make(made: Made) -> Result<()> {
    let result = made.result();
    fs::create_dir_all(result.parent().unwrap_or(tools()))?;
    eprintln!("making {}", result.strip_prefix(tools()).unwrap_or(&result).display());
    match made {
        Made::Component(guest) => component(guest),
        Made::Eliom => eliom(result.parent().unwrap_or(tools())),
        Made::Express => express(&result),
        Made::FastCgi => {
            run(Command::new("cc").args(["-O2", "-o"]).arg(&result).arg(peer("fastcgi/hello.c")).arg("-lfcgi"))
        }
        Made::Go => go(&result, "go"),
        Made::GoHttp => go(&result, "go-http"),
        Made::GoPgx => go(&result, "go-pgx"),
        Made::Neko => neko(&result),
    }
}

fn go(result: &Path, folder: &str) -> Result<()> {
    run(Command::new("go").args(["build", "-o"]).arg(result).arg(".").current_dir(peer(folder)))
}

/// Each program twice: one that keeps its module, and one that does not.
fn neko(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    for (main, name) in [("Hello", "hello"), ("Count", "count"), ("Page", "page")] {
        for (cached, ending) in [(&[][..], ""), (&["-D", "cached"][..], "-cached")] {
            let mut haxe = Command::new("haxe");
            haxe.args(cached).args(["-main", main, "-neko"]).arg(folder.join(format!("{name}{ending}.n")));
            run(haxe.current_dir(peer("neko")))?;
        }
    }
    Ok(())
}

fn eliom(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    fs::copy(peer("eliom/posts.eliom"), folder.join("posts.eliom"))?;
    let eliomopt = |last: &[&str]| {
        run(Command::new("eliomopt").args(["-ppx", "-package", "sqlite3"]).args(last).current_dir(folder))
    };
    eliomopt(&["-c", "posts.eliom"])?;
    eliomopt(&["-shared", "-linkall", "-o", "posts.cmxs", "_server/posts.cmx"])
}

/// npm's packages stay where they are as long as the list of them does.
fn express(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)?;
    let list = fs::read(peer("express/package.json"))?;
    let known = fs::read(folder.join("installed.json")).is_ok_and(|known| known == list);
    for file in ["package.json", "server.js", "page.ejs"] {
        fs::copy(peer("express").join(file), folder.join(file))?;
    }
    if !known {
        run(Command::new("npm").args(["install", "--no-package-lock", "--no-audit", "--no-fund"]).current_dir(folder))?;
        fs::write(folder.join("installed.json"), list)?;
    }
    Ok(())
}

fn component(guest: Guest) -> Result<()> {
    let (words, manifest): (&[&str], _) = match guest {
        Guest::Hello => (&["rustc", "--lib", "--crate-type", "cdylib", "-p", "hello"], repository().join("Cargo.toml")),
        Guest::Blog => (&["rustc", "--lib", "--crate-type", "cdylib", "-p", "blog"], repository().join("Cargo.toml")),
        Guest::App => {
            (&["rustc", "--lib", "--crate-type", "cdylib", "-p", "skep-component"], tools().join("Cargo.toml"))
        }
        Guest::Wstd => (&["build"], peer("wasmtime/Cargo.toml")),
    };
    let target = if guest == Guest::Wstd { "target/posts/component" } else { "target" };
    let mut cargo = Command::new("cargo");
    cargo.args(words).arg("--manifest-path").arg(manifest).arg("--target-dir").arg(tools().join(target));
    run(cargo.args(["--release", "--quiet", "--target", "wasm32-wasip2"]))
}

/// The line that Skep links, with what `serve` needs, by the profile of all Rust programs here.
const WASMTIME: (&str, &str) =
    ("48.0.8", "run,serve,component-model,component-model-async,cranelift,pooling-allocator,parallel-compilation");

/// Builds the command of wasmtime, for this bench alone.
pub(super) fn wasmtime() -> Result<()> {
    let (version, features) = WASMTIME;
    eprintln!("building wasmtime {version}: some ten minutes on two cores");
    let tools = tools().join("target/tools");
    let mut cargo = Command::new("cargo");
    cargo.args(["install", "wasmtime-cli", "--version", version, "--locked", "--quiet"]);
    cargo.args(["--no-default-features", "--features", features]);
    cargo.arg("--target-dir").arg(tools.join("build")).arg("--root").arg(tools);
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "thin").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1");
    run(&mut cargo)
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().map_err(|error| format!("{name} does not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stderr, output.stdout].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(3).collect();
    Err(format!("{name} failed ({}): {}", output.status, lines.join("; ")).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_fails_is_quoted() {
        let error = run(Command::new("sh").args(["-c", "echo broken >&2; exit 3"])).unwrap_err().to_string();
        assert_eq!(error, "sh failed (exit status: 3): broken");
    }
}
