//! How long a function may be.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::Complaint;
use super::source::Source;
use super::tokens;

/// Lines between the braces of a function's body.
const LONGEST: usize = 70;

/// No function is longer than [`LONGEST`] lines. Says also which file is no Rust at all.
pub(super) fn length(source: &Source) -> Vec<Complaint> {
    if !source.is_rust() || source.is_sample() {
        return Vec::new();
    }
    let tokens = tokens::stream(source).map_err(|error| syn::Error::new(error.span(), error));
    match tokens.and_then(syn::parse2::<syn::File>) {
        Ok(file) => {
            let mut functions = Functions { source, complaints: Vec::new() };
            functions.visit_file(&file);
            functions.complaints
        }
        Err(error) => {
            let line = error.span().start().line;
            vec![source.complaint(line, format!("this does not parse ({error}); a file ending in .rs is Rust"))]
        }
    }
}

struct Functions<'a> {
    source: &'a Source,
    complaints: Vec<Complaint>,
}

impl Functions<'_> {
    fn measure(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let braces = body.brace_token.span;
        let lines = braces.close().start().line.saturating_sub(braces.open().start().line + 1);
        if lines > LONGEST {
            let line = signature.span().start().line;
            let text = format!(
                "`{}` has {lines} lines; {LONGEST} at most: take its arithmetic out into functions of their own",
                signature.ident
            );
            self.complaints.push(self.source.complaint(line, text));
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.measure(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.measure(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::lines;

    fn function(lines: usize) -> String {
        format!("fn a() {{\n{}}}\n", "    b();\n".repeat(lines))
    }

    #[test]
    fn a_function_of_seventy_lines_passes_and_one_more_does_not() {
        assert_eq!(lines(length, "src/a.rs", &function(70)), [0; 0]);
        assert_eq!(lines(length, "src/a.rs", &format!("\n{}", function(71))), [2]);
    }

    #[test]
    fn methods_and_functions_in_functions_are_measured_too() {
        let long = function(71);
        assert_eq!(lines(length, "src/a.rs", &format!("impl A {{\n{long}}}")), [2]);
        assert_eq!(lines(length, "src/a.rs", &format!("trait A {{\n{long}}}")), [2]);
        assert_eq!(lines(length, "src/a.rs", &format!("fn outer() {{\n{long}}}")), [1, 2]);
    }

    #[test]
    fn what_is_no_rust_is_named_but_for_programs_that_must_not_compile() {
        assert_eq!(lines(length, "src/a.rs", "fn a() {}\nfn ;"), [2]);
        assert_eq!(lines(length, "crates/skep/tests/compile-fail/a.rs", "fn ;"), [0; 0]);
    }
}
