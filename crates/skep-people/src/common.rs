//! Passwords that are guessed first.

use crate::messages::AccountMessages;
use skep::Cx;

/// Why a password is easily guessed. An example is at [`weakness`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weakness {
    /// It has fewer than five different characters.
    FewCharacters,
    /// It is a row of keys, or a part of the alphabet or of the digits.
    Sequence,
    /// It is made of what is known of the user.
    OwnName,
    /// It is one of those that are guessed first.
    Common,
}

impl Weakness {
    /// What to say of it, in the language of the request: [`AccountMessages`].
    #[must_use]
    pub fn text(self, cx: &Cx<'_>) -> &'static str {
        (AccountMessages::of(cx).weakness)(self)
    }
}

/// Why a password is too easily guessed; `None` if nothing speaks against it. Length is the form's to check
/// (`Password<10, 200>`). `about` is what an attacker knows of the user: name, e-mail address, name of the site.
///
/// It knows the words, rows of keys and sequences that head the published lists of leaked passwords, also with digits,
/// signs and letters that look like others (`P@ssw0rd123!`). It is no list of leaked passwords.
///
/// ```
/// use skep_people::{Weakness, weakness};
///
/// assert_eq!(weakness("P@ssw0rd2026!", &[]), Some(Weakness::Common));
/// assert_eq!(weakness("ada.lovelace1", &["ada.lovelace@example.org"]), Some(Weakness::OwnName));
/// assert_eq!(weakness("a bee in the bonnet", &["ada"]), None);
/// ```
///
/// Beside the field it is in the language of the request: `Self::password.refuse(weakness.text(cx))`.
#[must_use]
pub fn weakness(password: &str, about: &[&str]) -> Option<Weakness> {
    let text = password.to_lowercase();
    let mut distinct: Vec<char> = text.chars().collect();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 5 {
        return Some(Weakness::FewCharacters);
    }
    // `passw0rd` is a word with a sign that looks like a letter, `admin123` one with digits behind it.
    let readings = [letters(&plain(&text)), letters(&text)];
    if is_run(&text) || readings.iter().any(|letters| is_run(letters)) {
        return Some(Weakness::Sequence);
    }
    let known = about.iter().flat_map(|text| text.split(['@', '.', ' ', '-', '_'])).map(str::to_lowercase);
    let known: Vec<String> = known.filter(|word| word.chars().count() >= 3).collect();
    if readings.iter().any(|letters| consists_of(letters, known.iter().map(String::as_str))) {
        return Some(Weakness::OwnName);
    }
    let is_word = |letters: &String| consists_of(letters, WORDS.iter().copied());
    readings.iter().any(is_word).then_some(Weakness::Common)
}

/// True if hardly anything is left without these words.
fn consists_of<'w>(letters: &str, words: impl Iterator<Item = &'w str>) -> bool {
    let rest = words.fold(letters.to_owned(), |rest, word| rest.replace(word, ""));
    rest.chars().count() < 4 && rest != letters
}

fn letters(text: &str) -> String {
    text.chars().filter(|letter| letter.is_alphabetic()).collect()
}

/// With letters for what looks like them.
fn plain(text: &str) -> String {
    let plain = |letter| match letter {
        '0' => 'o',
        '1' | '!' | '|' => 'i',
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        other => other,
    };
    text.chars().map(plain).collect()
}

/// True if all but three characters continue a row of the keyboard, the alphabet or the digits, either way.
fn is_run(text: &str) -> bool {
    let letters: Vec<char> = text.chars().collect();
    let follows = |pair: &[char]| {
        let both = |row: &str| {
            let row: Vec<char> = row.chars().collect();
            row.windows(2).any(|keys| keys == pair || (keys[0] == pair[1] && keys[1] == pair[0]))
        };
        ROWS.iter().any(|row| both(row))
    };
    let runs = letters.windows(2).filter(|pair| follows(pair)).count();
    letters.len() >= 4 && runs + 4 > letters.len()
}

const ROWS: [&str; 7] =
    ["abcdefghijklmnopqrstuvwxyz", "01234567890", "qwertyuiop", "qwertzuiop", "asdfghjkl", "zxcvbnm", "azertyuiop"];

/// As [`plain`] leaves them: digits that look like letters are letters.
const WORDS: [&str; 40] = [
    "password",
    "passwort",
    "passwd",
    "letmein",
    "welcome",
    "willkommen",
    "iloveyou",
    "admin",
    "root",
    "login",
    "master",
    "monkey",
    "dragon",
    "sunshine",
    "princess",
    "football",
    "baseball",
    "superman",
    "batman",
    "trustno",
    "shadow",
    "michael",
    "charlie",
    "secret",
    "geheim",
    "hallo",
    "hello",
    "freedom",
    "whatever",
    "computer",
    "internet",
    "summer",
    "winter",
    "spring",
    "autumn",
    "changeme",
    "default",
    "guest",
    "test",
    "user",
];
