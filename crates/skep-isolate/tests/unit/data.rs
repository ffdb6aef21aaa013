//! Unit tests of `data`.

use super::*;

const SHOP: DataOptions<'_> =
    DataOptions { name: "shop", caches: &[], declared: &[], database_size: 1 << 20, database: None };

#[test]
fn each_application_has_a_folder_and_sees_only_its_files() {
    let data = tempfile::tempdir().unwrap();
    let mut setup = Setup::default();
    setup.data = data.path().to_owned();
    setup.development = true;
    setup.careful = true;
    setup.limits.body = 77;
    let shop = AppData::default();
    shop.begin(ServerSettings { setup, allow_breaking: true, taken: Taken::default() });
    let (version, env, dirs) = shop.open(&SHOP, Vec::new(), Vec::new()).unwrap();
    let version = version.unwrap();
    assert_eq!(version.application.hosted.setup().data, data.path().join("shop"));
    assert!(version.application.hosted.setup().careful && version.application.allow_breaking);
    assert_eq!(dirs[0].host, data.path().join("shop/files"));
    assert!(dirs.len() == 1 && dirs[0].guest == "/data" && dirs[0].may_write);
    let said = |name: &str| env.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    assert_eq!((said("SKEP_DEVELOPMENT"), said("SKEP_LIMIT_BODY")), (Some("1"), Some("77")));
}

#[test]
fn a_check_leaves_nothing() {
    let data = tempfile::tempdir().unwrap();
    let shop = AppData::default();
    shop.begin(ServerSettings::for_check(data.path().to_owned(), Vec::new(), None));
    let (version, _, dirs) = shop.open(&SHOP, Vec::new(), Vec::new()).unwrap();
    assert!(version.is_some() && dirs.is_empty() && shop.is_check());
    assert_eq!(std::fs::read_dir(data.path()).unwrap().count(), 0);
}

#[test]
fn two_applications_never_share_a_folder() {
    let data = tempfile::tempdir().unwrap();
    let check = |names: &[&str]| {
        ensure_distinct_data_dirs(data.path(), names.iter().copied()).map_err(|error| error.to_string())
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

#[test]
fn two_applications_never_share_a_database() {
    let [one, same, other] =
        ["postgres:///one", "postgresql:///one", "postgres:///other"].map(|it| Secret::new(it.to_owned()));
    let taken = Taken::default();
    assert_eq!((taken.take(&one, "blog"), taken.take(&one, "blog")), (Ok(()), Ok(())), "its next version");
    assert_eq!(taken.take(&other, "shop"), Ok(()));
    let refused = taken.take(&same, "shop").unwrap_err();
    assert!(refused.starts_with("blog and shop would share") && !refused.contains("postgresql:"), "{refused}");
}
