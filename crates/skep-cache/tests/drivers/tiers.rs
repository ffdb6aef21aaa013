//! Drivers from descriptions.

use skep_cache::driver::{Header, Record, When, block_on};
use skep_cache::tiers::{Far, Near, Plan, Tiers};
use skep_cache::{Cache, Clock, Driver, Error, WritePolicy};

mod as_a_driver {
    use super::*;
    skep_cache::suite!(
        Plan::parse(["memory:1MiB", "memory:2MiB writes=around", "memory:4MiB"]).unwrap().open("x").unwrap()
    );
}

fn refused(list: &[&str]) -> String {
    let error = Plan::parse(list).unwrap_err().to_string();
    error.strip_prefix("invalid cache tiers: ").expect("every message has this prefix").to_owned()
}

#[cfg(any(feature = "memcached", feature = "redis"))]
fn is_right(list: &[&str]) {
    if let Err(error) = Plan::parse(list) {
        panic!("{list:?}: {error}");
    }
}

#[test]
fn a_list_becomes_a_driver_of_that_many_tiers() {
    let open = |list: &[&str]| Plan::parse(list).unwrap().open("x").unwrap();
    assert!(matches!(open(&["memory:1MiB"]), Tiers::One(Far::Near(Near::Memory(_)))));
    assert!(matches!(open(&["memory:1MiB", "null"]), Tiers::Two(_)));
    assert!(matches!(open(&["memory:1MiB", "null", "memory:1MiB"]), Tiers::Three(_)));
    assert_eq!(refused(&[]), "0 tiers: expected one to 3");
    assert_eq!(refused(&["null"; 4]), "4 tiers: expected one to 3");
}

#[test]
fn an_error_names_the_tier_and_what_is_expected() {
    assert_eq!(
        refused(&["memory:1MiB", "memroy:1MiB"]),
        "tier 2 of 2, \"memroy:1MiB\": unknown driver `memroy`: did you mean `memory`?"
    );
    assert_eq!(
        refused(&["memory"]),
        "tier 1 of 1, \"memory\": invalid size \"\": expected a number and a unit, such as 1500B, 64KiB, 2MiB"
    );
    assert!(refused(&["memory:1MiB", "memory:1MiB bound=1s"]).contains("unknown option `bound`"));
    assert!(
        refused(&["memory:1MiB writes=never", "null"])
            .contains("writes: invalid value \"never\": expected one of through, around, back")
    );
    assert!(refused(&["memory:1MiB bound=1", "null"]).contains("bound: invalid duration"));
    assert!(refused(&["memory:1MiB entries=many"]).contains("entries: invalid number \"many\""));
    assert!(refused(&["null:1MiB"]).contains("null takes no value"));
    let near = "unknown option `entires` of memory: did you mean `entries`?";
    for (wrong, text) in [("entires=3", near), ("fast", "invalid option `fast`"), ("a=1 a=2", "duplicate option `a`")] {
        let error = refused(&[&format!("memory:1MiB {wrong}")]);
        assert!(error.contains(text), "{error}");
    }
    assert!(refused(&[" "]).contains("empty: expected"));
    for name in ["", "a/b", "..", "a b"] {
        let error = Plan::parse(["null"]).unwrap().open(name).unwrap_err().to_string();
        assert!(error.contains("expected a file name"), "{error}");
    }
}

/// Who reads it has a file of settings and an executable, and perhaps not the source in mind.
#[test]
#[cfg(not(feature = "redis"))]
fn a_driver_that_was_not_built_in_is_named_with_how_to_get_it() {
    let error = refused(&["memory:1MiB", "rediss://cache1"]);
    assert_eq!(
        error,
        "tier 2 of 2, \"rediss://cache1\": driver rediss is not built in: run `cargo add skep-server --features redis` (without \
         skep's server, `cargo add skep-cache --features redis-tls`), and rebuild"
    );
}

#[test]
fn the_write_policy_is_as_described() {
    let clock = Clock::manual();
    let tiers = Plan::parse(["memory:1MiB writes=back bound=2s", "memory:1MiB"]).unwrap().open("x").unwrap();
    let Tiers::Two(two) = &tiers else { panic!("{tiers:?}") };
    let entries = || two.far().usage().entries;
    let record = Record::new(&Header::default(), &[], b"x");
    block_on(tiers.set(b"key", &record, When::Always, clock.now())).unwrap();
    assert_eq!(entries(), Some(0));
    block_on(tiers.flush(clock.now())).unwrap();
    assert_eq!(entries(), Some(1));
    let around = Plan::parse(["memory:1MiB writes=around", "memory:1MiB"]).unwrap().open("x").unwrap();
    block_on(around.set(b"key", &record, When::Always, clock.now())).unwrap();
    let Tiers::Two(two) = &around else { panic!("{around:?}") };
    assert_eq!((two.near().usage().entries, two.far().usage().entries), (Some(0), Some(1)));
    assert_eq!(WritePolicy::default(), WritePolicy::Through);
}

#[test]
#[cfg(all(feature = "shared", unix))]
fn a_shared_tier_is_the_same_for_all_who_name_it_alike() {
    let folder = tempfile::tempdir().unwrap();
    let described = format!("shared:1MiB max_value=8KiB path={}", folder.path().join("map").display());
    let plan = Plan::parse(["memory:1MiB", &described]).unwrap();
    let cache = || Cache::<str, u32>::builder("x").build(plan.open("x").unwrap()).unwrap();
    let (one, other) = (cache(), cache());
    block_on(async {
        one.set("a", &1).await.unwrap();
        assert_eq!(other.get("a").await.unwrap(), Some(1));
        one.set("a", &2).await.unwrap();
        assert_eq!(other.get("a").await.unwrap(), Some(2), "its copy is not used after the other's write");
    });
    let wrong = Plan::parse(["shared:1MiB path=/no/such/folder/map"]).unwrap().open("x").unwrap_err().to_string();
    assert!(wrong.contains("/no/such/folder/map"), "{wrong}");
}

#[test]
#[cfg(all(feature = "shared", unix))]
fn a_shared_tier_without_a_path_has_the_name_of_the_cache() {
    let name = format!("skep-cache-test-{}", std::process::id());
    let tiers = Plan::parse(["shared:1MiB"]).unwrap().open(&name).unwrap();
    let user = rustix::process::getuid().as_raw();
    let path = std::path::PathBuf::from(format!("/dev/shm/skep-cache-{user}-{name}"));
    let path = if path.exists() { path } else { std::env::temp_dir().join(path.file_name().unwrap()) };
    drop(tiers);
    std::fs::remove_file(path).unwrap();
}

#[test]
#[cfg(all(feature = "shared", target_os = "linux"))]
fn a_shared_tier_without_a_name_is_in_no_folder_and_as_empty_each_time() {
    let plan = Plan::parse(["shared:1MiB path=none"]).unwrap();
    let cache = || Cache::<str, u32>::builder("test").build(plan.open("nameless-test").unwrap()).unwrap();
    let (one, other) = (cache(), cache());
    block_on(async {
        one.set("a", &1).await.unwrap();
        assert_eq!((one.get("a").await.unwrap(), other.get("a").await.unwrap()), (Some(1), None));
    });
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert_eq!(maps.matches("memfd:skep-cache (deleted)").count(), 2, "{maps}");
    assert!(!maps.contains("nameless-test") && !std::path::Path::new("none").exists(), "{maps}");
}

#[test]
#[cfg(all(feature = "file", feature = "sqlite"))]
fn what_is_on_a_disk_needs_a_path() {
    let folder = tempfile::tempdir().unwrap();
    let (files, table) = (folder.path().join("files"), folder.path().join("c.db"));
    for pool in if cfg!(feature = "pool") { &["yes", "no"][..] } else { &["no"] } {
        let files = format!("file:1MiB path={} entries=100 pool={pool}", files.display());
        let table = format!("sqlite:{} table=pages busy=1s entries=1000 pool={pool}", table.display());
        for described in [&files, &table] {
            drop(Plan::parse([described]).unwrap().open("x").unwrap());
            let behind = Plan::parse(["memory:1MiB", described]).unwrap().open("x").unwrap();
            let cache = Cache::<str, u32>::builder(pool).build(behind).unwrap();
            block_on(async {
                cache.set("a", &1).await.unwrap();
                assert_eq!(cache.get("a").await.unwrap(), Some(1));
            });
        }
    }
    assert!(refused(&["file:1MiB"]).contains("expected \"file:1GiB path="));
    assert!(refused(&["sqlite"]).contains("expected \"sqlite:/"));
    assert!(refused(&["sqlite:/c.db entries=3"]).contains("entries: invalid number 3: expected at least 16"));
}

#[test]
#[cfg(feature = "memcached")]
fn memcached_has_one_server_or_many() {
    is_right(&["memory:1MiB", "memcached:/run/memcached.sock"]);
    is_right(&["memcached:cache1,cache2:11212 timeout=50ms connections=2 max_value=512KiB failover=move"]);
    assert!(refused(&["memcached"]).contains("expected \"memcached:cache1:11211,cache2:11211\""));
    assert!(refused(&["memcached:http://x"]).contains("invalid server address"));
    for wrong in ["cache1:0", "cache1:65536", "cache1:", "unix:", "cache1,,cache2", "::1", "user@cache1"] {
        let error = refused(&[&format!("memcached:{wrong}")]);
        assert!(error.contains("invalid server address"), "{wrong}: {error}");
    }
    assert!(refused(&["memcached:cache1 connections=0"]).contains("connections"));
    let error = refused(&["memcached:a", "null"]);
    assert!(error.contains("memcached cannot be in front of another tier"), "{error}");
}

#[test]
#[cfg(feature = "redis")]
fn redis_is_named_in_any_usual_way() {
    for redis in
        ["redis:cache1", "redis:cache1:6379", "redis:unix:/run/r.sock", "redis:/run/r.sock", "redis://:secret@cache1/2"]
    {
        is_right(&["memory:1MiB", "shared:1MiB", redis]);
    }
    assert!(refused(&["redis"]).contains("expected \"redis:cache1:6379\""));
    // What would only fail in use, or be ignored.
    for (wrong, text) in [
        ("redis:cache1:0", "invalid port 0"),
        ("redis:cache1:65536", "invalid URL (redis)"),
        ("redis:cache1:port", "invalid URL (redis)"),
        ("redis:cache1/first", "Invalid database number"),
        ("redis:cache1/-1", "invalid database -1"),
        ("redis:cache1?tiemout=1", "unknown parameter `tiemout` of the URL: expected one of protocol"),
        ("redis:/run/r.sock?db=x", "Invalid database number"),
        ("redis:/run/r.sock?database=1", "unknown parameter `database`"),
        ("redis:unix:r.sock", "invalid socket `unix:r.sock`: expected an absolute path"),
        ("redis:unix:", "invalid socket `unix:`"),
        ("redis:a b", "invalid option `b`"),
        ("redis:cache1 timeout=0ms", "timeout"),
        ("redis:cache1 connections=0", "connections"),
    ] {
        let error = refused(&[wrong]);
        assert!(error.contains(text), "{wrong}: {error}");
    }
    is_right(&["redis:/run/r.sock?db=2&protocol=resp3"]);
    let error = refused(&["redis://:secret@cache1/2 timout=1s"]);
    assert!(error.contains("unknown option `timout` of redis: did you mean `timeout`?"), "{error}");
    assert!(error.contains("redis://...@cache1/2") && !error.contains("secret"), "{error}");
    let clustered = Plan::parse(["redis-cluster:a:1,b:2"]);
    assert_eq!(clustered.is_ok(), cfg!(feature = "redis-cluster"));
}

#[test]
#[cfg(not(feature = "redis"))]
fn what_this_program_was_built_without_is_said() {
    assert!(refused(&["redis:x"]).contains("`cargo add skep-cache --features redis`"));
}

#[test]
fn a_call_through_all_of_them_is_small() {
    let tiers = Plan::parse(["memory:1MiB", "memory:1MiB", "memory:1MiB"]).unwrap().open("x").unwrap();
    let now = Clock::manual().now();
    let size = size_of_val(&tiers.get(b"key", now, |_| ()));
    assert!(size < 4_096, "{size}");
    let cache = Cache::<str, u32>::builder("x").build(tiers).unwrap();
    let size = size_of_val(&cache.get_or("a", async || Ok::<_, Error>(1)));
    assert!(size < 8_192, "{size}");
}

#[test]
fn a_plan_says_what_its_tiers_need() {
    let needs = |list: &[&str]| Plan::parse(list).unwrap().needs();
    let memory = needs(&["memory:1MiB"]);
    assert!(
        memory.survives_fork && !memory.runtime && !memory.blocks && !memory.leaves_process && !memory.keeps_nothing
    );
    assert!(needs(&["null"]).keeps_nothing && !needs(&["null", "memory:1MiB"]).keeps_nothing);
    #[cfg(feature = "shared")]
    assert_eq!((needs(&["shared:1MiB"]).survives_fork, needs(&["shared:1MiB"]).leaves_process), (true, true));
    #[cfg(feature = "file")]
    {
        let file = needs(&["memory:1MiB", "file:1MiB path=/nowhere"]);
        assert!(file.blocks && !file.runtime && !file.survives_fork && file.leaves_process);
    }
    #[cfg(all(feature = "file", feature = "pool"))]
    assert!(!needs(&["file:1MiB path=/nowhere pool=yes"]).blocks);
    #[cfg(all(feature = "file", feature = "memcached"))]
    {
        let far = needs(&["file:1MiB path=/nowhere", "memcached:localhost"]);
        assert!(far.runtime && !far.blocks && !far.survives_fork && far.leaves_process);
    }
}

#[cfg(all(feature = "memcached", feature = "redis"))]
#[test]
fn a_tier_elsewhere_is_in_the_clear_unless_it_is_sealed() {
    use std::io::Write;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "{}", "5e".repeat(32)).unwrap();
    let sealed = format!("seal={}", file.path().display());
    for server in ["memcached:cache1", "redis:cache1"] {
        assert!(Plan::parse([server]).unwrap().needs().is_in_clear, "{server}");
        assert!(!Plan::parse([format!("{server} {sealed}")]).unwrap().needs().is_in_clear, "{server}");
        let error = Plan::parse([format!("{server} seal=/no/such/key")]).unwrap_err().to_string();
        assert!(error.contains("seal: ") && error.contains("/no/such/key: "), "{error}");
    }
}

#[test]
fn sizes_and_durations_are_those_of_the_server() {
    let is_size = |size: &str| Plan::parse([format!("memory:{size}")]).is_ok();
    assert!(is_size("64MiB") && is_size("64MB") && !is_size("64MX") && !is_size(""));
    let seconds = |bound: &str| Plan::parse([&format!("memory:1MiB bound={bound}"), "null"]).is_ok();
    assert!(seconds("5m") && seconds("1m30s") && seconds("500ms") && !seconds("5"));
}
