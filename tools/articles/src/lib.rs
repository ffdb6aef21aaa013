//! The articles that every list page of the bench shows: the same for each peer, made in code, never random.
//!
//! A peer puts them into whatever it reads from. They are about the length of real ones where the list shows them:
//! title, summary and tags. Start reading at [`all`].

/// How many articles there are. The list page shows [`PER_PAGE`] of them.
pub const COUNT: usize = 200;

/// How many articles a list page shows, newest first.
pub const PER_PAGE: usize = 20;

/// One article, without its text: a list page does not show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Article {
    /// Its place in the order of publication, from 0.
    pub number: usize,
    /// What its address ends with.
    pub slug: String,
    /// Plain text.
    pub title: String,
    /// HTML, of inline elements.
    pub summary: String,
    /// `YYYY-MM-DD`.
    pub published: String,
    /// Two or three, in their order, single words.
    pub tags: Vec<&'static str>,
}

const TAGS: [&str; 8] = ["caching", "forms", "html", "processes", "routing", "sqlite", "testing", "wasm"];

const SUBJECTS: [&str; 10] = [
    "A cache",
    "The supervisor",
    "A form",
    "One connection",
    "The first page",
    "A link",
    "Every query",
    "The feed",
    "A session",
    "The worker",
];

const TURNS: [&str; 5] = [
    "that tells the truth",
    "and what it costs",
    "without a second server",
    "on a single core",
    "after a year in the open",
];

const SUMMARIES: [&str; 4] = [
    "What we measured, what we left out, and why the <em>first</em> number anyone quotes is the one to trust least.",
    "A short walk through the code: where it starts, what it never does, and the one place that decides.",
    "Three ways to do it, two of which work, and the test that told them apart before our readers could.",
    "It looked simple, was not, and is again: notes from a rewrite that removed more lines than it added.",
];

/// All articles, oldest first.
pub fn all() -> impl Iterator<Item = Article> {
    (0..COUNT).map(article)
}

fn article(number: usize) -> Article {
    let subject = SUBJECTS[number % SUBJECTS.len()];
    let turn = TURNS[number / SUBJECTS.len() % TURNS.len()];
    Article {
        number,
        slug: format!("{}-{}-{number}", slug(subject), slug(turn)),
        title: format!("{subject} {turn}"),
        summary: SUMMARIES[number % SUMMARIES.len()].to_owned(),
        published: published(number),
        tags: tags(number),
    }
}

fn slug(words: &str) -> String {
    words.to_lowercase().replace(' ', "-")
}

/// Two a week or so: seven in each month, on days that every month has.
fn published(number: usize) -> String {
    let (month, day) = (number / 7, number % 7 * 4 + 1);
    format!("{}-{:02}-{day:02}", 2024 + month / 12, month % 12 + 1)
}

fn tags(number: usize) -> Vec<&'static str> {
    let count = 2 + number % 2;
    (0..count).map(|place| TAGS[(number + place * 3) % TAGS.len()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_articles_share_an_address_or_a_date() {
        let mut slugs: Vec<_> = all().map(|article| article.slug).collect();
        let mut dates: Vec<_> = all().map(|article| article.published).collect();
        slugs.sort();
        slugs.dedup();
        dates.dedup();
        assert_eq!((slugs.len(), dates.len()), (COUNT, COUNT));
        assert!(dates.is_sorted());
    }

    #[test]
    fn no_article_has_a_tag_twice() {
        for mut article in all() {
            let count = article.tags.len();
            article.tags.sort_unstable();
            article.tags.dedup();
            assert_eq!(article.tags.len(), count, "{}", article.slug);
        }
    }
}
