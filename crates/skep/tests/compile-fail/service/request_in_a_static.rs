use skep::prelude::*;
use std::sync::Mutex;

static LAST: Mutex<Option<&'static str>> = Mutex::new(None);

fn remember(cx: &Cx<'_>) {
    *LAST.lock().unwrap() = cx.cookie("user");
}

fn main() {}
