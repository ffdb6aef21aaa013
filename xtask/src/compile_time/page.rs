//! The page that is compiled: a realistic mix of 2 000 elements, the same text for both macros.
//!
//! It uses what both macros understand, and has two splices for every five elements: text, numbers, attributes, links,
//! and what another function made.

/// How many elements there are at least.
pub(super) const ELEMENTS: usize = 2000;

/// A crate with one page. `imports` brings `html!`, and the types `Page` and `Badge`; `badge` is the macro for the
/// latter.
pub(super) fn source(imports: &str, badge: &str) -> String {
    let (mut body, mut elements) = (String::new(), 0);
    for number in 0.. {
        let part = PARTS[number % PARTS.len()];
        elements += elements_of(part);
        body += &part.replace('№', &number.to_string());
        if elements >= ELEMENTS {
            break;
        }
    }
    let around = AROUND.replace("IMPORTS", imports).replace("MACRO", badge);
    around.replace("BODY", &body)
}

/// All elements have braces or a semicolon, and so has each `@if`, `@else` and `@for`; nothing else has.
fn elements_of(part: &str) -> usize {
    part.matches(['{', ';']).count() - part.matches('@').count()
}

const AROUND: &str = r#"IMPORTS

pub struct Item {
    pub title: String,
    pub author: String,
    pub date: String,
    pub text: String,
    pub link: String,
    pub number: u32,
    pub new: bool,
}

pub fn badge(number: u32) -> Badge {
    MACRO! { b.badge title="Number" { (number) } }
}

pub fn page(items: &[Item], item: &Item, name: Option<&str>) -> Page {
    html! {
BODY    }
}
"#;

const PARTS: [&str; 5] = [
    r#"        article.card.new[item.new] #item-№ {
            header { h2 { a href=(item.link) title=(item.title) { (item.title) } } }
            p.meta { "By " em { (item.author) } ", " time datetime=(item.date) { (item.date) } " " (badge(item.number)) }
            p { (item.text) }
            p { a href="/writings" { "All writings" } " · " a href="/about" rel="author" { "About" } }
        }
"#,
    r#"        form action="/items/№" method="post" {
            div.field { label for="name-№" { "Name" } input #name-№ name="name" type="text" required value=(item.author); }
            div.field { label for="mail-№" { "Address" } input #mail-№ name="mail" type="email" value=[name]; }
            div.field { label for="text-№" { "Text" } textarea #text-№ name="text" rows="5" { (item.text) } }
            div.field {
                label for="kind-№" { "Kind" }
                select #kind-№ name="kind" { option value="note" { "Note" } option value="question" selected[item.new] { "Question" } }
            }
            fieldset { legend { "Also" } label { input type="checkbox" name="mail-me" checked[item.new]; " by mail" } }
            div.buttons { button type="submit" { "Send" } button.quiet type="reset" { "Start again" } }
        }
"#,
    r#"        table.items {
            caption { "Items of part №" }
            thead { tr { th scope="col" { "Title" } th scope="col" { "Author" } th scope="col" { "Number" } th scope="col" { "" } } }
            tbody {
                @for item in items {
                    tr.new[item.new] { td { (item.title) } td { (item.author) } td.number { (item.number) } td { a href=(item.link) { "Show" } } }
                }
            }
        }
"#,
    r#"        nav.menu aria-label="Part №" {
            ul {
                li { a href="/" { "Home" } }
                li { a href="/archive" { "Archive" } }
                @if item.new { li.new { a href=(item.link) { "New: " (item.title) } } } @else { li { span { "Nothing new" } } }
                @if let Some(name) = name { li { "You are " strong { (name) } } }
                @for item in items { li { a href=(item.link) { (item.title) } " " small { (badge(item.number)) } } }
            }
        }
"#,
    r#"        section #part-№ {
            h2 { "Part №" }
            p { "Some " strong { "text" } " with " em { "marks" } ", " code { "code" } " and " a href="/a/link" { "a link" } "." }
            p { "The second paragraph has the number " b { (item.number) } " in it." }
            figure { img src="/picture.png" alt="A picture" width="640" height="480"; figcaption { "By " (item.author) } }
            dl { dt { "Author" } dd { (item.author) } dt { "Date" } dd { time { (item.date) } } }
            hr;
        }
"#,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_counted() {
        assert_eq!(elements_of("p { br; @if x { b { } } @else { i { } } }"), 4);
    }

    #[test]
    fn every_part_has_splices_of_its_own() {
        for part in PARTS {
            assert!(part.contains("(item.") && elements_of(part) > 10, "{part}");
        }
    }
}
