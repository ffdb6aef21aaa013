//! One page of rustdoc: an item, its methods, and what it implements.

/// Traits of the compiler's own, and those that say nothing about how a type is used.
const LEFT_OUT: [&str; 5] = ["Freeze", "RefUnwindSafe", "StructuralPartialEq", "UnsafeUnpin", "UnwindSafe"];

/// The pages of items that the list of all items links to.
pub(super) fn items(all: &str) -> Vec<String> {
    let list = all.split_once("<h1>List of all items</h1>").map_or("", |(_, list)| list);
    let links = list.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links
        .filter(|link| !link.starts_with("..") && !link.contains(':') && !link.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// The modules that the page of a module links to, each with the page of its own.
pub(super) fn modules(index: &str) -> impl Iterator<Item = &str> {
    let links = index.split("<a class=\"mod\" href=\"").skip(1).filter_map(|rest| rest.split_once('"'));
    links.map(|(link, _)| link).filter(|link| !link.starts_with(".."))
}

/// What the page of this module has under another name, or from elsewhere: a prelude is nothing else.
pub(super) fn reexports<'h>(module: &'h str, index: &'h str) -> impl Iterator<Item = String> + 'h {
    let all = index.split("<code>pub use ").skip(1).filter_map(|rest| rest.split_once("</code>"));
    all.map(move |(path, _)| format!("{module}: pub use {}", text(path)))
}

/// True for what our own source has: what comes from other crates changes with them.
fn is_ours(html: &str) -> bool {
    html.contains("../src/skep")
}

/// What the page `file` of a crate shows, each line with the path of the item.
pub(super) fn lines(name: &str, file: &str, html: &str) -> Vec<String> {
    let (folder, page) = file.rsplit_once('/').unwrap_or(("", file));
    let mut words = page.split('.');
    let (kind, item) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let modules = folder.replace('/', "::");
    let path = [name, &modules, item].into_iter().filter(|part| !part.is_empty());
    let path = path.collect::<Vec<_>>().join("::");
    // What a macro is made of is nobody's business.
    if ["macro", "derive", "attr"].contains(&kind) {
        return vec![format!("{path}: {kind}")];
    }
    if !is_ours(html) {
        return vec![format!("{path}: {kind} of another crate")];
    }
    let declaration = html.split_once("<pre class=\"rust item-decl\"><code>").map(|(_, rest)| rest);
    let declaration = declaration.and_then(|rest| rest.split_once("</code></pre>")).map(|(code, _)| text(code));
    let methods = headers(list(html, "implementations-list"), "<h4 class=\"code-header\">");
    let traits = headers(list(html, "trait-implementations-list"), "<h3 class=\"code-header\">");
    let missing = headers(list(html, "synthetic-implementations-list"), "<h3 class=\"code-header\">")
        .filter(|implemented| implemented.contains(" !"));
    let all = declaration.into_iter().chain(methods).chain(traits).chain(missing);
    all.filter(|line| !LEFT_OUT.iter().any(|name| line.contains(name))).map(|line| format!("{path}: {line}")).collect()
}

/// What stands below the heading of a list, up to the next one.
fn list<'h>(html: &'h str, id: &str) -> &'h str {
    let list = html.split_once(&format!("<div id=\"{id}\">")).map_or("", |(_, list)| list);
    list.split("<h2 id=\"").next().unwrap_or_default()
}

/// The headers in a list; in that of traits, methods have headers of another level.
fn headers<'h>(list: &'h str, tag: &'h str) -> impl Iterator<Item = String> + 'h {
    let end = tag.get(..3).unwrap_or_default().replace('<', "</");
    list.split(tag).skip(1).filter_map(move |rest| Some(text(rest.split_once(&end)?.0)))
}

/// The text of HTML in one line, without what only unfolds or hides parts of it.
fn text(html: &str) -> String {
    let mut text = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        let tag = tag
            .split_once("summary")
            .filter(|_| tag.starts_with("summary"))
            .map_or(tag, |(_, summary)| summary.split_once("</summary").map_or(summary, |(_, rest)| rest));
        rest = tag.split_once('>').map_or("", |(_, rest)| rest);
    }
    text.push_str(rest);
    let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&#39;", "'");
    text.replace("&nbsp;", " ").replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_those_of_the_list() {
        let all = "<a href=\"../bee/index.html\">bee</a><h1>List of all items</h1><h3>Structs</h3><ul><li>\
                   <a href=\"cell/struct.Honey.html\">cell::Honey</a></li></ul><a href=\"../x.html\"></a>";
        assert_eq!(items(all), ["cell/struct.Honey.html"]);
    }

    #[test]
    fn a_page_is_its_declaration_its_methods_and_its_traits() {
        let html = "<a class=\"src\" href=\"../../src/skep_bee/cell.rs.html\"></a>\
                    <pre class=\"rust item-decl\"><code>pub struct Honey&lt;'a&gt; {\n<details><summary><span>Show 2 \
                    fields</span></summary>    pub grams: <a href=\"u.html\">u32</a>,\n</details>}</code></pre>\
                    <h2 id=\"implementations\">I</h2><div id=\"implementations-list\"><section class=\"impl\">\
                    <h3 class=\"code-header\">impl Honey</h3><section class=\"method\"><h4 class=\"code-header\">pub fn \
                    <a>eat</a>(self) -&gt; <a>bool</a></h4></section></div>\
                    <h2 id=\"trait-implementations\">T</h2><div id=\"trait-implementations-list\"><h3 \
                    class=\"code-header\">impl <a>Clone</a> for Honey</h3><h4 class=\"code-header\">fn clone()</h4></div>\
                    <h2 id=\"synthetic-implementations\">A</h2><div id=\"synthetic-implementations-list\"><h3 \
                    class=\"code-header\">impl Send for Honey</h3><h3 class=\"code-header\">impl !Sync for Honey</h3>\
                    <h3 class=\"code-header\">impl !UnwindSafe for Honey</h3></div>";
        let expected = [
            "bee::cell::Honey: pub struct Honey<'a> { pub grams: u32, }",
            "bee::cell::Honey: pub fn eat(self) -> bool",
            "bee::cell::Honey: impl Clone for Honey",
            "bee::cell::Honey: impl !Sync for Honey",
        ];
        assert_eq!(lines("bee", "cell/struct.Honey.html", html), expected);
        assert_eq!(lines("bee", "macro.sting.html", ""), ["bee::sting: macro"]);
        assert_eq!(lines("bee", "struct.Wasp.html", "<h1>Wasp</h1>"), ["bee::Wasp: struct of another crate"]);
    }

    #[test]
    fn a_module_has_modules_and_what_it_names_from_elsewhere() {
        let index = "<a class=\"mod\" href=\"cell/index.html\">cell</a><a class=\"mod\" href=\"../index.html\">bee</a>\
                     <code>pub use crate::<a>cell</a>::<a>Honey</a>;</code>";
        assert_eq!(modules(index).collect::<Vec<_>>(), ["cell/index.html"]);
        assert_eq!(reexports("bee::prelude", index).collect::<Vec<_>>(), ["bee::prelude: pub use crate::cell::Honey;"]);
    }
}
