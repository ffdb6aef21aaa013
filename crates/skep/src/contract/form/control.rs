//! Writes controls: their attributes, what they hold, and the message behind them.

use std::borrow::Cow;

use super::Core;
use super::field::Shape;
use super::name::Which;
use super::offered::{Entry, ListedOption};
use crate::html::{Attributes, Buffer, Html, Phrasing, Plain, Render};

/// The control of a field: attributes, content and message. [`Form`](super::Form)'s methods make it, and it stands
/// between the name and the content of an element: `input (form.input(Comment::author));`.
#[derive(Debug)]
#[must_use = "a control stands in `html!`"]
pub struct Controlled<'f> {
    core: &'f Core,
    name: Cow<'static, str>,
    which: Which,
    shape: Shape,
    element: Element,
    /// The options of a field whose type does not know them.
    offered: &'f [Entry],
    /// Attributes that the author writes, which win.
    beside: &'static [(&'static str, &'static str)],
}

/// The element that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Input,
    /// An `input` with a list of proposals.
    Datalist,
    Textarea,
    Select,
    Fieldset,
    Label,
    /// One that sends the form, and says by its value which it was.
    Button,
}

/// What `html!` says instead of an attribute's name if the element has content of the author's.
const CONTENT: &str = "{}";

impl<'f> Controlled<'f> {
    pub(super) fn new(core: &'f Core, name: Cow<'static, str>, which: &Which, shape: Shape, element: Element) -> Self {
        Self { core, name, which: which.clone(), shape, element, offered: &[], beside: &[] }
    }

    /// Its options are these.
    pub(super) fn among(mut self, offered: &'f [Entry]) -> Self {
        self.offered = offered;
        self
    }

    /// What there is to choose from: what the type knows, or what is offered.
    fn options(&self) -> impl Iterator<Item = ListedOption<'_>> {
        let known = self.shape.options.iter();
        let known = known.map(|option| ListedOption {
            group: None,
            value: option.value,
            label: option.label_in(self.core.language),
        });
        known.chain(self.offered.iter().map(Entry::listed))
    }

    /// What the author writes on the element wins. Only the code that `html!` makes calls it.
    #[doc(hidden)]
    pub fn beside(mut self, attributes: &'static [(&'static str, &'static str)]) -> Self {
        self.beside = attributes;
        self
    }

    /// The text that the author gave this attribute.
    fn given(&self, name: &str) -> Option<&'static str> {
        self.beside.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    fn push(&self, out: &mut Buffer, name: &'static str, value: &str) {
        if self.given(name).is_none() {
            out.push_attribute(name, value);
        }
    }

    fn push_some(&self, out: &mut Buffer, name: &'static str, value: Option<&str>) {
        if let Some(value) = value {
            self.push(out, name, value);
        }
    }

    /// An attribute that means yes by being there.
    fn flag(&self, out: &mut Buffer, name: &'static str, set: bool) {
        if set && self.given(name).is_none() {
            out.push_trusted(" ");
            out.push_trusted(name);
        }
    }

    fn id(&self) -> String {
        let base = id(self.core, &self.name);
        match &self.which {
            Which::All => base,
            Which::Choice(choice) => format!("{base}-{choice}"),
            Which::Item(position) => format!("{base}-{position}"),
        }
    }

    fn write_input(&self, out: &mut Buffer) {
        let Shape { kind, multiple, .. } = self.shape;
        let texts = self.core.texts(&self.name);
        match &self.which {
            Which::Choice(choice) => {
                out.push_attribute("type", if multiple { "checkbox" } else { "radio" });
                out.push_attribute("value", choice);
                self.flag(out, "checked", texts.iter().any(|text| text == choice));
                self.flag(out, "required", self.shape.required);
            }
            Which::All if kind == "checkbox" => {
                self.push(out, "type", kind);
                self.flag(out, "checked", texts.iter().any(|text| !matches!(*text, "" | "false" | "off" | "0")));
            }
            Which::All if self.element == Element::Datalist => {
                self.push_some(out, "list", Some(&list_id(&self.id())));
                self.flag(out, "required", self.shape.required);
                self.push_some(out, "value", texts.first().copied());
            }
            Which::All if kind == "file" => {
                self.push(out, "type", kind);
                self.flag(out, "required", self.shape.required);
                self.flag(out, "multiple", multiple);
                self.push_some(out, "accept", self.shape.accept);
            }
            which => {
                self.push(out, "type", kind);
                self.write_limits(out);
                let position = if let Which::Item(position) = which { *position } else { 0 };
                let value = texts.get(position).filter(|text| !self.shape.secret && !text.is_empty());
                self.push_some(out, "value", value.copied());
            }
        }
    }

    fn write_limits(&self, out: &mut Buffer) {
        let shape = &self.shape;
        self.flag(out, "required", shape.required);
        let number = |length: Option<usize>| length.map(|length| length.to_string());
        self.push_some(out, "minlength", number(shape.min_length).as_deref());
        self.push_some(out, "maxlength", number(shape.max_length).as_deref());
        if self.element == Element::Input {
            self.push_some(out, "pattern", shape.pattern);
            self.push_some(out, "min", shape.min.as_deref());
            self.push_some(out, "max", shape.max.as_deref());
            self.push_some(out, "step", shape.step.as_deref());
        }
    }

    /// What ties a wrong field to its message, and brings the user there. To a hidden field nobody comes, and it takes
    /// no `aria-*` (ARIA in HTML, 4).
    fn write_problem(&self, out: &mut Buffer) {
        if self.shape.kind == "hidden" {
            return;
        }
        let own = self.given("aria-describedby");
        let problem = self.core.complaint(&self.name).map(|_| problem_id(self.core, &self.name));
        let described: Vec<&str> = problem.as_deref().into_iter().chain(own).filter(|id| !id.is_empty()).collect();
        if !described.is_empty() {
            out.push_attribute("aria-describedby", &described.join(" "));
        }
        // A group has no value of its own that could be invalid (WAI-ARIA 1.2, aria-invalid).
        if problem.is_some() && self.element != Element::Fieldset {
            self.push(out, "aria-invalid", "true");
            self.flag(out, "autofocus", !self.core.focused.replace(true));
        }
    }

    fn write_options(&self, out: &mut Buffer) {
        let texts = self.core.texts(&self.name);
        if !self.shape.multiple && self.given(CONTENT).is_none() {
            // A `select` that must be filled begins with an empty option (HTML, 4.10.7).
            out.push_trusted("<option value=\"\">–</option>");
        }
        let mut group = None;
        for option in self.options() {
            if option.group != group {
                out.push_trusted(if group.is_some() { "</optgroup>" } else { "" });
                group = option.group;
                if let Some(label) = group {
                    out.push_trusted("<optgroup");
                    out.push_attribute("label", label);
                    out.push_trusted(">");
                }
            }
            out.push_trusted("<option");
            out.push_attribute("value", option.value);
            if texts.contains(&option.value) {
                out.push_trusted(" selected");
            }
            out.push_trusted(">");
            out.push_text(option.label);
            out.push_trusted("</option>");
        }
        out.push_trusted(if group.is_some() { "</optgroup>" } else { "" });
    }

    /// The radio buttons or checkboxes of a group, each in its label.
    fn write_group(&self, out: &mut Buffer) {
        let mut group = None;
        for (position, option) in self.options().enumerate() {
            if option.group != group {
                out.push_trusted(if group.is_some() { "</fieldset>" } else { "" });
                group = option.group;
                if let Some(label) = group {
                    out.push_trusted("<fieldset><legend>");
                    out.push_text(label);
                    out.push_trusted("</legend>");
                }
            }
            // Of a group of checkboxes none must be ticked.
            let shape = Shape { required: self.shape.required && !self.shape.multiple, ..self.shape.clone() };
            let part =
                Self::new(self.core, self.name.clone(), &Which::Choice(option.value.to_owned()), shape, Element::Input);
            out.push_trusted("<label><input");
            out.push_attribute("name", &*self.name);
            out.push_attribute("id", &part.id());
            part.write_input(out);
            let is_wrong = position == 0 && self.core.complaint(&self.name).is_some();
            part.flag(out, "autofocus", is_wrong && !self.core.focused.replace(true));
            out.push_trusted("> ");
            out.push_text(option.label);
            out.push_trusted("</label>");
        }
        out.push_trusted(if group.is_some() { "</fieldset>" } else { "" });
    }

    /// The proposals of an `input`.
    fn write_proposals(&self, out: &mut Buffer) {
        out.push_trusted("<datalist");
        out.push_attribute("id", &list_id(&self.id()));
        out.push_trusted(">");
        for option in self.options() {
            out.push_trusted("<option");
            out.push_attribute("value", option.value);
            if option.label != option.value {
                out.push_attribute("label", option.label);
            }
            out.push_trusted("></option>");
        }
        out.push_trusted("</datalist>");
    }

    fn write_message(&self, out: &mut Buffer) {
        if !self.core.apart {
            MessageOf::new(self.core, self.name.clone()).render(out);
        }
    }
}

impl Attributes for Controlled<'_> {
    fn write_attributes(&self, out: &mut Buffer) {
        match self.element {
            Element::Label => return out.push_attribute("for", &self.id()),
            Element::Button => return out.push_attribute("name", &*self.name),
            Element::Fieldset => out.push_attribute("id", &self.id()),
            _ => {
                out.push_attribute("name", &*self.name);
                out.push_attribute("id", &self.id());
            }
        }
        match self.element {
            Element::Input | Element::Datalist => self.write_input(out),
            Element::Textarea => self.write_limits(out),
            Element::Select => {
                self.flag(out, "required", self.shape.required);
                self.flag(out, "multiple", self.shape.multiple);
            }
            Element::Fieldset | Element::Label | Element::Button => {}
        }
        self.write_problem(out);
    }

    fn write_content(&self, out: &mut Buffer) {
        if let (Element::Textarea, Some(text)) = (self.element, self.core.texts(&self.name).first()) {
            // A browser drops a line feed right behind the tag.
            if text.starts_with(['\n', '\r']) {
                out.push_trusted("\n");
            }
            // The end of a line is one character, as the server reads it: another "\r" would be shown as one.
            out.push_plain(&text.replace("\r\n", "\n"));
        }
    }

    fn write_end(&self, out: &mut Buffer) {
        match self.element {
            Element::Select => self.write_options(out),
            Element::Fieldset => {
                self.write_group(out);
                self.write_message(out);
            }
            Element::Input | Element::Datalist | Element::Textarea | Element::Label | Element::Button => {}
        }
    }

    fn write_behind(&self, out: &mut Buffer) {
        if self.element == Element::Datalist {
            self.write_proposals(out);
        }
        if !matches!(self.element, Element::Fieldset | Element::Label | Element::Button) {
            self.write_message(out);
        }
    }
}

/// What is wrong with a field, as a piece of HTML: [`Form::message`](super::Form::message).
#[derive(Debug)]
pub struct MessageOf<'f> {
    core: &'f Core,
    name: Cow<'static, str>,
}

impl<'f> MessageOf<'f> {
    pub(super) fn new(core: &'f Core, name: Cow<'static, str>) -> Self {
        Self { core, name }
    }
}

impl Render for MessageOf<'_> {
    type Content = Html<Phrasing, Plain>;

    fn render(&self, out: &mut Buffer) {
        let Some(text) = self.core.complaint(&self.name).filter(|_| self.core.shows(&self.name)) else { return };
        // A control may stand in a `p` or a `label`, where a `p` may not.
        out.push_trusted("<span class=\"problem\"");
        out.push_attribute("id", &problem_id(self.core, &self.name));
        out.push_trusted(">");
        out.push_text(text);
        out.push_trusted("</span>");
    }
}

/// A message that belongs to no control.
pub(super) fn write_alert(text: &str, out: &mut Buffer) {
    out.push_trusted("<p class=\"problem\" role=\"alert\">");
    out.push_text(text);
    out.push_trusted("</p>");
}

pub(super) fn id(core: &Core, name: &str) -> String {
    format!("{}-{}", core.prefix, name.replace(['_', '.'], "-"))
}

fn list_id(id: &str) -> String {
    format!("{id}-list")
}

fn problem_id(core: &Core, name: &str) -> String {
    id(core, name) + "-problem"
}

skep_units::opaque_debug!(Core, action: action);
