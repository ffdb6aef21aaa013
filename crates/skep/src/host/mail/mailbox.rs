//! Addresses of mails: RFC 5322, 3.4, of one mailbox in ASCII.

use std::fmt;
use std::str::FromStr;

/// An address, perhaps with a name: `ada@example.org`, `Ada Lovelace <ada@example.org>`, `"Lovelace, Ada"
/// <ada@example.org>`.
///
/// ```
/// use skep::mail::Mailbox;
///
/// let shop: Mailbox = "Bäckerei Müller <shop@example.org>".parse()?;
/// assert_eq!((shop.name.as_deref(), &*shop.address), (Some("Bäckerei Müller"), "shop@example.org"));
/// assert!("Müller, Q <shop@example.org>".parse::<Mailbox>().is_err()); // a comma separates addresses
/// # Ok::<(), skep::mail::NotMailbox>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mailbox {
    /// What is shown instead of the address.
    pub name: Option<String>,
    /// The address itself.
    pub address: String,
}

/// Why a text is no address that mail can be sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotMailbox(&'static str);

skep_units::error_text!(NotMailbox, |wrong| wrong.0);

const EXPECTED: NotMailbox =
    NotMailbox("expected an e-mail address, such as shop@example.org or Shop <shop@example.org>");
const CONTROL: NotMailbox = NotMailbox("an e-mail address has a line break or another control character");
const LOCAL: NotMailbox =
    NotMailbox("an e-mail address has characters beyond ASCII before its @, which is not supported (SMTPUTF8)");
const DOMAIN: NotMailbox = NotMailbox("an e-mail address has a domain beyond ASCII: write it as xn--...");
const COMMA: NotMailbox =
    NotMailbox("the name of an e-mail address has a character that needs quotes: \"Name\" <address>");

skep_settings::from_text!(Mailbox);

impl FromStr for Mailbox {
    type Err = NotMailbox;

    fn from_str(text: &str) -> Result<Self, NotMailbox> {
        let text = text.trim_matches(' ');
        if text.chars().any(char::is_control) {
            return Err(CONTROL);
        }
        let Some(rest) = text.strip_suffix('>') else {
            check_address(text)?;
            return Ok(Self { name: None, address: text.to_owned() });
        };
        let (name, address) = rest.rsplit_once('<').ok_or(EXPECTED)?;
        check_address(address)?;
        let name = display_name(name.trim_matches(' '))?;
        Ok(Self { name: Some(name).filter(|name| !name.is_empty()), address: address.to_owned() })
    }
}

impl Mailbox {
    /// True if this is an address without a name.
    ///
    /// ```
    /// use skep::mail::Mailbox;
    /// assert!(Mailbox::is_bare("ada@example.org") && !Mailbox::is_bare("Ada <ada@example.org>"));
    /// ```
    #[must_use]
    pub fn is_bare(text: &str) -> bool {
        check_address(text).is_ok()
    }
}

impl fmt::Display for Mailbox {
    /// As it is read again, and not as a header field has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "\"{}\" <{}>", name.replace('\\', "\\\\").replace('"', "\\\""), self.address),
            None => f.write_str(&self.address),
        }
    }
}

/// A quoted string or a phrase (RFC 5322, 3.2.4 and 3.2.5).
fn display_name(text: &str) -> Result<String, NotMailbox> {
    let Some(quoted) = text.strip_prefix('"') else {
        let is_special = |sign: char| "()<>[]:;@\\,\"".contains(sign);
        return if text.contains(is_special) { Err(COMMA) } else { Ok(text.to_owned()) };
    };
    let mut name = String::new();
    let mut signs = quoted.chars();
    loop {
        match signs.next().ok_or(EXPECTED)? {
            '\\' => name.push(signs.next().ok_or(EXPECTED)?),
            '"' => break,
            sign => name.push(sign),
        }
    }
    if signs.next().is_some() { Err(EXPECTED) } else { Ok(name) }
}

/// `addr-spec`, with the lengths of RFC 5321, 4.5.3.1.
fn check_address(text: &str) -> Result<(), NotMailbox> {
    let (local, domain) = text.rsplit_once('@').ok_or(EXPECTED)?;
    if !local.is_ascii() {
        return Err(LOCAL);
    }
    if !domain.is_ascii() {
        return Err(DOMAIN);
    }
    let is_right = local.len() <= 64 && text.len() <= 254 && (is_dot_atom(local) || is_quoted(local));
    if is_right && (is_host(domain) || is_literal(domain)) { Ok(()) } else { Err(EXPECTED) }
}

fn is_dot_atom(text: &str) -> bool {
    let is_atext = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-/=?^_`{|}~".contains(&byte);
    text.split('.').all(|atom| !atom.is_empty() && atom.bytes().all(is_atext))
}

fn is_quoted(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else { return false };
    let mut bytes = inner.bytes();
    while let Some(byte) = bytes.next() {
        let is_text = match byte {
            b'\\' => bytes.next().is_some(),
            b'"' => false,
            _ => true,
        };
        if !is_text {
            return false;
        }
    }
    inner.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic())
}

fn is_host(domain: &str) -> bool {
    let is_label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    domain.len() <= 253 && domain.split('.').all(is_label)
}

/// An address in brackets (RFC 5321, 4.1.3).
fn is_literal(domain: &str) -> bool {
    let Some(inner) = domain.strip_prefix('[').and_then(|text| text.strip_suffix(']')) else { return false };
    match inner.strip_prefix("IPv6:") {
        Some(address) => address.parse::<std::net::Ipv6Addr>().is_ok(),
        None => inner.parse::<std::net::Ipv4Addr>().is_ok(),
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/mail/mailbox.rs"]
mod tests;
