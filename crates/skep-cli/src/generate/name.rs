//! A name in the forms that source text, addresses and sentences take: `blog_post`, `BlogPost`, `blog_posts`, "Blog
//! post".

use super::words;

/// A name that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name(String);

/// Words whose plural follows no rule here.
const IRREGULAR: [(&str, &str); 6] = [
    ("child", "children"),
    ("man", "men"),
    ("mouse", "mice"),
    ("news", "news_items"),
    ("person", "people"),
    ("woman", "women"),
];

impl Name {
    /// Reads `blog_post`, `blog-post` or `BlogPost`. `what` it names is for the error.
    pub(super) fn parse(text: &str, what: &str) -> Result<Self, String> {
        let snake = snake(text);
        let is_word = |word: &str| word.starts_with(|first: char| first.is_ascii_lowercase());
        let is_plain = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '_';
        if !snake.chars().all(is_plain) || !snake.split('_').all(is_word) || snake.len() > 40 {
            return Err(format!(
                "\"{text}\" is not the name of a {what}: expected letters and digits, 40 at most, such as \"post\" or \"blog_post\""
            ));
        }
        if words::is_rust(&snake) {
            return Err(format!("\"{snake}\" is a word of Rust, which no {what} can be named: choose another name"));
        }
        Ok(Self(snake))
    }

    /// `blog_post`: a module, a table, a variable.
    pub(super) fn snake(&self) -> &str {
        &self.0
    }

    /// `BlogPost`: a type.
    pub(super) fn camel(&self) -> String {
        self.0.split('_').map(capital).collect()
    }

    /// `blog-post`: an address.
    pub(super) fn kebab(&self) -> String {
        self.0.replace('_', "-")
    }

    /// `blog_posts`.
    pub(super) fn plural(&self) -> Self {
        let (before, last) = self
            .0
            .rsplit_once('_')
            .map_or(("", self.0.as_str()), |(_, last)| (&self.0[..self.0.len() - last.len()], last));
        Self(format!("{before}{}", plural(last)))
    }

    /// `post`, if this is `posts`.
    pub(super) fn singular(&self) -> Option<Self> {
        let (before, last) = self
            .0
            .rsplit_once('_')
            .map_or(("", self.0.as_str()), |(_, last)| (&self.0[..self.0.len() - last.len()], last));
        singular(last).map(|one| Self(format!("{before}{one}")))
    }

    /// `blog post`, within a sentence.
    pub(super) fn words(&self) -> String {
        self.0.replace('_', " ")
    }

    /// `Blog post`, at the beginning of one.
    pub(super) fn title(&self) -> String {
        capital(&self.words())
    }

    /// `a blog post`, `an order`.
    pub(super) fn with_article(&self) -> String {
        let article = if self.0.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        format!("{article} {}", self.words())
    }
}

fn snake(text: &str) -> String {
    let mut snake = String::new();
    let letters: Vec<char> = text.chars().collect();
    for (at, &one) in letters.iter().enumerate() {
        // `HTTPLog` is `http_log`.
        let ends_word = at > 0 && !letters[at - 1].is_ascii_uppercase();
        let begins_word = letters.get(at + 1).is_some_and(char::is_ascii_lowercase);
        if one.is_ascii_uppercase() && (ends_word || begins_word) && !snake.is_empty() && !snake.ends_with('_') {
            snake.push('_');
        }
        snake.push(if one == '-' { '_' } else { one.to_ascii_lowercase() });
    }
    snake
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn plural(word: &str) -> String {
    if let Some((_, plural)) = IRREGULAR.iter().find(|(one, _)| *one == word) {
        return (*plural).to_owned();
    }
    match word.strip_suffix('y') {
        Some(stem) if !stem.ends_with(['a', 'e', 'i', 'o', 'u']) && !stem.is_empty() => format!("{stem}ies"),
        _ if word.ends_with(['s', 'x', 'z']) || word.ends_with("ch") || word.ends_with("sh") => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

/// One thing, each of them; and so are an address, a status, an analysis, an atlas.
const ONE: [&str; 4] = ["lens", "news", "series", "species"];

/// The word whose plural this certainly is.
fn singular(word: &str) -> Option<String> {
    if let Some((one, _)) = IRREGULAR.iter().find(|(_, many)| *many == word) {
        return Some((*one).to_owned());
    }
    if ONE.contains(&word) || ["ss", "us", "is", "as", "os"].iter().any(|end| word.ends_with(end)) {
        return None;
    }
    let stems = [word.strip_suffix("ies").map(|stem| format!("{stem}y")), word.strip_suffix('s').map(str::to_owned)];
    let hisses = |stem: &&str| ["x", "ch", "sh", "ss"].iter().any(|end| stem.ends_with(end));
    let es = word.strip_suffix("es").filter(hisses).map(str::to_owned);
    es.into_iter().chain(stems.into_iter().flatten()).find(|one| plural(one) == word && one.len() > 1)
}

#[cfg(test)]
#[path = "../../tests/unit/generate/name.rs"]
mod tests;
