//! `#[handler(...)]`: a service as a function, whose parameters are the fields of its struct.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{FnArg, GenericArgument, Ident, ItemFn, Pat, PatIdent, PathArguments, Result, ReturnType, Type};

use crate::field::wrong;

/// A parameter that the request brings.
struct Parameter<'f> {
    attributes: &'f [syn::Attribute],
    pattern: &'f PatIdent,
    kind: &'f Type,
}

pub(crate) fn expand(arguments: &TokenStream, function: &ItemFn) -> Result<TokenStream> {
    let signature = &function.sig;
    if signature.asyncness.is_none() {
        return wrong(&signature.fn_token, "a handler is an `async fn`");
    }
    if !signature.generics.params.is_empty() {
        return wrong(&signature.generics, "a service cannot have generic parameters");
    }
    let Some(cx @ FnArg::Typed(_)) = signature.inputs.first() else {
        return wrong(&signature.ident, "the first parameter of a handler is the request: `cx: &mut Cx<'_>`");
    };
    let parameters = signature.inputs.iter().skip(1).map(parameter).collect::<Result<Vec<_>>>()?;
    let json = json(&signature.output);
    let answers = json.map(|kind| quote!(, answers = #kind));
    let service = service(function, &parameters, &quote!(#arguments #answers));
    let (name, output, body) = (&signature.ident, &signature.output, &function.block.stmts);
    let (handle, method) = if json.is_some() { ("Answer", "answer") } else { ("Handle", "handle") };
    let (handle, method) = (Ident::new(handle, name.span()), Ident::new(method, name.span()));
    let patterns = parameters.iter().map(|parameter| parameter.pattern);
    let others = function.attrs.iter().filter(|attribute| !attribute.path().is_ident("doc"));
    Ok(quote! {
        #service
        impl ::skep::#handle for #name {
            #(#others)*
            async fn #method(self, #cx) #output {
                let Self { #(#patterns),* } = self;
                #(#body)*
            }
        }
    })
}

fn parameter(argument: &FnArg) -> Result<Parameter<'_>> {
    match argument {
        FnArg::Typed(typed) => match &*typed.pat {
            Pat::Ident(pattern) => Ok(Parameter { attributes: &typed.attrs, pattern, kind: &typed.ty }),
            other => {
                wrong(other, "a parameter of a handler has a name, by which the path, the query or a form says it")
            }
        },
        FnArg::Receiver(receiver) => wrong(receiver, "a handler is a function of its own: leave out `self`"),
    }
}

/// The struct, whose value is the link.
fn service(function: &ItemFn, parameters: &[Parameter<'_>], arguments: &TokenStream) -> TokenStream {
    let (visibility, name) = (&function.vis, &function.sig.ident);
    let documentation = function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let fields = parameters.iter().map(|Parameter { attributes, pattern, kind }| {
        let name = &pattern.ident;
        quote!(#(#attributes)* #visibility #name: #kind)
    });
    let fields = if parameters.is_empty() { quote!(;) } else { quote!({ #(#fields),* }) };
    quote! {
        #(#documentation)*
        #[allow(missing_docs, reason = "parameters of a function have no documentation")]
        #[derive(::skep::Service)]
        #[service(#arguments)]
        #visibility struct #name #fields
    }
}

/// `T` of `-> Result<T>`, which is sent as JSON.
fn json(output: &ReturnType) -> Option<&Type> {
    let ReturnType::Type(_, kind) = output else { return None };
    let Type::Path(path) = &**kind else { return None };
    match &path.path.segments.last()?.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first()? {
            GenericArgument::Type(kind) => Some(kind),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(function: TokenStream) -> String {
        let function = syn::parse2(function).unwrap();
        expand(&quote!(GET "/a/{id}"), &function).map_or_else(|error| error.to_string(), |code| code.to_string())
    }

    #[test]
    fn what_is_no_handler_is_said() {
        let wrong = [
            (
                quote!(
                    fn A(cx: &mut Cx<'_>) -> Result {}
                ),
                "`async fn`",
            ),
            (
                quote!(
                    async fn A<T>(cx: &mut Cx<'_>) -> Result {}
                ),
                "generic",
            ),
            (
                quote!(
                    async fn A() -> Result {}
                ),
                "the first parameter",
            ),
            (
                quote!(
                    async fn A(cx: &mut Cx<'_>, (a, b): (u8, u8)) -> Result {}
                ),
                "has a name",
            ),
        ];
        for (function, problem) in wrong {
            let text = expanded(function);
            assert!(text.contains(problem), "{text}");
        }
    }

    #[test]
    fn another_result_is_an_answer() {
        let json = expanded(quote!(
            async fn A(cx: &mut Cx<'_>, id: i64) -> Result<Vec<u8>> {}
        ));
        assert!(json.contains("answers = Vec < u8 >") && json.contains("async fn answer"), "{json}");
        let page = expanded(quote!(
            async fn A(cx: &mut Cx<'_>, id: i64) -> Result {}
        ));
        assert!(!page.contains("answers") && page.contains("async fn handle"), "{page}");
    }
}
