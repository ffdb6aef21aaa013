//! Attributes of all elements.

use super::Type::{
    self, Between, Boolean, Custom, Id, IdRefs, Integer, ItemTypes, Keys, LanguageOrNone, ListOf, OneOf, Text, Url,
    Words,
};
use super::aria;

/// Global attributes (3.2.6, 6, 5.2 for microdata, 4.13.3 for `is`, CSS for `part` and `exportparts`).
/// `role` and `aria-*` are in [`aria`](super::aria).
pub(crate) const GLOBAL: &[(&str, Type)] = &[
    ("accesskey", Keys),
    ("autocapitalize", OneOf(&["on", "off", "none", "sentences", "words", "characters"])),
    ("autocorrect", OneOf(&["on", "off", ""])),
    ("autofocus", Boolean),
    ("class", Text),
    ("contenteditable", OneOf(&["true", "false", "plaintext-only", ""])),
    ("dir", OneOf(&["ltr", "rtl", "auto"])),
    ("draggable", OneOf(&["true", "false"])),
    ("enterkeyhint", OneOf(&["enter", "done", "go", "next", "previous", "search", "send"])),
    ("exportparts", Text),
    ("headingoffset", Between(0, 8)),
    ("headingreset", Boolean),
    ("hidden", OneOf(&["until-found", "hidden", ""])),
    ("id", Id),
    ("inert", Boolean),
    ("inputmode", OneOf(&["none", "text", "tel", "email", "url", "numeric", "decimal", "search"])),
    ("is", Custom),
    ("itemid", Url),
    ("itemprop", Words),
    ("itemref", IdRefs),
    ("itemscope", Boolean),
    ("itemtype", ItemTypes),
    ("lang", LanguageOrNone),
    ("nonce", Text),
    ("part", Text),
    ("popover", OneOf(&["auto", "manual", "hint", ""])),
    ("role", ListOf(aria::ROLES)),
    ("slot", Text),
    ("spellcheck", OneOf(&["true", "false", ""])),
    ("style", Text),
    ("tabindex", Integer),
    ("title", Text),
    ("translate", OneOf(&["yes", "no", ""])),
    ("writingsuggestions", OneOf(&["true", "false", ""])),
];

/// Event handlers of all elements (8.1.8.2) and of `body`, including those that other specifications define and
/// browsers support (Pointer Events, UI Events, CSS Transitions and Animations, Fullscreen, Touch Events).
pub(crate) const HANDLERS: &[&str] = words!(
    "onafterprint onanimationcancel onanimationend onanimationiteration onanimationstart onauxclick onbeforecopy
     onbeforecut onbeforeinput onbeforematch onbeforepaste onbeforeprint onbeforetoggle onbeforeunload
     onbeforexrselect onblur oncancel oncanplay oncanplaythrough onchange onclick onclose oncommand oncontextlost
     oncontextmenu oncontextrestored oncopy oncuechange oncut ondblclick ondrag ondragend ondragenter ondragleave
     ondragover ondragstart ondrop ondurationchange onemptied onended onerror onfocus onfocusin onfocusout onformdata
     onfullscreenchange onfullscreenerror ongotpointercapture onhashchange oninput oninvalid onkeydown onkeypress
     onkeyup onlanguagechange onload onloadeddata onloadedmetadata onloadstart onlostpointercapture onmessage
     onmessageerror onmousedown onmouseenter onmouseleave onmousemove onmouseout onmouseover onmouseup onmousewheel
     onoffline ononline onpagehide onpagereveal onpageshow onpageswap onpaste onpause onplay onplaying
     onpointercancel onpointerdown onpointerenter onpointerleave onpointermove onpointerout onpointerover
     onpointerrawupdate onpointerup onpopstate onprogress onratechange onrejectionhandled onreset onresize onscroll
     onscrollend onscrollsnapchange onscrollsnapchanging onsecuritypolicyviolation onseeked onseeking onselect
     onselectionchange onselectstart onslotchange onstalled onstorage onsubmit onsuspend ontimeupdate ontoggle
     ontouchcancel ontouchend ontouchmove ontouchstart ontransitioncancel ontransitionend ontransitionrun
     ontransitionstart onunhandledrejection onunload onvolumechange onwaiting onwheel"
);

/// Event handlers of `body` only, because the window fires them (8.1.8.2.1).
pub(crate) const WINDOW_HANDLERS: &[&str] = words!(
    "onafterprint onbeforeprint onbeforeunload onhashchange onlanguagechange onmessage onmessageerror onoffline
     ononline onpageswap onpagehide onpagereveal onpageshow onpopstate onrejectionhandled onstorage
     onunhandledrejection onunload"
);

/// The type of a global attribute.
pub(crate) fn global(name: &str) -> Option<Type> {
    let find = |table: &[(&str, Type)]| Some(table[table.binary_search_by(|(known, _)| (*known).cmp(name)).ok()?].1);
    let handler = || HANDLERS.binary_search(&name).ok().map(|_| Type::Handler);
    find(GLOBAL).or_else(|| find(aria::ATTRIBUTES)).or_else(handler)
}
