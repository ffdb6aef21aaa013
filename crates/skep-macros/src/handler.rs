//! `#[handler(...)]`: a service as a function, whose parameters are the fields of its struct.

use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::{Attribute, FnArg, Ident, ItemFn, Pat, PatIdent, Result, ReturnType, Safety, Type, Visibility};

use crate::field::{argument_of, last_name, wrong};

/// A parameter that the request brings.
struct Parameter<'f> {
    attributes: &'f [Attribute],
    pattern: &'f PatIdent,
    kind: &'f Type,
}

/// A wrong function is a service, too, so that it causes no further errors where it is mounted or linked.
pub(crate) fn expand(arguments: TokenStream, function: &ItemFn) -> TokenStream {
    let parameters: Vec<_> = function.sig.inputs.iter().filter(|one| !is_cx(one)).filter_map(parameter).collect();
    let (arguments, is_json) = with_answers(arguments, &function.sig.output);
    let service = service(function, &parameters, &arguments);
    let (error, cx, body) = match check(function) {
        Ok(cx) => {
            let (patterns, body) = (parameters.iter().map(|one| one.pattern), &function.block.stmts);
            (None, quote!(#cx), quote!(let Self { #(#patterns),* } = self; #(#body)*))
        }
        Err(error) => {
            (Some(error.into_compile_error()), quote!(_: &mut ::skep::Cx<'_>), quote!(::core::unreachable!()))
        }
    };
    let (name, output) = (&function.sig.ident, &function.sig.output);
    let (handle, method) = if is_json { ("Answer", "answer") } else { ("Handle", "handle") };
    let (handle, method) = (Ident::new(handle, name.span()), Ident::new(method, name.span()));
    let others = function.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    quote! {
        #error
        #service
        impl ::skep::#handle for #name {
            #(#others)*
            async fn #method(self, #cx) #output {
                #body
            }
        }
    }
}

fn condition(all: &[Attribute]) -> Option<&Attribute> {
    all.iter().find(|one| one.path().is_ident("cfg") || one.path().is_ident("cfg_attr"))
}

/// The parameter that is the request.
fn check(function: &ItemFn) -> Result<&FnArg> {
    let signature = &function.sig;
    if let Some(condition) = condition(&function.attrs) {
        return wrong(condition, "it would not hold for the struct: put it above `#[handler]`");
    }
    if signature.asyncness.is_none() {
        return wrong(&signature.fn_token, "a handler is an `async fn`");
    }
    if signature.constness.is_some() || signature.abi.is_some() || !matches!(signature.safety, Safety::Default) {
        return wrong(signature, "a handler is a plain `async fn`: remove `const`, `unsafe` and `extern`");
    }
    if !signature.generics.params.is_empty() {
        return wrong(&signature.generics, "a service cannot have generic parameters");
    }
    if let Some(clause) = &signature.generics.where_clause {
        return wrong(clause, "a service cannot have a `where` clause");
    }
    let Some(cx) = signature.inputs.first().filter(|first| is_cx(first)) else {
        return wrong(&signature.ident, "the first parameter of a handler is the request: `cx: &mut Cx<'_>`");
    };
    signature.inputs.iter().skip(1).try_for_each(check_parameter)?;
    Ok(cx)
}

/// `&mut Cx<'_>`.
fn is_cx(argument: &FnArg) -> bool {
    let FnArg::Typed(typed) = argument else { return false };
    matches!(&*typed.ty, Type::Reference(to) if last_name(&to.elem).is_some_and(|name| name == "Cx"))
}

fn check_parameter(argument: &FnArg) -> Result<()> {
    let FnArg::Typed(typed) = argument else {
        return wrong(argument, "a handler is a function of its own: leave out `self`");
    };
    let Pat::Ident(PatIdent { subpat: None, .. }) = &*typed.pat else {
        let help =
            "a parameter of a handler is a name alone: the path, the query or a form has a parameter of this name";
        return wrong(&typed.pat, help);
    };
    match condition(&typed.attrs) {
        Some(attribute) => wrong(attribute, "a parameter is there in each build: put this above `#[handler]`"),
        None => Ok(()),
    }
}

fn parameter(argument: &FnArg) -> Option<Parameter<'_>> {
    let FnArg::Typed(typed) = argument else { return None };
    let Pat::Ident(pattern) = &*typed.pat else { return None };
    Some(Parameter { attributes: &typed.attrs, pattern, kind: &typed.ty })
}

/// The struct, whose value is the link.
fn service(function: &ItemFn, parameters: &[Parameter<'_>], arguments: &TokenStream) -> TokenStream {
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let documentation = function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let fields = parameters.iter().map(|parameter| {
        let (Parameter { attributes, pattern, kind }, visibility) = (parameter, parameter.visibility(visibility));
        let name = &pattern.ident;
        quote! {
            #[allow(missing_docs, reason = "parameters of a function have no documentation")]
            #(#attributes)*
            #visibility #name: #kind
        }
    });
    let fields = if parameters.is_empty() { quote!(;) } else { quote!({ #(#fields),* }) };
    quote! {
        #(#documentation)*
        #[derive(::skep::Service)]
        #[service(#arguments)]
        #visibility struct #name #fields
    }
}

impl Parameter<'_> {
    /// What is in no link is private, as its type may be.
    fn visibility<'v>(&self, service: &'v Visibility) -> &'v Visibility {
        let is_in_no_link = |one: &Attribute| ["guard", "state", "header"].iter().any(|name| one.path().is_ident(name));
        if self.attributes.iter().any(is_in_no_link) { &Visibility::Inherited } else { service }
    }
}

/// Adds `answers = T` for `-> Result<T>`; true if the service sends JSON.
fn with_answers(arguments: TokenStream, output: &ReturnType) -> (TokenStream, bool) {
    let mut arguments: Vec<TokenTree> = arguments.into_iter().collect();
    arguments.pop_if(|last| is_punct(last, ','));
    let is_answers = |pair: &[TokenTree]| matches!(pair, [TokenTree::Ident(name), equals] if name == "answers" && is_punct(equals, '='));
    if arguments.windows(2).any(is_answers) {
        return (arguments.into_iter().collect(), true);
    }
    let json = json(output);
    let answers = json.map(|kind| quote!(, answers = #kind));
    (quote!(#(#arguments)* #answers), json.is_some())
}

fn is_punct(token: &TokenTree, letter: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == letter)
}

/// `T` of `-> Result<T>`, which is sent as JSON unless it is a `Response`.
fn json(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, kind) = output else { return None };
    argument_of(kind, "Result").filter(|kind| last_name(kind).is_none_or(|name| name != "Response"))
}

#[cfg(test)]
#[path = "../tests/unit/handler.rs"]
mod tests;
