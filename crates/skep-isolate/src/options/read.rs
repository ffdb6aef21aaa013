//! Values of settings that have a grammar of their own.

use std::path::PathBuf;

use super::HOST;
use crate::state::Dir;

#[expect(clippy::unnecessary_wraps, reason = "what reads the value of a row may refuse it")]
pub(super) fn switch(word: &str) -> Result<bool, String> {
    Ok(word == "true")
}

pub(super) fn path(path: &str) -> Result<String, String> {
    Some(path.to_owned()).filter(|path| path.starts_with('/')).ok_or_else(|| "expected a path, such as /shop".into())
}

pub(super) fn prefix(text: &str) -> Result<String, String> {
    Ok(crate::prefix::prefix(&path(text)?))
}

pub(super) fn hosts(list: &[String]) -> Result<Vec<String>, String> {
    if list.iter().any(|host| host.contains(['/', ':'])) {
        return Err(format!("expected {HOST}"));
    }
    Ok(list.iter().map(|host| host.to_ascii_lowercase()).collect())
}

/// Of equal names, the last one counts.
pub(super) fn env(list: &[String]) -> Result<Vec<(String, String)>, String> {
    let mut env: Vec<(String, String)> = Vec::new();
    for text in list {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, value.to_owned()),
            None => (&**text, std::env::var(text).map_err(|_| format!("the server has no variable {text}"))?),
        };
        if name.is_empty() {
            return Err("expected NAME=VALUE, or NAME".into());
        }
        env.retain(|(known, _)| known != name);
        env.push((name.to_owned(), value));
    }
    Ok(env)
}

pub(super) fn files(list: &[String]) -> Result<Vec<(String, PathBuf)>, String> {
    list.iter().map(|text| folder(text)).collect()
}

fn folder(text: &str) -> Result<(String, PathBuf), String> {
    let (prefix, dir) = text
        .split_once('=')
        .filter(|(prefix, dir)| prefix.starts_with('/') && !dir.is_empty())
        .ok_or("expected PREFIX=DIR, such as /static=public")?;
    Ok((crate::prefix::prefix(prefix), PathBuf::from(dir)))
}

/// `pages=memory:8MiB`, `redis:cache1`, `sessions=...`: an element without a name is one more tier.
pub(super) fn caches(elements: &[String]) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut caches: Vec<(String, Vec<String>)> = Vec::new();
    for element in elements {
        let named = element.split_once('=').filter(|(name, _)| !name.contains([':', ' ']));
        match (named, caches.last_mut()) {
            (Some((name, tier)), _) => caches.push((name.to_owned(), vec![tier.trim().to_owned()])),
            (None, Some((_, tiers))) => tiers.push(element.clone()),
            (None, None) => return Err("expected NAME=TIERS, such as pages=memory:64MiB".into()),
        }
    }
    for (name, tiers) in &caches {
        skep::cache::Tiers::parse(tiers).map_err(|error| format!("cache {name}: {error}"))?;
    }
    Ok(caches)
}

pub(super) fn dirs(list: &[String]) -> Result<Vec<Dir>, String> {
    list.iter().map(|text| dir(text)).collect()
}

fn dir(text: &str) -> Result<Dir, String> {
    let (place, may_write) = text.strip_suffix("::rw").map_or((text, false), |place| (place, true));
    let (host, guest) = place.split_once("::").unwrap_or((place, place));
    if host.is_empty() || guest.is_empty() || guest.contains("::") {
        return Err("expected DIR, DIR::NAME or DIR::NAME::rw".into());
    }
    let path = PathBuf::from(host);
    if !path.is_dir() {
        return Err(format!("{host} is not a directory"));
    }
    Ok(Dir { host: path, guest: guest.to_owned(), may_write })
}
