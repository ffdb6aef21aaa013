//! A `Content-Security-Policy` that lets the script of `skep dev` run, and changes nothing else.

/// What the script needs: a directive, those that stand in for it where it is missing, and what it must allow.
const NEEDS: [(&str, &[&str]); 3] = [
    ("script-src-elem", &["script-src", "default-src"]),
    ("connect-src", &["default-src"]),
    ("frame-src", &["child-src", "default-src"]),
];

/// The policy with what is missing. `nonce` is that of the script tag.
pub(crate) fn allow(policy: &str, nonce: &str) -> String {
    let policies = policy.split(',').map(|policy| {
        let mut directives: Vec<(String, Vec<String>)> = policy.split(';').filter_map(directive).collect();
        for (name, fallbacks) in NEEDS {
            permit(&mut directives, name, fallbacks, nonce);
        }
        let lines = directives.iter().map(|(name, sources)| format!("{name} {}", sources.join(" ")).trim().to_owned());
        lines.collect::<Vec<_>>().join("; ")
    });
    policies.collect::<Vec<_>>().join(", ")
}

fn directive(text: &str) -> Option<(String, Vec<String>)> {
    let mut words = text.split_whitespace().map(str::to_owned);
    Some((words.next()?.to_ascii_lowercase(), words.collect()))
}

fn permit(directives: &mut Vec<(String, Vec<String>)>, name: &str, fallbacks: &[&str], nonce: &str) {
    let found = |name: &&str| directives.iter().position(|(own, _)| own == name);
    let Some(at) = found(&name).or_else(|| fallbacks.iter().find_map(found)) else { return };
    let mut sources = directives[at].1.clone();
    // With a nonce or `strict-dynamic`, hosts do not count.
    let source = if sources.iter().any(|source| source == "'strict-dynamic'") {
        format!("'nonce-{nonce}'")
    } else {
        "'self'".to_owned()
    };
    if sources.contains(&source) {
        return;
    }
    sources.retain(|source| source != "'none'");
    sources.push(source);
    if directives[at].0 == name {
        directives[at].1 = sources;
    } else {
        directives.push((name.to_owned(), sources));
    }
}

#[cfg(test)]
#[path = "../tests/unit/policy.rs"]
mod tests;
