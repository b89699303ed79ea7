//! Names in Rust for tools, types and properties. Servers choose the names in the protocol, so these can be anything.

use std::collections::BTreeSet;

use heck::{ToPascalCase as _, ToSnakeCase as _};

/// Maximum length of a name in Rust, in bytes. Documentation has a file for each module and type, and file systems limit the
/// length of a file's name to 255 bytes.
pub(crate) const LONGEST: usize = 60;

/// Names of modules and functions that would hide those of the generated module itself.
const TAKEN_MODULES: [&str; 2] = ["error", "support"];

/// Names of types that would hide those of the standard library, which the generated code uses without a path.
const TAKEN_TYPES: [&str; 25] = [
    "Arguments",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Display",
    "Eq",
    "Err",
    "Fn",
    "From",
    "Hash",
    "Into",
    "None",
    "Ok",
    "Option",
    "Ord",
    "Output",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Some",
    "String",
    "Vec",
];

/// The names of the functions of a generated module. Each function has a module of the same name.
#[derive(Debug, Default)]
pub(crate) struct FunctionNames(BTreeSet<String>);

impl FunctionNames {
    /// Returns an unused name for a tool in snake case, such as `read_file` for `readFile`.
    pub(crate) fn add(&mut self, tool: &str) -> String {
        let name = words(tool).to_snake_case();
        let name = starting_with_a_letter(&name, "tool");
        let is_free = typify::accept_as_ident(&name) && !TAKEN_MODULES.contains(&name.as_str());
        let name = if is_free { name } else { format!("{name}_") };
        numbered(&mut self.0, &name, "_")
    }
}

/// The names of the types in the module of one tool.
#[derive(Debug, Default)]
pub(crate) struct TypeNames(BTreeSet<String>);

impl TypeNames {
    /// Returns an unused name for a type in upper camel case.
    pub(crate) fn add(&mut self, suggestion: &str) -> String {
        let name = words(suggestion).to_pascal_case();
        let name = starting_with_a_letter(&name, "Type");
        let name = if TAKEN_TYPES.contains(&name.as_str()) { format!("{name}Type") } else { name };
        numbered(&mut self.0, &name, "")
    }

    /// Frees a name that is not needed.
    pub(crate) fn remove(&mut self, name: &str) {
        self.0.remove(name);
    }
}

/// Returns the name that `typify` gives to the field of a property.
pub(crate) fn field(property: &str) -> String {
    property.replace('\'', "").replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-").to_snake_case()
}

/// Returns the name that `typify` gives to the variant of a value.
pub(crate) fn variant(value: &str) -> String {
    value.replace('\'', "").replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-").to_pascal_case()
}

/// Returns the beginning of a name, with spaces for the characters that no name in Rust has. Letters beyond ASCII count as such:
/// compilers warn about some of them.
fn words(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).take(LONGEST).collect()
}

fn starting_with_a_letter(name: &str, prefix: &str) -> String {
    match name.chars().next() {
        None => prefix.to_owned(),
        Some(c) if c.is_ascii_digit() && prefix.starts_with(char::is_lowercase) => format!("{prefix}_{name}"),
        Some(c) if c.is_ascii_digit() => format!("{prefix}{name}"),
        Some(_) => name.to_owned(),
    }
}

/// Adds a name, or the name with the first number that makes it unique.
fn numbered(taken: &mut BTreeSet<String>, name: &str, separator: &str) -> String {
    let mut unique = name.to_owned();
    let mut number = 1_u32;
    while taken.contains(&unique) {
        number += 1;
        unique = format!("{}{separator}{number}", name.trim_end_matches('_'));
    }
    taken.insert(unique.clone());
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_a_function_of_its_own() {
        let mut names = FunctionNames::default();
        for (tool, name) in [
            ("read_file", "read_file"),
            ("readFile", "read_file_2"),
            ("read-file", "read_file_3"),
            ("read_file_2", "read_file_2_2"),
            ("notes.search", "notes_search"),
            ("type", "type_"),
            ("Type", "type_2"),
            ("self", "self_"),
            ("gen", "gen_"),
            ("error", "error_"),
            ("support", "support_"),
            ("3d", "tool_3d"),
            ("", "tool"),
            ("größe", "gr_e"),
            ("工具", "tool_2"),
            ("__", "tool_3"),
            ("a\u{202e}b", "a_b"),
            ("fn main() {}", "fn_main"),
            ("r#type", "r_type"),
        ] {
            assert_eq!(names.add(tool), name, "{tool}");
        }
        assert!(names.add(&"long ".repeat(1000)).len() <= LONGEST);
    }

    #[test]
    fn types_do_not_hide_those_of_the_standard_library() {
        let mut names = TypeNames::default();
        for (suggestion, name) in
            [("filter", "Filter"), ("Filter", "Filter2"), ("option", "OptionType"), ("3d", "Type3d"), ("", "Type")]
        {
            assert_eq!(names.add(suggestion), name, "{suggestion}");
        }
        names.remove("Filter");
        assert_eq!(names.add("filter"), "Filter");
    }
}
