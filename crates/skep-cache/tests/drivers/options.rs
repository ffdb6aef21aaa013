//! Options of the drivers for servers: an invalid one is named, before anything is connected.

use std::time::Duration;

#[cfg(feature = "memcached")]
#[test]
fn invalid_options_of_memcached_are_named() {
    use skep_cache::Memcached;
    let one = || Memcached::builder().server("cache1", 1);
    assert!(one().build().is_ok());
    for (builder, text) in [
        (Memcached::builder(), "add one with `server`"),
        (one().server("cache1:11211", 2), "duplicate server cache1:11211"),
        (one().server("cache2", 0), "weight of cache2 is 0"),
        (one().server("http://x", 1), "expected \"cache1:11211\""),
        (one().timeout(Duration::ZERO), "timeout is 0ns"),
        (one().connections(0), "connections is 0"),
        (one().max_value(1), "max_value is 1 bytes"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[cfg(feature = "redis")]
#[test]
fn invalid_options_of_redis_are_named_and_passwords_are_not() {
    use skep_cache::Redis;
    for (builder, text) in [
        (Redis::builder("redis:/user:secret@host"), "expected \"redis://cache1:6379\""),
        (Redis::builder("redis://a").connections(0), "connections is 0"),
        (Redis::builder("redis://a").timeout(Duration::ZERO), "timeout is 0ns"),
    ] {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains(text) && !error.contains("secret"), "{error}");
    }
    let driver = Redis::builder("redis://user:secret@cache1:7").build().unwrap();
    assert_eq!(format!("{driver:?}"), "Redis(\"cache1:7\")");
}
