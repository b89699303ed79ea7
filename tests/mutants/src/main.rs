//! Prints the mutants of the Rust files in a folder, one JSON object a line. `run` builds and tests them.
//!
//! A mutant replaces the bytes `from` to `to` of `file` by `text`. The bytes `start` to `end` are the expression or statement that contains
//! the change, which is chosen at run time.

use std::path::Path;
use std::{env, fs};

use proc_macro2::Span;
use serde_json::json;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::*;

/// Prints the mutants of one file.
struct Sites<'a> {
    file: String,
    source: &'a str,
}

/// Returns whether these attributes mark a test, or code for tests only.
fn is_test(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| match &attr.meta {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) => {
            list.path.is_ident("cfg")
                && list.tokens.to_string().split(|c: char| !c.is_alphanumeric()).any(|word| word == "test")
        }
        Meta::NameValue(_) => false,
    })
}

/// Returns whether an expression contains a `let` in a chain of conditions. Such a condition cannot become the value of an `if`.
fn has_let(expr: &Expr) -> bool {
    match expr {
        Expr::Let(_) => true,
        Expr::Binary(e) => has_let(&e.left) || has_let(&e.right),
        Expr::Paren(e) => has_let(&e.expr),
        _ => false,
    }
}

impl Sites<'_> {
    fn add(&self, kind: &str, whole: Span, edit: Span, text: &str) {
        let (whole, edit, line) = (whole.byte_range(), edit.byte_range(), whole.start().line);
        assert!(
            whole.end <= self.source.len() && whole.start <= edit.start && edit.end <= whole.end,
            "{}:{line} {kind}",
            self.file
        );
        println!(
            "{}",
            json!({"file": self.file, "line": line, "kind": kind, "start": whole.start, "end": whole.end, "from": edit.start, "to": edit.end, "text": text})
        );
    }
}

impl<'ast> Visit<'ast> for Sites<'_> {
    fn visit_attribute(&mut self, _: &'ast Attribute) {}
    fn visit_pat(&mut self, _: &'ast Pat) {}
    fn visit_type(&mut self, _: &'ast Type) {}
    fn visit_generic_argument(&mut self, _: &'ast GenericArgument) {}
    fn visit_generics(&mut self, _: &'ast Generics) {}
    fn visit_expr_const(&mut self, _: &'ast ExprConst) {}
    fn visit_expr_repeat(&mut self, e: &'ast ExprRepeat) {
        self.visit_expr(&e.expr);
    }
    fn visit_item(&mut self, item: &'ast Item) {
        let skip = match item {
            Item::Const(_) | Item::Static(_) | Item::Enum(_) | Item::Macro(_) => true,
            Item::Fn(i) => is_test(&i.attrs) || i.sig.constness.is_some(),
            Item::Mod(i) => is_test(&i.attrs),
            Item::Impl(i) => is_test(&i.attrs),
            _ => false,
        };
        if !skip {
            visit::visit_item(self, item);
        }
    }
    fn visit_impl_item(&mut self, item: &'ast ImplItem) {
        match item {
            ImplItem::Fn(i) if !is_test(&i.attrs) && i.sig.constness.is_none() => visit::visit_impl_item(self, item),
            _ => {}
        }
    }
    fn visit_trait_item(&mut self, item: &'ast TraitItem) {
        if let TraitItem::Fn(_) = item {
            visit::visit_trait_item(self, item);
        }
    }
    fn visit_stmt(&mut self, stmt: &'ast Stmt) {
        if let Stmt::Expr(Expr::MethodCall(call), Some(_)) = stmt
            && call.attrs.is_empty()
        {
            self.add("remove statement", stmt.span(), stmt.span(), "");
        }
        visit::visit_stmt(self, stmt);
    }
    fn visit_expr_if(&mut self, e: &'ast ExprIf) {
        if !has_let(&e.cond) {
            for text in ["true", "false"] {
                self.add("force condition", e.cond.span(), e.cond.span(), text);
            }
        }
        visit::visit_expr_if(self, e);
    }
    fn visit_expr(&mut self, expr: &'ast Expr) {
        match expr {
            Expr::Binary(e) if e.attrs.is_empty() && !has_let(expr) => {
                let text = match e.op {
                    BinOp::Eq(_) => "!=",
                    BinOp::Ne(_) => "==",
                    BinOp::Lt(_) => "<=",
                    BinOp::Le(_) => "<",
                    BinOp::Gt(_) => ">=",
                    BinOp::Ge(_) => ">",
                    BinOp::And(_) => "||",
                    BinOp::Or(_) => "&&",
                    BinOp::Add(_) => "-",
                    BinOp::Sub(_) => "+",
                    BinOp::AddAssign(_) => "-=",
                    BinOp::SubAssign(_) => "+=",
                    _ => "",
                };
                if !text.is_empty() {
                    self.add("operator", expr.span(), e.op.span(), text);
                }
            }
            Expr::Unary(e) if e.attrs.is_empty() && matches!(e.op, UnOp::Not(_)) => {
                self.add("remove !", expr.span(), e.op.span(), "")
            }
            Expr::Lit(ExprLit { lit: Lit::Bool(b), attrs }) if attrs.is_empty() => {
                self.add("literal", expr.span(), expr.span(), if b.value { "false" } else { "true" })
            }
            Expr::Call(e) if e.attrs.is_empty() && matches!(&*e.func, Expr::Path(p) if p.path.is_ident("Some")) => {
                self.add("Some to None", expr.span(), expr.span(), "None")
            }
            _ => {}
        }
        visit::visit_expr(self, expr);
    }
}

/// Prints the mutants of all files in a folder, except files of tests.
fn walk(root: &Path, dir: &Path) {
    let mut paths: Vec<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if name != "tests" {
                walk(root, &path);
            }
        } else if name.ends_with(".rs") && !name.starts_with("tests") {
            let source = fs::read_to_string(&path).unwrap();
            let file = path.strip_prefix(root).unwrap().to_str().unwrap().to_string();
            Sites { file, source: &source }.visit_file(&parse_file(&source).unwrap());
        }
    }
}

fn main() {
    let root = env::args().nth(1).unwrap();
    walk(Path::new(&root), Path::new(&root));
}
