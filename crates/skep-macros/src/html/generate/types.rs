//! Type checks of splices, and the type of the template.
//!
//! Turns the requirements that the checker found into calls of functions of `skep::html::place`, whose bounds check the
//! value. All tokens have the span of what they are about.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::super::ast::{Name, Node};
use super::super::check::{Checked, Piece, SpliceContext, visit};
use super::super::standard::Model::{
    Cells, Columns, Document, Flow, Foreign, Items, Metadata, Options, PageParts, Phrasing, Picture, Rows, Ruby,
    Sources, TableParts, Terms,
};
use super::super::standard::{self, Exclusions, Model};
use crate::field;

/// The types in one template.
pub(super) struct Types<'t> {
    pub(super) checked: &'t Checked<'t>,
    pub(super) piece: Piece,
}

/// The exclusions that types can promise. Each is a promise of `skep::html`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Group {
    Form,
    Header,
    Heading,
    Interactive,
}

impl Group {
    fn of(exclusion: Exclusions) -> Option<Self> {
        match exclusion {
            Exclusions::FORM => Some(Self::Form),
            Exclusions::HEADER => Some(Self::Header),
            Exclusions::HEADING | Exclusions::SECTIONING | Exclusions::ADDRESS => Some(Self::Heading),
            Exclusions::INTERACTIVE | Exclusions::ANCHOR | Exclusions::TABINDEX | Exclusions::NOT_IN_CANVAS => {
                Some(Self::Interactive)
            }
            _ => None,
        }
    }

    fn ident(self, span: Span) -> Ident {
        Ident::new(&format!("{self:?}"), span)
    }
}

/// Categories of root elements, by the kinds that allow them: the same list as in `skep::html::piece::category`.
const CATEGORIES: &[(&str, &[Model])] = &[
    ("Block", &[Flow]),
    ("Line", &[Flow, Phrasing, Ruby]),
    ("Embedded", &[Flow, Phrasing, Ruby, Foreign]),
    ("Division", &[Flow, Terms, Options]),
    ("Separator", &[Flow, Options]),
    ("Image", &[Flow, Phrasing, Picture, Ruby]),
    ("Script", &[Flow, Phrasing, Metadata, Items, Terms, Rows, Cells, TableParts, Options, Picture, Ruby, Foreign]),
    ("Template", &[Flow, Phrasing, Metadata, Items, Terms, Rows, Cells, TableParts, Columns, Options, Picture, Ruby]),
    ("Head", &[Metadata]),
    ("HeadOrDrawing", &[Metadata, Foreign]),
    ("HeadOrLine", &[Flow, Phrasing, Metadata, Ruby]),
    ("NoScript", &[Flow, Phrasing, Metadata, Options, Ruby]),
    ("Page", &[Document]),
    ("PagePart", &[PageParts]),
    ("Item", &[Items]),
    ("Term", &[Terms]),
    ("Row", &[Rows, TableParts]),
    ("Cell", &[Cells]),
    ("TablePart", &[TableParts]),
    ("Column", &[Columns]),
    ("Choice", &[Options]),
    ("Source", &[Sources, Picture]),
    ("Track", &[Sources]),
    ("Annotation", &[Ruby]),
    ("Drawing", &[Foreign]),
];

/// None if no piece can have such a root, which the checker reports.
fn category(fits: &[Model]) -> Option<&'static str> {
    let kinds = || Model::KINDS.iter().chain(&[Model::Phrasing]);
    let is_it = |models: &[Model]| kinds().all(|kind| fits.contains(kind) == models.contains(kind));
    CATEGORIES.iter().find(|(_, models)| is_it(models)).map(|(name, _)| *name)
}

impl Types<'_> {
    /// The variable for the type of a `piece!`.
    fn variable() -> Ident {
        Ident::new("piece", Span::mixed_site())
    }

    /// The first statements. For a `piece!` they check its roots.
    pub(super) fn start(&self, nodes: &[Node]) -> TokenStream {
        if self.piece == Piece::FromRoots {
            return TokenStream::new();
        }
        let piece = Self::variable();
        let mut code = quote_spanned!(Span::mixed_site()=> let #piece = ::skep::html::piece::Piece::new(););
        for root in &self.checked.roots {
            let Some(category) = category(&root.fits) else { continue };
            let site = Span::mixed_site().located_at(root.name.start);
            let (element, category) = (element(&root.name.text, site), Ident::new(category, site));
            code.extend(quote_spanned!(site=> #piece.root::<#element, ::skep::html::piece::category::#category>();));
        }
        visit(nodes, &mut |node| {
            if let Node::Text(text) = node
                && !text.value.trim_ascii().is_empty()
            {
                let site = Span::mixed_site().located_at(text.span);
                code.extend(quote_spanned!(site=> #piece.text();));
            }
        });
        for (group, name) in self.contained() {
            let site = Span::mixed_site().located_at(name.start);
            let (element, group) = (element(&name.text, site), group.ident(site));
            code.extend(quote_spanned!(site=> #piece.contains::<#element, ::skep::html::thing::#group>();));
        }
        code
    }

    /// The first element of each group in the template.
    fn contained(&self) -> Vec<(Group, &Name)> {
        first_of_each(&self.checked.contains)
    }

    /// The expression that is the value of the macro call.
    pub(super) fn finish(&self, out: &Ident) -> TokenStream {
        let (site, piece) = (Span::mixed_site(), Self::variable());
        if self.piece == Piece::Inferred {
            return quote_spanned!(site=> #piece.finish(#out));
        }
        let kind = kind(self.checked.kind, site);
        quote_spanned!(site=> ::skep::html::Html::<#kind, ::skep::html::Anything>::of(#out))
    }

    /// The call that writes `value`, a reference, as content.
    pub(super) fn write(
        &self,
        context: Option<&SpliceContext<'_>>,
        value: &TokenStream,
        out: &Ident,
        span: Span,
    ) -> TokenStream {
        let (site, piece) = (Span::mixed_site().located_at(span), Self::variable());
        let Some(context) = context else {
            return quote_spanned!(site=> ::skep::html::Render::render(#value, &mut #out););
        };
        let inferred = self.piece == Piece::Inferred;
        let (function, subject, groups) = placement(context, site);
        let mut value = require_absence(&groups, value, site);
        if inferred && context.model == Model::Root {
            return quote_spanned!(site=> #piece.top(#value, &mut #out););
        }
        // The content of a `template` is not part of the page yet.
        if inferred && context.parent != Some("template") {
            value = quote_spanned!(site=> #piece.within(#value));
        }
        quote_spanned!(site=> ::skep::html::place::#function::<#subject, _>(#value, &mut #out);)
    }
}

/// The function, its first type parameter (the element, or the kind at the top), and what remains to be checked.
fn placement<'t>(context: &SpliceContext<'t>, site: Span) -> (Ident, TokenStream, Vec<(Group, &'t str)>) {
    let groups = groups(context);
    let function = |name: &str| Ident::new(name, site);
    if let Some(&[(_, ancestor)]) = is_line(context.model).then_some(groups.as_slice()) {
        return (function("inert_phrasing"), element(ancestor, site), Vec::new());
    }
    match context.parent {
        Some(parent) => (function(&place(context)), element(parent, site), groups),
        None if matches!(context.model, Model::Root | Model::Anything) => {
            (function("free"), quote_spanned!(site=> ::skep::html::element::top), groups)
        }
        None => (function("top"), kind(context.model, site), groups),
    }
}

/// Is only phrasing content allowed?
fn is_line(model: Model) -> bool {
    matches!(model, Model::Phrasing | Model::PhrasingAndHeadings | Model::OptionContent | Model::Suggestions)
}

/// The function of `skep::html::place` for this content: several models share one, the others have their own.
fn place(context: &SpliceContext<'_>) -> String {
    let is_media = context.also.contains(&"source");
    match context.model {
        Model::Root | Model::Anything | Foreign | Sources => "free".to_owned(),
        Model::Nothing | Model::HeadNoscript | Model::TermGroup | Model::HeadingGroup => "nothing".to_owned(),
        Model::Text | Model::Code => "text".to_owned(),
        Flow if is_media => "media_flow".to_owned(),
        Phrasing if is_media => "media_phrasing".to_owned(),
        model => field::words(&format!("{model:?}")).join("_"),
    }
}

/// The first of what comes with the exclusions of each group.
fn first_of_each<T: Copy>(exclusions: &[(Exclusions, T)]) -> Vec<(Group, T)> {
    let mut found: Vec<(Group, T)> = Vec::new();
    for (exclusion, what) in exclusions {
        if let Some(group) = Group::of(*exclusion)
            && found.iter().all(|(known, _)| *known != group)
        {
            found.push((group, *what));
        }
    }
    found
}

/// The groups that ancestors forbid, each with the ancestor, without those that cannot occur in this model.
fn groups<'t>(context: &SpliceContext<'t>) -> Vec<(Group, &'t str)> {
    let mut groups = first_of_each(&context.forbidden);
    // The promise of no headings includes that of no headers.
    if groups.iter().any(|(group, _)| *group == Group::Heading) {
        groups.retain(|(group, _)| *group != Group::Header);
    }
    match context.model {
        model if is_line(model) || model == Model::Ruby => {
            groups.retain(|(group, _)| *group == Group::Interactive);
        }
        Model::Metadata | Model::Columns | Model::Options | Model::Picture | Model::Sources => groups.clear(),
        _ => {}
    }
    groups
}

/// The value, wrapped in a check that it has none of these groups.
fn require_absence(groups: &[(Group, &str)], value: &TokenStream, site: Span) -> TokenStream {
    match groups {
        [] => value.clone(),
        [(group, ancestor)] => {
            let function = Ident::new(&format!("no_{group:?}").to_lowercase(), site);
            let ancestor = element(ancestor, site);
            quote_spanned!(site=> ::skep::html::place::#function::<#ancestor, _>(#value))
        }
        several => {
            let mut names: Vec<&str> = several.iter().map(|(_, ancestor)| *ancestor).collect();
            names.dedup();
            let elements = names.iter().map(|name| element(name, site));
            let exclusions = several.iter().rfold(quote_spanned!(site=> ()), |rest, (group, _)| {
                let group = group.ident(site);
                quote_spanned!(site=> (::skep::html::thing::#group, #rest))
            });
            quote_spanned!(site=> ::skep::html::place::none_of::<(#(#elements,)*), #exclusions, _>(#value))
        }
    }
}

/// Elements named like a module or crate: messages of rustc would show the whole path of such a type.
const SHARED_NAMES: [&str; 7] = ["body", "form", "header", "html", "link", "option", "time"];

/// The type of an element.
fn element(name: &str, site: Span) -> TokenStream {
    let long = format!("{name}_element");
    let name = if SHARED_NAMES.contains(&name) {
        &long
    } else if standard::element(name).is_some() {
        name
    } else if standard::is_custom(name) {
        "custom_element"
    } else {
        "foreign_element"
    };
    let name = Ident::new(name, site);
    quote_spanned!(site=> ::skep::html::element::#name)
}

/// The type of a kind of piece. A model without one has been reported, and becomes `Flow` to cause no further errors.
fn kind(model: Model, site: Span) -> TokenStream {
    let is_kind = Model::KINDS.contains(&model);
    let name = Ident::new(&if is_kind { format!("{model:?}") } else { "Flow".to_owned() }, site);
    quote_spanned!(site=> ::skep::html::#name)
}

#[cfg(test)]
#[path = "../../../tests/unit/html/generate/types.rs"]
mod tests;
