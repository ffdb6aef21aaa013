//! Type checks of splices, and the type of the template.
//!
//! Turns the requirements that the checker found into calls of functions of `skep_html::place`, whose bounds check the
//! value. All tokens have the span of what they are about.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

use super::super::ast::{Name, Node};
use super::super::check::{Checked, Piece, SpliceContext, visit};
use super::super::home::Home;
use super::super::standard::Model::{
    Cells, Columns, Document, Flow, Foreign, Items, Metadata, Options, PageParts, Phrasing, Picture, Rows, Ruby,
    Sources, TableParts, Terms,
};
use super::super::standard::{self, Exclusions, Model};
use super::controls::Proof;

/// The types in one template.
pub(super) struct Types<'t> {
    pub(super) checked: &'t Checked<'t>,
    pub(super) piece: Piece,
    pub(super) home: Home,
    /// What a `piece!` has written of a form.
    pub(super) proof: Option<Proof>,
}

/// The exclusions that types can promise. Each is a promise of `skep_html`.
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

/// Categories of root elements, by the kinds that allow them: the same list as in `skep_html::piece::category`.
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
        let (piece, home, html) = (Self::variable(), self.home, self.home.path(Span::mixed_site()));
        let mut code = quote_spanned!(Span::mixed_site()=> let #piece = #html::piece::Piece::new(););
        if let Some(Proof::Field(name)) = &self.proof {
            let site = Span::mixed_site();
            code.extend(quote_spanned!(site=> let proof = #html::piece::proof(|| #html::piece::type_of(&(#name)));));
        }
        for root in &self.checked.roots {
            let Some(category) = category(&root.fits) else { continue };
            let site = Span::mixed_site().located_at(root.name.start);
            let (element, category) = (element(&root.name.text, home, site), Ident::new(category, site));
            let html = home.path(site);
            code.extend(quote_spanned!(site=> #piece.root::<#element, #html::piece::category::#category>();));
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
            let (element, group) = (element(&name.text, home, site), group.ident(site));
            let html = home.path(site);
            code.extend(quote_spanned!(site=> #piece.contains::<#element, #html::thing::#group>();));
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
            return match &self.proof {
                None => quote_spanned!(site=> #piece.finish::<()>(#out)),
                Some(Proof::Group(group)) => {
                    quote_spanned!(site=> #piece.finish::<::skep::html::Controls<#group>>(#out))
                }
                Some(Proof::Field(_)) => quote_spanned!(site=> #piece.finish_of(#out, proof)),
            };
        }
        let (kind, html) = (kind(self.checked.kind, self.home, site), self.home.path(site));
        quote_spanned!(site=> #html::Html::<#kind, #html::Anything>::of(#out))
    }

    /// The call that writes `value`, a reference, as content.
    pub(super) fn write(
        &self,
        context: Option<&SpliceContext<'_>>,
        value: &TokenStream,
        out: &Ident,
        span: Span,
    ) -> TokenStream {
        let (site, piece, home) = (Span::mixed_site().located_at(span), Self::variable(), self.home);
        let html = home.path(site);
        let Some(context) = context else {
            return quote_spanned!(site=> #html::Render::render(#value, &mut #out););
        };
        let inferred = self.piece == Piece::Inferred;
        let (function, subject, groups) = placement(context, home, site);
        let mut value = require_absence(&groups, value, home, site);
        if inferred && context.model == Model::Root {
            return quote_spanned!(site=> #piece.top(#value, &mut #out););
        }
        // The content of a `template` is not part of the page yet.
        if inferred && context.parent != Some("template") {
            value = quote_spanned!(site=> #piece.within(#value));
        }
        quote_spanned!(site=> #html::place::#function::<#subject, _>(#value, &mut #out);)
    }
}

/// The function, its first type parameter (the element, or the kind at the top), and what remains to be checked.
fn placement<'t>(context: &SpliceContext<'t>, home: Home, site: Span) -> (Ident, TokenStream, Vec<(Group, &'t str)>) {
    let groups = groups(context);
    let function = |name: &str| Ident::new(name, site);
    if let Some(&[(_, ancestor)]) = is_line(context.model).then_some(groups.as_slice()) {
        return (function("inert_phrasing"), element(ancestor, home, site), Vec::new());
    }
    match context.parent {
        Some(parent) => (function(&place(context)), element(parent, home, site), groups),
        None if matches!(context.model, Model::Root | Model::Anything) => {
            let html = home.path(site);
            (function("free"), quote_spanned!(site=> #html::element::top), groups)
        }
        None => (function("top"), kind(context.model, home, site), groups),
    }
}

/// Is only phrasing content allowed?
fn is_line(model: Model) -> bool {
    matches!(model, Model::Phrasing | Model::PhrasingAndHeadings | Model::OptionContent | Model::Suggestions)
}

/// The function of `skep_html::place` for this content: several models share one, the others have their own.
fn place(context: &SpliceContext<'_>) -> String {
    let is_media = context.also.contains(&"source");
    match context.model {
        Model::Root | Model::Anything | Foreign | Sources => "free".to_owned(),
        Model::Nothing | Model::HeadNoscript | Model::TermGroup | Model::HeadingGroup => "nothing".to_owned(),
        Model::Text | Model::Code => "text".to_owned(),
        Flow if is_media => "media_flow".to_owned(),
        Phrasing if is_media => "media_phrasing".to_owned(),
        model => snake_case(&format!("{model:?}")),
    }
}

/// `phrasing_and_headings` for `PhrasingAndHeadings`.
fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for letter in name.chars() {
        if letter.is_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.extend(letter.to_lowercase());
    }
    snake
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
fn require_absence(groups: &[(Group, &str)], value: &TokenStream, home: Home, site: Span) -> TokenStream {
    let html = home.path(site);
    match groups {
        [] => value.clone(),
        [(group, ancestor)] => {
            let function = Ident::new(&format!("no_{group:?}").to_lowercase(), site);
            let ancestor = element(ancestor, home, site);
            quote_spanned!(site=> #html::place::#function::<#ancestor, _>(#value))
        }
        several => {
            let mut names: Vec<&str> = several.iter().map(|(_, ancestor)| *ancestor).collect();
            names.dedup();
            let elements = names.iter().map(|name| element(name, home, site));
            let exclusions = several.iter().rfold(quote_spanned!(site=> ()), |rest, (group, _)| {
                let group = group.ident(site);
                quote_spanned!(site=> (#html::thing::#group, #rest))
            });
            quote_spanned!(site=> #html::place::none_of::<(#(#elements,)*), #exclusions, _>(#value))
        }
    }
}

/// Elements named like a module or crate: messages of rustc would show the whole path of such a type.
const SHARED_NAMES: [&str; 7] = ["body", "form", "header", "html", "link", "option", "time"];

/// The type of an element.
fn element(name: &str, home: Home, site: Span) -> TokenStream {
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
    let (name, html) = (Ident::new(name, site), home.path(site));
    quote_spanned!(site=> #html::element::#name)
}

/// The type of a kind of piece. A model without one has been reported, and becomes `Flow` to cause no further errors.
fn kind(model: Model, home: Home, site: Span) -> TokenStream {
    let is_kind = Model::KINDS.contains(&model);
    let name = Ident::new(&if is_kind { format!("{model:?}") } else { "Flow".to_owned() }, site);
    let html = home.path(site);
    quote_spanned!(site=> #html::#name)
}

#[cfg(test)]
#[path = "../../tests/unit/generate/types.rs"]
mod tests;
