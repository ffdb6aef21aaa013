//! Names that must lead nowhere, and symlinks.

use std::os::unix::fs::symlink;

use super::*;

/// `secret` lies beside the directory that is served.
fn site() -> Site {
    let site = Site::new(&[
        ("a.txt", "a"),
        ("dir/b.txt", "b"),
        (".env", "secret"),
        ("dir/.git/config", "secret"),
        ("...", "secret"),
    ]);
    fs::write(site.temp.path().join("secret"), "secret").unwrap();
    fs::create_dir(site.temp.path().join("outside")).unwrap();
    fs::write(site.temp.path().join("outside/secret"), "secret").unwrap();
    site
}

#[test]
fn no_spelling_leads_out_or_to_what_is_hidden() {
    let site = site();
    let climbs = ["..", "%2e%2e", "%2E%2E", ".%2e", "%2e.", "..%00", "..;", "...", "%252e%252e"];
    let slashes = ["/", "%2f", "%2F", "\\", "%5c", "//", "%252f", "/./", "%c0%af", "%ef%bc%8f"];
    for climb in climbs {
        for slash in slashes {
            for before in ["", "dir/", "dir/../", "a.txt/", "/", "none/"] {
                for target in ["secret", "outside/secret", "site/a.txt", "site/.env"] {
                    let path = format!("{before}{climb}{slash}{target}");
                    assert!(matches!(site.status(&path, &[]), 400 | 404), "{path}");
                    let path = format!("{before}{climb}{slash}{climb}{slash}{target}");
                    assert!(matches!(site.status(&path, &[]), 400 | 404), "{path}");
                }
            }
        }
    }
    for path in [
        ".env",
        "%2eenv",
        "dir/.git/config",
        "dir/%2egit/config",
        "dir/.git/",
        "dir/.git",
        "a.txt%00",
        "a.txt\0.png",
        "./a.txt",
        "dir//b.txt",
    ] {
        assert!(matches!(site.status(path, &[]), 400 | 404), "{path}");
    }
    assert!(matches!(site.status("/etc/passwd", &[]), 404));
    assert!(matches!(site.status(&format!("{}etc/passwd", "../".repeat(40)), &[]), 404));
}

#[test]
fn what_climbs_or_hides_is_not_there() {
    let site = site();
    let climbing = ".. ../a a/../b a/.. . ./a a/./b .git/config a/.env %2e%2e/a %2E./a .%2e/a a/%2e%2e %2egit ...";
    let slashes = "a%2fb a%2Fb ..%2fa %2e%2e%2fa a\\b ..\\a a%5cb %5c /a // a//b a// / %2f";
    for path in climbing.split(' ').chain(slashes.split(' ')) {
        assert_eq!(site.status(path, &[]), 404, "{path}");
    }
}

#[test]
fn what_is_no_path_is_a_bad_request() {
    let site = site();
    for path in
        ["%", "a%", "a%2", "%zz", "%+1", "a%00", "a\0", "%ff", "%c3", "a%c0%ae", "%ed%a0%80", "a%00b", "dir/%c3%28"]
    {
        assert_eq!(site.status(path, &[]), 400, "{path}");
    }
    for path in ["x".repeat(300), "x/".repeat(3000), format!("{}a.txt", "dir/".repeat(2000))] {
        assert_eq!(site.status(&path, &[]), 404);
    }
}

#[test]
fn an_encoded_name_is_the_same_file() {
    let site = Site::with(
        &[
            ("two words.txt", "2"),
            ("café.txt", "c"),
            ("100%.txt", "p"),
            ("q?&#.txt", "q"),
            ("a+b.txt", "+"),
            ("docs/a.b.c", "dots"),
            ("a%2e%2e/b", "decoded once"),
            ("a..b/c", "two dots"),
        ],
        |files| files.listing(true),
    );
    for (path, content) in [
        ("docs/a.b.c", "dots"),
        ("two%20words%2etxt", "2"),
        ("a%252e%252e/b", "decoded once"),
        ("a..b/c", "two dots"),
        ("two%20words.txt", "2"),
        ("caf%C3%A9.txt", "c"),
        ("100%25.txt", "p"),
        ("q%3f%26%23.txt", "q"),
        ("a+b.txt", "+"),
        ("a%2Bb.txt", "+"),
    ] {
        assert_eq!(site.text(path), content, "{path}");
    }
    // A link of the listing leads to the file it names.
    let page = site.text("");
    assert!(page.contains("href=\"./q%3F%26%23.txt\"") && page.contains("href=\"./100%25.txt\""), "{page}");
}

#[test]
fn a_symlink_is_followed_where_it_stays_inside() {
    let site = site();
    symlink("dir/b.txt", site.path("relative.txt")).unwrap();
    symlink(site.path("dir/b.txt"), site.path("absolute.txt")).unwrap();
    symlink("dir", site.path("folder")).unwrap();
    symlink("../site/dir/b.txt", site.path("there-and-back.txt")).unwrap();
    for path in ["relative.txt", "absolute.txt", "folder/b.txt", "there-and-back.txt"] {
        assert_eq!(site.text(path), "b", "{path}");
    }
}

#[test]
fn a_symlink_that_leads_out_leads_nowhere() {
    let site = Site::with(&[("dir/b.txt", "b")], |files| files.listing(true));
    fs::create_dir(site.temp.path().join("outside")).unwrap();
    fs::write(site.temp.path().join("outside/secret.txt"), "secret").unwrap();
    // A name that begins with the name of the directory is not inside it.
    fs::create_dir(site.temp.path().join("site-2")).unwrap();
    fs::write(site.temp.path().join("site-2/secret.txt"), "secret").unwrap();
    symlink("../outside/secret.txt", site.path("file.txt")).unwrap();
    symlink("../outside", site.path("folder")).unwrap();
    symlink("folder/secret.txt", site.path("twice.txt")).unwrap();
    symlink(site.temp.path().join("site-2"), site.path("similar")).unwrap();
    symlink("/proc/self/cwd", site.path("magic")).unwrap();
    symlink("../outside/secret.txt", site.path("dir/b.txt.gz")).unwrap();
    symlink("../../outside/secret.txt", site.path("dir/index.html")).unwrap();
    symlink("around", site.path("around")).unwrap();
    for path in [
        "file.txt",
        "folder/secret.txt",
        "folder/",
        "folder",
        "twice.txt",
        "similar/secret.txt",
        "magic/Cargo.toml",
        "magic/",
        "around",
    ] {
        assert_eq!(site.status(path, &[]), 404, "{path}");
    }
    assert_eq!(text(site.get_with("dir/b.txt", &[(header::ACCEPT_ENCODING, "gzip")])), "b");
    assert!(!site.text("dir/").contains("secret"));
    assert!(!site.text("").contains("folder"));
}

#[test]
fn a_file_swapped_for_a_symlink_out_is_gone_though_it_was_held() {
    let site = site();
    settle();
    site.get("dir/b.txt");
    assert!(is_from_memory(&site.get("dir/b.txt")));
    fs::remove_file(site.path("dir/b.txt")).unwrap();
    symlink("../../secret", site.path("dir/b.txt")).unwrap();
    assert_eq!(site.status("dir/b.txt", &[]), 404);

    site.get("a.txt");
    fs::rename(site.path("dir"), site.path("gone")).unwrap();
    fs::write(site.temp.path().join("outside/b.txt"), "secret").unwrap();
    symlink("../outside", site.path("dir")).unwrap();
    assert_eq!(site.status("dir/b.txt", &[]), 404);
}
