//! Turns simplified schemas into Rust types, with the crate `typify`.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use schemars::schema::RootSchema;
use serde_json::{Value, json};
use syn::visit_mut::VisitMut;
use syn::{Attribute, Expr, ExprLit, Field, Fields, Item, Lit, Meta, parse_quote};
use typify::{TypeSpace, TypeSpaceSettings};

use crate::schema::Simple;

/// Maximum length of a name in the generated code, in bytes. Documentation has a file for each type.
const LONGEST_NAME: usize = 150;

/// The types of one schema.
pub(crate) struct Types {
    pub(crate) items: Vec<Item>,
    /// Whether the items use `error::ConversionError`.
    pub(crate) uses_error: bool,
}

/// Generates the type `name` for a schema, and the types that it uses.
///
/// # Errors
/// Returns why there can be no types.
pub(crate) fn generate(name: &str, simple: &Simple) -> Result<Types, String> {
    let tokens = typify(name, simple)?;
    let file: syn::File = syn::parse2(tokens).map_err(|error| format!("its types are not valid Rust: {error}"))?;
    let mut items: Vec<Item> =
        file.items.into_iter().filter(|item| !matches!(item, Item::Mod(module) if module.ident == "error")).collect();
    check(name, &items)?;
    let mut cleanup = Cleanup { uses_error: false };
    for item in &mut items {
        remove_name_as_doc(item);
        cleanup.visit_item_mut(item);
    }
    let constructors: Vec<Item> = items.iter().filter_map(constructor).collect();
    items.extend(constructors);
    Ok(Types { items, uses_error: cleanup.uses_error })
}

fn typify(name: &str, simple: &Simple) -> Result<TokenStream, String> {
    let mut root = simple.schema.clone();
    root["title"] = json!(name);
    root["definitions"] = Value::Object(simple.definitions.clone());
    let root: RootSchema = serde_json::from_value(root).map_err(|error| format!("it is no JSON Schema: {error}"))?;
    let mut settings = TypeSpaceSettings::default();
    settings.with_map_type("::std::collections::BTreeMap").with_derive("PartialEq".into());
    // It panics for schemas that it does not support. Simplified schemas have none of these, as far as is known.
    let generated = catch_unwind(AssertUnwindSafe(|| {
        let mut space = TypeSpace::new(&settings);
        space.add_root_schema(root).map(|_| space.to_stream())
    }));
    match generated {
        Ok(Ok(tokens)) => Ok(tokens),
        Ok(Err(error)) => Err(format!("`typify` has refused it: {error}")),
        Err(_) => Err("`typify` has failed".into()),
    }
}

/// Checks that the types can be compiled and documented: their names are plain and different, and one of them is `name`.
fn check(name: &str, items: &[Item]) -> Result<(), String> {
    let mut types = BTreeSet::new();
    for item in items {
        let (ident, members): (&Ident, Vec<&Ident>) = match item {
            Item::Struct(item) => (&item.ident, fields(&item.fields)),
            Item::Enum(item) => {
                for variant in &item.variants {
                    check_names(&item.ident, fields(&variant.fields))?;
                }
                (&item.ident, item.variants.iter().map(|variant| &variant.ident).collect())
            }
            Item::Impl(_) => continue,
            _ => return Err("its types need code that is not supported".into()),
        };
        check_names(ident, members)?;
        check_name(ident)?;
        if !types.insert(ident) {
            return Err(format!("two of its types have the name `{ident}`"));
        }
    }
    if types.contains(&format_ident!("{name}")) { Ok(()) } else { Err("it has no type".into()) }
}

fn fields(fields: &Fields) -> Vec<&Ident> {
    fields.iter().filter_map(|field| field.ident.as_ref()).collect()
}

fn check_names(owner: &Ident, members: Vec<&Ident>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for member in members {
        check_name(member)?;
        if !seen.insert(member) {
            return Err(format!("the type `{owner}` has two members with the name `{member}`"));
        }
    }
    Ok(())
}

fn check_name(name: &Ident) -> Result<(), String> {
    let name = name.to_string();
    if name.is_ascii() && name.len() <= LONGEST_NAME {
        Ok(())
    } else {
        Err("its types have names that are too long, or have letters beyond ASCII".into())
    }
}

/// Makes the generated items uniform: a `///` for each line of the documentation.
struct Cleanup {
    uses_error: bool,
}

impl VisitMut for Cleanup {
    fn visit_attributes_mut(&mut self, attributes: &mut Vec<Attribute>) {
        let mut lines = Vec::new();
        for attribute in std::mem::take(attributes) {
            match doc_text(&attribute) {
                Some(text) => lines.extend(doc_attributes(&text)),
                None => lines.push(attribute),
            }
        }
        *attributes = lines;
    }

    fn visit_ident_mut(&mut self, ident: &mut Ident) {
        self.uses_error |= ident == "ConversionError";
    }
}

/// Removes the documentation of a type that has no description: `typify` then uses the name of the type.
fn remove_name_as_doc(item: &mut Item) {
    let (ident, attributes) = match item {
        Item::Struct(item) => (&item.ident, &mut item.attrs),
        Item::Enum(item) => (&item.ident, &mut item.attrs),
        _ => return,
    };
    let name = format!("`{ident}`");
    attributes.retain(|attribute| doc_text(attribute).is_none_or(|text| text != name));
}

fn doc_text(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(meta) = &attribute.meta else { return None };
    match &meta.value {
        Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) if meta.path.is_ident("doc") => Some(text.value()),
        _ => None,
    }
}

/// Returns the attributes that make a text the documentation of an item, one for each line.
pub(crate) fn doc_attributes(markdown: &str) -> Vec<Attribute> {
    let lines = markdown.lines().map(|line| if line.is_empty() { String::new() } else { format!(" {}", line.trim()) });
    lines.map(|line| parse_quote!(#[doc = #line])).collect()
}

/// Returns a function that creates a value from the required fields, if the type also has optional ones. Types without required
/// fields have `Default`.
fn constructor(item: &Item) -> Option<Item> {
    let Item::Struct(item) = item else { return None };
    let (name, fields) = (&item.ident, &item.fields);
    let is_required = |field: &&Field| !field.attrs.iter().any(is_optional);
    let (required, optional): (Vec<&Field>, Vec<&Field>) = fields.iter().partition(is_required);
    if required.is_empty() || optional.is_empty() || fields.iter().any(|field| field.ident.is_none()) {
        return None;
    }
    let names: Vec<_> = required.iter().filter_map(|field| field.ident.as_ref()).collect();
    let others: Vec<_> = optional.iter().filter_map(|field| field.ident.as_ref()).collect();
    let string: syn::Type = parse_quote!(::std::string::String);
    let (types, values): (Vec<TokenStream>, Vec<TokenStream>) = required
        .iter()
        .zip(&names)
        .map(|(field, name)| match &field.ty {
            ty if quote!(#ty).to_string() == quote!(#string).to_string() => {
                (quote!(impl ::std::convert::Into<#string>), quote!(#name.into()))
            }
            ty => (quote!(#ty), quote!(#name)),
        })
        .unzip();
    Some(parse_quote! {
        impl #name {
            /// Creates a value with these required fields, in alphabetical order, and without the optional ones.
            pub fn new(#(#names: #types),*) -> Self {
                Self { #(#names: #values,)* #(#others: ::std::default::Default::default(),)* }
            }
        }
    })
}

/// Returns whether an attribute of `serde` lets a field be absent, or collects all other properties.
fn is_optional(attribute: &Attribute) -> bool {
    let mut found = false;
    if attribute.path().is_ident("serde") {
        // What it does not understand is another option.
        let _ = attribute.parse_nested_meta(|meta| {
            found |= ["default", "flatten", "skip_serializing_if"].iter().any(|name| meta.path.is_ident(name));
            if meta.input.peek(syn::Token![=]) {
                meta.value()?.parse::<Lit>()?;
            }
            Ok(())
        });
    }
    found
}
