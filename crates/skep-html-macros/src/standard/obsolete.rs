//! Obsolete elements and attributes (16.2), with replacements.

/// Elements and their replacement, sorted.
pub(crate) const ELEMENTS: &[(&str, &str)] = &[
    ("acronym", "write `abbr`"),
    ("applet", "write `embed` or `object`"),
    ("basefont", "write CSS"),
    ("bgsound", "write `audio`"),
    ("big", "write CSS (`font-size`), or `strong` or a heading where it is meant"),
    ("blink", "write CSS (`animation`)"),
    ("center", "write CSS (`text-align: center`)"),
    ("dir", "write `ul`"),
    ("fencedframe", "write `iframe`"),
    ("font", "write `span` and CSS (`font`, `color`)"),
    ("frame", "write `iframe` and CSS"),
    ("frameset", "write `iframe` and CSS"),
    ("image", "write `img`"),
    ("isindex", "write a `form` with an `input`"),
    ("keygen", "use the Web Cryptography API"),
    ("listing", "write `pre` and `code`"),
    ("marquee", "write CSS (`animation`)"),
    ("menuitem", "write `button` or `a` in `menu`, and a script"),
    ("multicol", "write CSS (`columns`)"),
    ("nextid", "leave it out: ids need no counter"),
    ("nobr", "write CSS (`white-space: nowrap`)"),
    ("noembed", "write `object` with content"),
    ("noframes", "write `iframe` and CSS"),
    ("param", "write the `data` attribute of `object` with the URL"),
    ("plaintext", "write `pre`, or serve it as text/plain"),
    ("rb", "write the base text directly in `ruby`"),
    ("rtc", "write nested `ruby` elements"),
    ("spacer", "write CSS (`margin`)"),
    ("strike", "write `del` for removed text, `s` for outdated text"),
    ("tt", "write `code`, `kbd`, `samp` or `var`, or CSS (`font-family: monospace`)"),
    ("xmp", "write `pre` and `code`"),
];

/// Obsolete void elements (13.3).
pub(crate) const VOID: &[&str] = &["basefont", "bgsound", "frame", "keygen", "param"];

/// Attributes: names, elements that had them (none means all), replacement.
pub(crate) const ATTRIBUTES: &[(&str, &[&str], &str)] = &[
    ("abbr", &["td"], "begin the cell's text with a short form, or write `title`"),
    ("accept", &["form"], "write `accept` on the `input`"),
    ("align", &[], "write CSS (`text-align`, `float`, `vertical-align`)"),
    ("alink", &["body"], "write CSS (`:active`)"),
    ("allowusermedia", &["iframe"], "write `allow`"),
    ("archive classid code", &["object"], "write `data` and `type`"),
    ("axis", &["td", "th"], "write `scope` on the `th`"),
    ("background", &["body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"], "write CSS (`background-image`)"),
    ("bgcolor", &["body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"], "write CSS (`background-color`)"),
    ("border", &["img", "object", "table", "input"], "write CSS (`border`)"),
    ("bordercolor", &["table", "tr", "td", "th"], "write CSS (`border-color`)"),
    ("bottommargin", &["body"], "write CSS (`margin-bottom`)"),
    ("cellpadding", &["table"], "write CSS (`padding` of the cells)"),
    ("cellspacing", &["table"], "write CSS (`border-spacing`)"),
    ("char charoff", &["col", "colgroup", "tbody", "td", "tfoot", "th", "thead", "tr"], "write CSS (`text-align`)"),
    ("charset", &["a", "area", "link", "script"], "the server's `Content-Type` says it"),
    ("clear", &["br"], "write CSS (`clear`)"),
    ("codebase", &["object"], "write the whole URL in `data`"),
    ("codetype", &["object"], "write `type`"),
    ("color", &["hr"], "write CSS (`color`)"),
    ("compact", &["dl", "menu", "ol", "ul"], "write CSS"),
    ("contextmenu", &[], "write a script for the `contextmenu` event"),
    ("coords", &["a"], "write `area`"),
    ("datafld dataformatas datasrc", &[], "fetch the data with a script"),
    ("declare", &["object"], "repeat the whole `object` where it is used"),
    ("dropzone", &[], "write a script for the events `dragenter` and `dragover`"),
    ("event for", &["script"], "register the listener in the script"),
    ("frame", &["table"], "write CSS (`border`)"),
    ("frameborder framespacing", &["iframe"], "write CSS (`border`)"),
    ("height", &["table", "thead", "tbody", "tfoot", "tr", "td", "th"], "write CSS (`height`)"),
    ("hspace vspace", &["embed", "iframe", "img", "input", "object"], "write CSS (`margin`)"),
    ("incremental", &["input"], "write a script for the event `input`"),
    ("ismap", &["input"], "leave it out: an image button always sends where it was clicked"),
    ("language", &["script"], "leave it out for JavaScript, write `type` for data"),
    ("leftmargin", &["body"], "write CSS (`margin-left`)"),
    ("link", &["body"], "write CSS (`:link`)"),
    ("longdesc", &["iframe", "img"], "write an `a` that links to the description"),
    ("lowsrc", &["img"], "write a progressive image in `src`"),
    ("manifest", &["html"], "write a service worker"),
    ("marginheight marginwidth", &["body", "iframe"], "write CSS (`margin`)"),
    ("methods", &["a", "link"], "leave it out"),
    ("name", &["a", "embed", "img", "option"], "write `id`"),
    ("nohref", &["area"], "leave out `href`"),
    ("noshade", &["hr"], "write CSS (`border-style`)"),
    ("nowrap", &["td", "th"], "write CSS (`white-space: nowrap`)"),
    ("profile", &["head"], "leave it out"),
    ("rev", &["a", "link"], "write `rel` with the opposite word"),
    ("rightmargin", &["body"], "write CSS (`margin-right`)"),
    ("rules", &["table"], "write CSS (`border`)"),
    ("scheme", &["meta"], "put it into the value, or write one scheme only"),
    ("scope", &["td"], "write `th`"),
    ("scrolling", &["iframe"], "write CSS (`overflow`)"),
    ("shape", &["a"], "write `area`"),
    ("size", &["hr"], "write CSS (`height`)"),
    ("span", &["td", "th"], "write `colspan`"),
    ("standby", &["object"], "make it load quickly, or in steps"),
    ("summary", &["table"], "write a `caption`, or describe it in the text"),
    ("target", &["link"], "leave it out"),
    ("text", &["body"], "write CSS (`color`)"),
    ("topmargin", &["body"], "write CSS (`margin-top`)"),
    ("type", &["li", "ul", "menu"], "write CSS (`list-style-type`)"),
    ("type", &["style"], "leave it out: it is CSS"),
    ("typemustmatch", &["object"], "leave it out"),
    ("urn", &["a", "link"], "write `href`"),
    ("usemap", &["input", "object"], "write `img`"),
    ("valign", &[], "write CSS (`vertical-align`)"),
    ("version", &["html"], "leave it out"),
    ("vlink", &["body"], "write CSS (`:visited`)"),
    ("width", &["col", "colgroup", "hr", "pre", "table", "td", "th"], "write CSS (`width`)"),
];

/// The replacement of an element.
pub(crate) fn element(name: &str) -> Option<&'static str> {
    ELEMENTS.iter().find(|(old, _)| *old == name).map(|(_, instead)| *instead)
}

/// The replacement of an attribute.
pub(crate) fn attribute(element: &str, name: &str) -> Option<&'static str> {
    let had = |elements: &[&str]| elements.is_empty() || elements.contains(&element);
    let is_it = |names: &str, elements: &[&str]| names.split(' ').any(|old| old == name) && had(elements);
    ATTRIBUTES.iter().find(|(names, elements, _)| is_it(names, elements)).map(|(_, _, instead)| *instead)
}
