//! What this component does when it starts: it builds a table, and what else `INIT` asks for.

use std::collections::HashMap;
use std::sync::OnceLock;

static TABLE: OnceLock<HashMap<u32, String>> = OnceLock::new();

fn table() -> &'static HashMap<u32, String> {
    TABLE.get_or_init(|| (0..1000).map(|key| (key, format!("value {key}"))).collect())
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
            if std::env::var("INIT").as_deref() == Ok("time") {
                let _ = wasip3::clocks::system_clock::now();
            }
            Ok(())
        }
    }
}
