//! Valid URL strings (URL Standard, 4.3): checks the mistakes that authors are likely to make.

/// Schemes whose URLs have a host.
const WITH_HOST: &[&str] = &["ftp", "http", "https", "ws", "wss"];

/// A non-empty URL, absolute or relative.
pub(super) fn is_url(url: &str) -> bool {
    if url.is_empty() || !url.chars().all(may_stand) || url.matches('#').count() > 1 || !is_escaped(url) {
        return false;
    }
    let (scheme, rest) = split(url);
    let needs_host = scheme.is_some_and(|scheme| WITH_HOST.iter().any(|known| known.eq_ignore_ascii_case(scheme)));
    match rest.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let is_empty_right = !needs_host && scheme.is_some();
            (is_authority(&rest[..end]) || end == 0 && is_empty_right) && !rest[end..].contains(['[', ']'])
        }
        None => !needs_host && !rest.contains(['[', ']']),
    }
}

/// An absolute URL.
pub(super) fn is_absolute(url: &str) -> bool {
    split(url).0.is_some() && is_url(url)
}

/// The scheme, if there is one, and the rest.
fn split(url: &str) -> (Option<&str>, &str) {
    let Some((scheme, rest)) = url.split_once(':') else { return (None, url) };
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if is_scheme { (Some(scheme), rest) } else { (None, url) }
}

fn may_stand(letter: char) -> bool {
    !letter.is_whitespace() && !letter.is_control() && !"\"<>\\^`{|}".contains(letter)
}

/// Two hexadecimal digits follow each `%`.
fn is_escaped(url: &str) -> bool {
    let is_code = |rest: &str| rest.as_bytes().get(..2).is_some_and(|code| code.iter().all(u8::is_ascii_hexdigit));
    url.split('%').skip(1).all(is_code)
}

fn is_authority(authority: &str) -> bool {
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let (host, port) = match host.strip_prefix('[') {
        Some(address) => match address.split_once(']') {
            Some((address, rest)) => (address, rest.strip_prefix(':')),
            None => return false,
        },
        None => host.split_once(':').map_or((host, None), |(host, port)| (host, Some(port))),
    };
    let is_port = port.is_none_or(|port| port.is_empty() || port.parse::<u16>().is_ok());
    !host.is_empty() && !host.contains(['[', ']']) && is_port
}
