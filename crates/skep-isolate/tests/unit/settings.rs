//! Unit tests of `settings`.

use skep::settings::Table;

use super::*;

fn raw(name: &str, value: &str, source: Source) -> RawSetting {
    RawSetting { name: name.into(), value: RawValue::Text(value.into()), source }
}

fn file(line: usize) -> Source {
    Source::File { path: "/srv/skep.toml".into(), line }
}

fn read(only: Option<&str>, raw: Vec<RawSetting>) -> Result<Settings, String> {
    let (values, problems) = Table::new(rows()).resolve(raw);
    assert_eq!(problems, [""; 0]);
    Settings::new(only.map(Path::new), &values).map_err(|wrong| wrong.to_string())
}

#[test]
fn the_reference_page_is_up_to_date() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/configuration.md");
    let written = std::fs::read_to_string(page).unwrap_or_default();
    let command = "cargo run -p skep-isolate --example configuration > docs/reference/configuration.md";
    assert!(written == reference(), "run: {command}");
}

#[test]
fn a_component_that_is_served_alone_has_every_default() {
    let settings = read(Some("shop.wasm"), Vec::new()).unwrap();
    let [shop] = settings.applications.as_slice() else { panic!("one component") };
    assert_eq!((&*shop.name, &*shop.file), ("shop", Path::new("shop.wasm")));
    assert_eq!((shop.memory, shop.instances, &*shop.probe), (128 << 20, 1000, "/"));
    assert!(shop.watch && !shop.baseline && !shop.page_fault_shortcut && shop.fuel.is_none() && shop.hosts.is_empty());
    assert_eq!(shop.total_memory.limit, 4 << 30);
    assert_eq!((settings.compile_cache, settings.status), (Cache::Usual, None));
}

#[test]
fn each_table_is_a_component() {
    let settings = read(
        None,
        vec![
            raw("component.shop.file", "shop.wasm", file(1)),
            raw("component.shop.memory", "8MiB", file(2)),
            raw("component.memory", "4MiB", file(3)),
            raw("component.total_memory", "64MiB", file(8)),
            raw("component.blog.file", "/apps/blog.wasm", file(4)),
            raw("component.blog.host", "a.org; B.org", file(5)),
            raw("component.blog.env", "A=1; B=2=3; A=4", file(6)),
            raw("component.blog.cache", "pages=memory:8MiB; memcached:a,b; default=null", file(7)),
        ],
    );
    let settings = settings.unwrap();
    let [blog, shop] = settings.applications.as_slice() else { panic!("two components") };
    assert_eq!((&*shop.file, shop.memory), (Path::new("/srv/shop.wasm"), 8 << 20));
    assert_eq!((&*blog.file, blog.memory), (Path::new("/apps/blog.wasm"), 4 << 20));
    // What one takes is missing for the other.
    let mut share = blog.total_memory.used.share();
    assert!(share.take(40 << 20, 64 << 20) && !shop.total_memory.used.share().take(40 << 20, shop.total_memory.limit));
    assert_eq!(blog.hosts, ["a.org", "b.org"]);
    assert_eq!(blog.env, [("B".into(), "2=3".into()), ("A".into(), "4".into())]);
    let tiers = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
    let caches = [("pages".to_owned(), tiers(&["memory:8MiB", "memcached:a,b"])), ("default".into(), tiers(&["null"]))];
    assert_eq!(blog.caches, caches, "commas belong to an address");
}

#[test]
fn a_flag_holds_for_all_components() {
    let flag = raw("component.memory", "2MiB", Source::Flag("--memory".into()));
    let set = vec![raw("component.shop.file", "a", file(1)), raw("component.shop.memory", "8MiB", file(2)), flag];
    assert_eq!(read(None, set).unwrap().applications[0].memory, 2 << 20);
}

#[test]
fn what_cannot_be_served_says_why() {
    assert!(read(None, Vec::new()).unwrap_err().contains("[component.app]\nfile = "));
    let error = read(None, vec![raw("component.a.memory", "1MiB", file(1))]).unwrap_err();
    assert_eq!(error, "component.a has no `file`");
    let error = read(Some("a.wasm"), vec![raw("component.status", "x", file(1))]).unwrap_err();
    assert_eq!(error, "component.status: expected a path, such as /-/isolate");
    let error = read(Some("a.wasm"), vec![raw("component.prefix", "shop", file(9))]).unwrap_err();
    assert_eq!(error, "/srv/skep.toml:9: component.prefix = \"shop\": expected a path, such as /shop");
}

#[test]
fn components_share_the_room_for_instances() {
    let many = |instances: &str| {
        let file = |nth: u32| raw(&format!("component.a{nth}.file"), "a.wasm", file(1));
        let mut set: Vec<_> = (0..40).map(file).collect();
        if !instances.is_empty() {
            set.push(raw("component.instances", instances, Source::Flag("--instances".into())));
        }
        read(None, set)
    };
    assert_eq!(many("").unwrap().applications[7].instances, 250);
    assert!(many("300").unwrap_err().starts_with("all components together may have 12000 instances"));
}

#[test]
fn the_component_comes_first() {
    let take = |words: &[&str]| take_file(&mut words.iter().map(OsString::from).collect());
    assert_eq!(take(&["a.wasm", "--check"]).unwrap(), Some("a.wasm".into()));
    assert_eq!(take(&["--check"]).unwrap(), None);
    let error = take(&["--check", "a.wasm"]).unwrap_err().to_string();
    assert!(error.starts_with("the component comes first: `skep serve a.wasm`"), "{error}");
}
