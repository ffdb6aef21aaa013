//! Files in a folder of the data directory.

use std::fs;
use std::time::Duration;

use skep::Setup;
use skep::cache::Clock;
use skep::test::Client;

use crate::application::app;
use crate::promises::{ALL, PNG, add, age, notes, run_job};

#[test]
fn a_folder_keeps_every_promise() {
    for (name, promise) in ALL {
        println!("{name}");
        let client = Client::new(app());
        promise(&client, &client.site().data().join("files"));
    }
}

#[test]
fn what_a_killed_process_left_goes_away() {
    let client = Client::new(app());
    let folder = client.site().data().join("files");
    let key = "0123456789abcdef0123456789abcdef";
    fs::create_dir_all(folder.join("01")).unwrap();
    let left = folder.join(format!("01/{key}.part"));
    fs::write(&left, "half of it").unwrap();
    fs::write(folder.join("pending").join(key), "").unwrap();
    age(&notes(&folder)[0]);
    run_job(&client, "orphaned files");
    assert!(!left.exists() && notes(&folder).is_empty());
}

#[test]
fn a_symbolic_link_is_no_file() {
    let client = Client::new(app());
    let folder = client.site().data().join("files");
    assert_eq!(add(&client, "/files", ("a.png", "image/png", PNG)).text(), "1");
    let shard = fs::read_dir(&folder).unwrap().flatten().find(|entry| entry.file_name() != "pending").unwrap().path();
    let file = fs::read_dir(shard).unwrap().next().unwrap().unwrap().path();
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", &file).unwrap();
    assert_eq!(client.get("/files/1").status(), 404);
}

#[test]
fn a_folder_elsewhere_is_for_nobody_else() {
    use std::os::unix::fs::PermissionsExt as _;

    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("shop/files");
    let _client = Client::with_settings(app(), &[("storage.at", &format!("folder:{}", folder.display()))]);
    for made in [&folder, &folder.join("pending")] {
        assert_eq!(fs::metadata(made).unwrap().permissions().mode() & 0o777, 0o700);
    }
}

#[test]
fn a_link_ends() {
    let clock = Clock::manual();
    let mut setup = Setup::default();
    (setup.temporary_database, setup.clock) = (true, clock.clone());
    let client = Client::with_setup(app(), setup);
    add(&client, "/files", ("a.png", "image/png", PNG));
    let link = client.get("/links/1").text().to_owned();
    clock.advance(Duration::from_secs(3599));
    assert_eq!(client.get(&link).status(), 200);
    clock.advance(Duration::from_secs(1));
    assert_eq!(client.get(&link).status(), 404);
}

fn raw(at: &str) -> skep::settings::RawSetting {
    skep::settings::RawSetting {
        name: "storage.at".to_owned(),
        value: skep::settings::RawValue::Text(at.to_owned()),
        source: skep::settings::Source::Fixed,
    }
}

/// By `--check` and by the start.
#[test]
fn a_folder_is_refused_where_several_machines_serve() {
    let refused = |settings: &[&str], cluster: bool| {
        let setup = || {
            let mut setup = Setup::default();
            (setup.temporary_database, setup.cluster) = (true, cluster);
            setup.settings = settings.iter().map(|at| raw(at)).collect();
            setup
        };
        let texts = [app().check(&setup()).err(), app().open(setup()).err()];
        texts.map(|error| error.is_some_and(|error| error.to_string().contains("a folder is of one machine")))
    };
    let s3 = "s3://shop?endpoint=https://s3.example.org";
    assert_eq!(refused(&[], true), [true, true]);
    assert_eq!(refused(&["folder:/mnt/files"], true), [true, true]);
    assert_eq!(refused(&[s3, "folder:files"], true), [true, true], "the last one counts");
    assert_eq!(refused(&[s3], true), [false, false]);
    assert_eq!(refused(&[], false), [false, false]);
}

#[test]
fn what_the_setting_cannot_mean_stops_the_start() {
    let settings = |at: &str| {
        let (mut setup, settings) = (Setup::default(), vec![raw(at)]);
        (setup.temporary_database, setup.settings) = (true, settings);
        app().open(setup).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(settings("files").contains("expected folder:PATH"), "{}", settings("files"));
    assert!(settings("s3://shop?endpoint=there").contains("expected an https or http URL"));
    assert!(settings("s3://shop").contains("set storage.access_key and storage.secret_key"));
    assert!(settings("folder:/proc/none").contains("cannot be made"), "{}", settings("folder:/proc/none"));
}
