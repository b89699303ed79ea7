//! Reads what a module declares and imports, and which paths its code names.

use std::collections::{BTreeMap, BTreeSet};

use crate::tokens::Token;

/// What a name that is declared in a module is. Names of modules are kept apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Its name need not occur where it is used.
    Trait,
    /// Known in later modules below the one that declares it, without an import.
    Macro,
    /// Any other item.
    Other,
}

/// One name of a `use` declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    /// The segments as written.
    pub(crate) path: Vec<String>,
    pub(crate) name: ImportName,
    /// Whether others may import the name from here: `pub` or `pub(...)`.
    pub(crate) public: bool,
}

/// Under which name an import is known in its module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ImportName {
    Name(String),
    /// `as _`: a trait, for its methods.
    Anonymous,
    /// `*`
    Glob,
}

/// What is written in one module: a file, or a `mod name { }` in it.
#[derive(Debug, Default)]
pub(crate) struct Module {
    pub(crate) items: BTreeMap<String, Kind>,
    pub(crate) imports: Vec<Import>,
    /// Declared with `mod name;`.
    pub(crate) file_modules: Vec<String>,
    /// Declared with `mod name { }`.
    pub(crate) inline_modules: Vec<(String, Module)>,
    /// Paths of two and more segments outside of `use`.
    pub(crate) paths: BTreeSet<Vec<String>>,
    /// Names that stand alone, first segments of paths among them.
    pub(crate) names: BTreeSet<String>,
    /// Macros that are called by their name alone.
    pub(crate) macros: BTreeSet<String>,
}

/// Reads a module. Items under `#[cfg(test)]` are left out.
pub(crate) fn read(tokens: &[Token]) -> Module {
    let mut module = Module::default();
    let mut at = 0;
    let mut depth = 0;
    let mut public = false;
    while let Some(token) = tokens.get(at) {
        let next_name = tokens.get(at + 1).and_then(Token::name);
        let mut length = 1;
        match token {
            Token::Sign('#') => {
                let Some((attribute, end)) = attribute(tokens, at) else {
                    at += 1;
                    continue;
                };
                at = if is_test(attribute) { skip_item(tokens, end) } else { end };
                continue;
            }
            Token::Sign('{' | '(' | '[') => depth += 1,
            Token::Sign('}' | ')' | ']') => depth -= 1,
            Token::Name(word) => match word.as_str() {
                "pub" => {
                    public = true;
                    let scoped = tokens.get(at + 1).is_some_and(|token| token.is('('));
                    at = if scoped { close(tokens, at + 1) } else { at + 1 };
                    continue;
                }
                "use" if !tokens.get(at + 1).is_some_and(|token| token.is('<')) => {
                    at = read_use(tokens, at + 1, public, &mut module.imports);
                    public = false;
                    continue;
                }
                "mod" if item_name(next_name).is_some() => {
                    let name = String::from(next_name.unwrap_or_default());
                    public = false;
                    if tokens.get(at + 2).is_some_and(|token| token.is('{')) {
                        let end = close(tokens, at + 2);
                        module.inline_modules.push((name, read(&tokens[at + 3..end - 1])));
                        at = end;
                    } else {
                        module.file_modules.push(name);
                        at += 3;
                    }
                    continue;
                }
                "struct" | "enum" | "union" | "trait" | "type" | "fn" | "const" | "static"
                    if depth == 0 && item_name(next_name).is_some() =>
                {
                    let kind = if word == "trait" { Kind::Trait } else { Kind::Other };
                    module.items.insert(String::from(next_name.unwrap_or_default()), kind);
                    length = 2;
                }
                "macro_rules" => {
                    if let Some(name) = tokens.get(at + 2).and_then(Token::name) {
                        module.items.insert(name.into(), Kind::Macro);
                    }
                    length = 3;
                }
                _ => length = read_path(tokens, at, &mut module),
            },
            Token::PathSep | Token::Sign(_) => {}
        }
        public = false;
        at += length;
    }
    module
}

/// Returns the name of an item, where a keyword may stand as well: `const fn name`, `static mut NAME`.
fn item_name(name: Option<&str>) -> Option<&str> {
    name.filter(|name| !matches!(*name, "fn" | "mut" | "unsafe" | "extern" | "async" | "_"))
}

/// Returns what stands in the brackets of an attribute, and where it ends.
fn attribute(tokens: &[Token], at: usize) -> Option<(&[Token], usize)> {
    let open = if tokens.get(at + 1)?.is('!') { at + 2 } else { at + 1 };
    tokens.get(open)?.is('[').then(|| close(tokens, open)).map(|end| (&tokens[open + 1..end - 1], end))
}

/// Returns whether what has this attribute is compiled for tests alone.
fn is_test(attribute: &[Token]) -> bool {
    let has = |word| attribute.iter().any(|token| token.name() == Some(word));
    attribute.first().and_then(Token::name) == Some("cfg") && has("test") && !has("not") && !has("any")
}

/// Returns the place after the bracket that closes the one at `open`.
fn close(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token {
            Token::Sign('{' | '(' | '[') => depth += 1,
            Token::Sign('}' | ')' | ']') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Returns the place after an item, a field or a statement, with its other attributes.
fn skip_item(tokens: &[Token], mut at: usize) -> usize {
    while tokens.get(at).is_some_and(|token| token.is('#')) {
        at = attribute(tokens, at).map_or(at + 1, |(_, end)| end);
    }
    let is_use = tokens[at..].iter().take(4).any(|token| token.name() == Some("use"));
    let is_item = tokens.get(at).and_then(Token::name).is_some_and(|word| {
        let keywords = ["pub", "fn", "impl", "struct", "enum", "trait", "const", "static", "unsafe", "async", "mod"];
        keywords.contains(&word)
    });
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Sign(';') => return at + 1,
            Token::Sign(',') if !is_item => return at + 1,
            Token::Sign('{') if !is_use => return close(tokens, at),
            Token::Sign('{' | '(' | '[') => at = close(tokens, at),
            Token::Sign('}' | ')' | ']') => return at,
            _ => at += 1,
        }
    }
    at
}

/// Reads a `use` declaration from behind the keyword, and returns the place after it.
fn read_use(tokens: &[Token], at: usize, public: bool, imports: &mut Vec<Import>) -> usize {
    let end = tokens[at..].iter().position(|token| token.is(';')).map_or(tokens.len(), |length| at + length);
    // `::name` is another crate, whatever is in scope here.
    if tokens.get(at) != Some(&Token::PathSep) {
        read_use_tree(&tokens[at..end], &[], public, imports);
    }
    end + 1
}

fn read_use_tree(tokens: &[Token], prefix: &[String], public: bool, imports: &mut Vec<Import>) {
    let mut path = prefix.to_vec();
    let mut name = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token {
            Token::Name(word) if word == "as" => {
                name = tokens.get(at + 1).and_then(Token::name).map(|word| match word {
                    "_" => ImportName::Anonymous,
                    _ => ImportName::Name(word.into()),
                });
                at += 1;
            }
            Token::Name(word) => path.push(word.clone()),
            Token::Sign('*') => name = Some(ImportName::Glob),
            Token::Sign('{') => {
                let inner = &tokens[at + 1..close(tokens, at) - 1];
                return split(inner).for_each(|tree| read_use_tree(tree, &path, public, imports));
            }
            _ => {}
        }
        at += 1;
    }
    if tokens.is_empty() {
        return;
    }
    if path.len() > 1 {
        path.pop_if(|last| last == "self");
    }
    let name = name.or_else(|| path.last().cloned().map(ImportName::Name));
    if let Some(name) = name {
        imports.push(Import { path, name, public });
    }
}

/// Splits at the commas that are in no braces.
fn split(tokens: &[Token]) -> impl Iterator<Item = &[Token]> {
    let mut depth = 0;
    tokens.split(move |token| {
        match token {
            Token::Sign('{') => depth += 1,
            Token::Sign('}') => depth -= 1,
            _ => {}
        }
        depth == 0 && token.is(',')
    })
}

/// Notes the path that begins here, and returns its length in tokens.
fn read_path(tokens: &[Token], at: usize, module: &mut Module) -> usize {
    let before = |back: usize| at.checked_sub(back).and_then(|at| tokens.get(at));
    let mut path = vec![String::from(tokens[at].name().unwrap_or_default())];
    let mut end = at + 1;
    while tokens.get(end) == Some(&Token::PathSep)
        && let Some(name) = tokens.get(end + 1).and_then(Token::name)
    {
        path.push(name.into());
        end += 2;
    }
    // A field or a method; what follows `..` is a value again.
    let member = before(1).is_some_and(|token| token.is('.')) && !before(2).is_some_and(|token| token.is('.'));
    // The rest of `<Type as Trait>::Name` or `::name`; `$name::` in a macro stands for something unknown.
    let rest = before(1) == Some(&Token::PathSep);
    let unknown = before(1).is_some_and(|token| token.is('$')) && path[0] != "crate";
    if member || rest || unknown {
        return end - at;
    }
    let call = tokens.get(end).is_some_and(|token| token.is('!'))
        && tokens.get(end + 1).is_some_and(|token| matches!(token, Token::Sign('(' | '{' | '[')));
    module.names.insert(path[0].clone());
    if path.len() > 1 {
        module.paths.insert(path);
    } else if call {
        module.macros.insert(path.remove(0));
    }
    end - at
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    fn module(source: &str) -> Module {
        read(&tokens(source))
    }

    fn imports(source: &str) -> Vec<String> {
        let show = |import: &Import| {
            let name = match &import.name {
                ImportName::Name(name) => name,
                ImportName::Anonymous => "_",
                ImportName::Glob => "*",
            };
            format!("{}{} as {name}", if import.public { "pub " } else { "" }, import.path.join("::"))
        };
        module(source).imports.iter().map(show).collect()
    }

    #[test]
    fn use_trees_are_read_with_nested_braces_over_several_lines() {
        let source = "use crate::a::{\n    self, b::{c, d as e},\n    f::*,\n};\npub(crate) use super::g;";
        let expected =
            ["crate::a as a", "crate::a::b::c as c", "crate::a::b::d as e", "crate::a::f as *", "pub super::g as g"];
        assert_eq!(imports(source), expected);
    }

    #[test]
    fn a_trait_may_be_imported_without_a_name() {
        assert_eq!(imports("use self::a::T as _;"), ["self::a::T as _"]);
    }

    #[test]
    fn uses_in_functions_count_and_captured_lifetimes_are_no_use() {
        assert_eq!(imports("fn f() -> impl Sized + use<'_> { use crate::a::B; }"), ["crate::a::B as B"]);
    }

    #[test]
    fn what_is_compiled_for_tests_alone_is_left_out() {
        let source = "#[cfg(test)] use crate::a::{B, C}; #[cfg(test)] #[path = \"x\"] mod tests { use crate::d::E; }
            #[cfg(test)] mod more; #[cfg(test)] fn f(a: u8, b: u8) { crate::g::h(); }
            struct S { #[cfg(test)] t: crate::i::J, u: crate::k::L } #[cfg(not(test))] use crate::m::N;";
        let module = module(source);
        assert_eq!(module.imports.len(), 1);
        assert!(module.file_modules.is_empty() && module.inline_modules.is_empty());
        assert_eq!(module.paths.iter().map(|path| path.join("::")).collect::<Vec<_>>(), ["crate::k::L"]);
    }

    #[test]
    fn inline_paths_and_macros_by_path_are_found() {
        let source = "fn f() { crate::a::push(b); super::c!(x); T::<u8>::new(); v.d::<e::F>(); <X as g::H>::i(); }
            macro_rules! m { ($t:ident) => { $crate::j::k($t::l) } }";
        let paths: Vec<_> = module(source).paths.iter().map(|path| path.join("::")).collect();
        assert_eq!(paths, ["crate::a::push", "crate::j::k", "e::F", "g::H", "super::c"]);
    }

    #[test]
    fn items_are_those_of_the_module_itself() {
        let source = "pub struct A<T>(T); const fn b() { struct C; } impl D { fn e() {} const F: u8 = 0; }
            pub(crate) trait G {} static mut H: u8 = 0; macro_rules! i { () => {} } mod j { pub struct K; }";
        let module = module(source);
        assert_eq!(module.items.keys().map(String::as_str).collect::<Vec<_>>(), ["A", "G", "b", "i"]);
        assert_eq!(module.items["G"], Kind::Trait);
        assert!(module.inline_modules[0].1.items.contains_key("K"));
    }
}
