//! `skep new` as a whole.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn skep(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_skep")).arg("new").args(arguments).current_dir(folder).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn an_application_has_its_name_everywhere() {
    let folder = tempfile::tempdir().unwrap();
    let made = skep(folder.path(), &["apps/my-shop"]);
    assert!(made.status.success() && text(&made.stdout).contains("cd apps/my-shop"), "{made:?}");
    let file = |name: &str| fs::read_to_string(folder.path().join("apps/my-shop").join(name)).unwrap();
    assert!(file("Cargo.toml").contains("name = \"my-shop\"") && file("src/main.rs").contains("use my_shop::app;"));
    assert!(
        file("src/layout.rs").contains("\"My shop\"")
            && file("deploy/my-shop.service").contains("/srv/my-shop/my-shop")
    );
    let formatted =
        Command::new(env!("CARGO")).args(["fmt", "--check"]).current_dir(folder.path().join("apps/my-shop")).output();
    let formatted = formatted.unwrap();
    assert!(formatted.status.success(), "{}{}", text(&formatted.stdout), text(&formatted.stderr));
    let left = Command::new("grep")
        .args(["-ri", "--exclude=Cargo.lock", "starter", "apps"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(text(&left.stdout), "");
}

#[test]
fn nothing_is_overwritten_and_nothing_is_half_written() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shop")).unwrap();
    fs::write(folder.path().join("shop/mine.txt"), "mine").unwrap();
    let refused = skep(folder.path(), &["shop"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(text(&refused.stderr).contains("shop is there already, and is not empty: nothing was written"));
    let refused = skep(folder.path(), &["other", "--path", "."]);
    assert!(text(&refused.stderr).contains("is not a clone of Skep"), "{}", text(&refused.stderr));
    assert_eq!(skep(folder.path(), &["Shop"]).status.code(), Some(2));
    // What cannot be finished is taken back.
    fs::create_dir(folder.path().join("shop/.git")).unwrap();
    fs::remove_file(folder.path().join("shop/mine.txt")).unwrap();
    let folders = ["a/b/shop", "a"].map(|name| folder.path().join(name));
    fs::write(&folders[1], "no folder").unwrap();
    let refused = skep(folder.path(), &["a/b/shop"]);
    assert!(text(&refused.stderr).contains("nothing was written"), "{}", text(&refused.stderr));
    assert_eq!(folder.path().read_dir().unwrap().count(), 2);
    // A repository without files is as good as no folder, and so is the folder that one is in.
    assert!(skep(&folder.path().join("shop"), &["."]).status.success());
    assert!(folder.path().join("shop/src/main.rs").is_file());
}

#[test]
fn a_path_may_be_relative_and_nobody_has_to_listen() {
    let folder = tempfile::tempdir().unwrap();
    let clone = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    std::os::unix::fs::symlink(&clone, folder.path().join("clone")).unwrap();
    // As `skep new shop | head` once head has ended.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(env!("CARGO_BIN_EXE_skep"));
    command.args(["new", "shop", "--path", "clone"]).current_dir(folder.path()).stdout(writer);
    let made = command.output().unwrap();
    assert!(made.status.success(), "{}", text(&made.stderr));
    let text = fs::read_to_string(folder.path().join("shop/Dockerfile")).unwrap();
    assert!(text.contains(&format!("--build-context skep={} ", clone.display())), "{text}");
}

mod long {
    use super::skep;
    use std::path::Path;
    use std::process::Command;

    /// As who has made it would.
    #[test]
    #[ignore = "takes minutes: the framework is compiled again"]
    fn an_application_passes_its_own_tests_and_clippy() {
        let folder = tempfile::tempdir().unwrap();
        assert!(skep(folder.path(), &["shop"]).status.success());
        let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/new");
        for line in ["clippy --quiet --all-targets -- -D warnings", "test --quiet"] {
            let mut cargo = Command::new(env!("CARGO"));
            cargo.args(line.split(' ')).current_dir(folder.path().join("shop")).env("CARGO_TARGET_DIR", &target);
            assert!(cargo.status().unwrap().success(), "cargo {line}");
        }
    }
}
