//! Unit tests of `ansi`.

use super::*;

fn html(text: &str) -> String {
    to_html(text, |_| "edit:\"here\"".to_owned())
}

#[test]
fn colours_become_classes_and_nothing_becomes_html() {
    assert_eq!(html("a < b & \"c\"</pre><script>"), "a &lt; b &amp; &quot;c&quot;&lt;/pre&gt;&lt;script&gt;");
    let text = "\u{1b}[0m\u{1b}[1m\u{1b}[38;5;9merror[E0425]\u{1b}[0m\u{1b}[1m: no <b>\u{1b}[0m\n";
    assert_eq!(html(text), "<span class=\"c9 b\">error[E0425]</span><span class=\" b\">: no &lt;b&gt;</span>\n");
    assert_eq!(html("\u{1b}[31mred\n\u{1b}[39mplain"), "<span class=\"c1\">red\n</span>plain");
    assert_eq!(html("\u{1b}[38;5;200mmany\u{1b}[m"), "many");
}

#[test]
fn other_sequences_are_left_out() {
    assert_eq!(html("\u{1b}[2K\u{1b}]8;;file:///x\u{1b}\\here\u{1b}]8;;\u{7}!\r\u{8}"), "here!\u{fffd}\u{fffd}");
    for broken in ["\u{1b}", "\u{1b}[", "\u{1b}[1", "\u{1b}]8", "\u{1b}[ä"] {
        assert!(!html(&format!("a{broken}")).contains('\u{1b}'), "{broken:?}");
    }
}

#[test]
fn a_place_of_the_compiler_is_a_link() {
    let text = "  \u{1b}[1m\u{1b}[94m--> \u{1b}[0msrc/lib.rs:4:5\n";
    let expected = "  <span class=\"c12 b\">--&gt; </span><a href=\"edit:&quot;here&quot;\">src/lib.rs:4:5</a>\n";
    assert_eq!(html(text), expected);
    assert_eq!(html("  ::: a.rs:1:2\n"), "  ::: <a href=\"edit:&quot;here&quot;\">a.rs:1:2</a>\n");
    assert_eq!(html("see src/lib.rs:4:5\n"), "see src/lib.rs:4:5\n");
    assert_eq!(html("--> no place\n"), "--&gt; no place\n");
}
