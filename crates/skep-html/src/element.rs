//! The names of HTML's elements as types, so that rustc's messages can say them. Not made to be used.
//!
//! They are not hidden in the documentation, because rustc shows the path of what is.
//! `skep-html-macros` has the table of what they are; a test there compares the names. Where another module or crate
//! has the name of an element, rustc would say the whole path: such a type is called `form_element`.

#![allow(non_camel_case_types, reason = "the names are HTML's")]

macro_rules! elements {
    ($($name:ident)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[derive(Debug)]
        pub enum $name {}
    )*};
}

elements! {
    a abbr address area article aside audio b base bdi bdo blockquote body_element br button canvas caption cite code col
    colgroup data datalist dd del details dfn dialog div dl dt em embed fieldset figcaption figure footer form_element h1 h2
    h3 h4 h5 h6 head header_element hgroup hr html_element i iframe img input ins kbd label legend li link_element main map mark math menu
    meta meter nav noscript object ol optgroup option_element output p picture pre progress q rp rt ruby s samp script search
    section select selectedcontent slot small source span strong style sub summary sup svg table tbody td template
    textarea tfoot th thead time_element title tr track u ul var video wbr
}

/// An element with a hyphen in its name, which the page itself defines.
#[derive(Debug)]
pub enum custom_element {}

/// An element of SVG or `MathML`.
#[derive(Debug)]
pub enum foreign_element {}

/// No element: the top of a template.
#[derive(Debug)]
pub enum top {}
