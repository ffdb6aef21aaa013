//! What this component does when it starts: it builds a table, and what else `INIT` asks for.

use std::collections::HashMap;
use std::sync::OnceLock;

/// How often it was started.
pub static INITS: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);

static TABLE: OnceLock<HashMap<u32, String>> = OnceLock::new();

/// Entries of the table: `ENTRIES` in the environment, or a thousand.
fn table() -> &'static HashMap<u32, String> {
    TABLE.get_or_init(|| {
        let entries = std::env::var("ENTRIES").ok().and_then(|entries| entries.parse().ok()).unwrap_or(1000);
        (0..entries).map(|key| (key, format!("value {key}"))).collect()
    })
}

/// Whether the table was there, and what is in it.
pub fn look_up(key: &str) -> String {
    let was_there = TABLE.get().is_some();
    let value = key.parse().ok().and_then(|key: u32| table().get(&key));
    format!("{} {}", if was_there { "ready" } else { "built" }, value.map_or("nothing", String::as_str))
}

#[cfg(feature = "init")]
mod exported {
    wit_bindgen::generate!({
        inline: "package test:start; world start { export init: func() -> result<_, string>; }",
        world: "start",
    });

    struct Start;

    export!(Start);

    impl Guest for Start {
        fn init() -> Result<(), String> {
            super::table();
            super::INITS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            match std::env::var("INIT").as_deref() {
                Ok("time") => drop(std::time::SystemTime::now()),
                Ok("random") => drop(wasip2::random::random::get_random_bytes(1)),
                Ok("print") => println!("starting"),
                Ok("keep") => std::mem::forget(wasip2::cli::stdout::get_stdout()),
                Ok("panic") => panic!("no way to start"),
                Ok("fail") => return Err("it does not like this machine".to_owned()),
                Ok("loop") => loop {
                    std::hint::black_box(0);
                },
                _ => {}
            }
            Ok(())
        }
    }
}
