//! The modules of a crate, and where a path leads: through re-exports to the file that defines the item.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::module::{self, Import, ImportName, Kind, Module};
use crate::tokens::tokens;

/// Re-exports are followed this far, so that two that name each other end.
const MAX_STEPS: usize = 32;

/// All modules of one crate.
#[derive(Debug)]
pub(crate) struct Tree {
    nodes: Vec<Node>,
}

/// A module in its place.
#[derive(Debug)]
struct Node {
    name: String,
    parent: Option<usize>,
    /// The file that it is written in, as a path below the crate's sources.
    file: String,
    module: Module,
}

/// Where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    Module(usize),
    /// The module that defines the item.
    Item(usize, Kind),
}

/// One file that needs another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrow {
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Tree {
    /// Reads the modules of a crate, from its `lib.rs` on, or from the `main.rs` of a program.
    pub(crate) fn read(sources: &Path) -> Result<Self, String> {
        let load = |file: &str| fs::read_to_string(sources.join(file)).ok();
        Self::load(&load)
    }

    /// Reads the modules of a crate whose files `load` knows.
    fn load(load: &dyn Fn(&str) -> Option<String>) -> Result<Self, String> {
        let find = |name: &'static str| load(name).map(|source| (name, source));
        let (root, source) = find("lib.rs").or_else(|| find("main.rs")).ok_or("there is no lib.rs and no main.rs")?;
        let mut tree = Self { nodes: Vec::new() };
        tree.add("crate", None, root, Path::new(""), module::read(&tokens(&source)), load)?;
        Ok(tree)
    }

    /// Adds a module and those below it, whose files are in `folder`.
    fn add(
        &mut self,
        name: &str,
        parent: Option<usize>,
        file: &str,
        folder: &Path,
        mut module: Module,
        load: &dyn Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        let this = self.nodes.len();
        let inline = std::mem::take(&mut module.inline_modules);
        let files = std::mem::take(&mut module.file_modules);
        self.nodes.push(Node { name: name.into(), parent, file: file.into(), module });
        for (name, module) in inline {
            self.add(&name, Some(this), file, &folder.join(&name), module, load)?;
        }
        for name in files {
            let candidates: [PathBuf; 2] = [folder.join(format!("{name}.rs")), folder.join(&name).join("mod.rs")];
            let found = candidates.iter().find_map(|path| {
                let path = path.to_str()?;
                load(path).map(|source| (path, source))
            });
            let (path, source) = found.ok_or_else(|| format!("{file} declares `mod {name};`, which has no file"))?;
            self.add(&name, Some(this), path, &folder.join(&name), module::read(&tokens(&source)), load)?;
        }
        Ok(())
    }

    /// Returns all files.
    pub(crate) fn files(&self) -> BTreeSet<String> {
        self.nodes.iter().map(|node| node.file.clone()).collect()
    }

    /// Returns which file needs which.
    pub(crate) fn arrows(&self) -> BTreeSet<Arrow> {
        let mut arrows = BTreeSet::new();
        for (at, node) in self.nodes.iter().enumerate() {
            let mut add = |target: Option<Target>| {
                if let Some(Target::Item(to, _)) = target
                    && self.nodes[to].file != node.file
                {
                    arrows.insert(Arrow { from: node.file.clone(), to: self.nodes[to].file.clone() });
                }
            };
            for import in &node.module.imports {
                let target = self.resolve(at, &import.path, false, 0);
                if self.requires(at, import, target) {
                    add(target);
                }
            }
            for path in &node.module.paths {
                add(self.resolve(at, path, false, 0));
            }
            for name in &node.module.names {
                if !self.is_named(at, name) {
                    add(self.through_globs(at, name, false, 0));
                }
            }
            for name in &node.module.macros {
                if self.lookup(at, name, false, 0).is_none() {
                    add(self.macro_above(at, name));
                }
            }
        }
        arrows
    }

    /// Returns which file needs which module of another package, as `package`, for what is at its root, or `package::module`.
    pub(crate) fn arrows_to(&self, package: &str) -> BTreeSet<Arrow> {
        let name = package.replace('-', "_");
        let mut arrows = BTreeSet::new();
        for node in &self.nodes {
            let imports = node.module.imports.iter().map(|import| (&import.path, import.name == ImportName::Glob));
            let paths = node.module.paths.iter().map(|path| (path, false));
            for (path, is_glob) in imports.chain(paths).filter(|(path, _)| path[0] == name) {
                let to = match &path[1..] {
                    [] if is_glob => format!("{package}::*"),
                    // The crate under another name.
                    [] => format!("{package}::self"),
                    [module, _, ..] if module.starts_with(char::is_lowercase) => format!("{package}::{module}"),
                    _ => package.into(),
                };
                arrows.insert(Arrow { from: node.file.clone(), to });
            }
        }
        arrows
    }

    /// Returns whether a module needs what it imports, rather than only passing it on from a module below it.
    fn requires(&self, at: usize, import: &Import, target: Option<Target>) -> bool {
        let Some(Target::Item(to, kind)) = target else { return false };
        match &import.name {
            ImportName::Glob | ImportName::Anonymous => true,
            ImportName::Name(name) if self.nodes[at].module.names.contains(name) => true,
            // What is passed on from elsewhere than below is needed all the same; so is a trait, for its methods.
            ImportName::Name(_) => !self.is_below(to, at) || (kind == Kind::Trait && !import.public),
        }
    }

    /// Returns whether `module` is in a file below the file of `above`.
    fn is_below(&self, module: usize, above: usize) -> bool {
        let root = |mut at: usize| {
            while let Some(parent) = self.nodes[at].parent
                && self.nodes[parent].file == self.nodes[at].file
            {
                at = parent;
            }
            at
        };
        let above = root(above);
        let mut at = Some(module);
        while let Some(this) = at {
            if this == above {
                return true;
            }
            at = self.nodes[this].parent;
        }
        false
    }

    /// Follows a path from a module. `None`: it leads out of the crate.
    fn resolve(&self, from: usize, path: &[String], module_wanted: bool, steps: usize) -> Option<Target> {
        if steps > MAX_STEPS {
            return None;
        }
        let mut at = from;
        let mut rest = path;
        while let Some((first, behind)) = rest.split_first() {
            match first.as_str() {
                "crate" => at = 0,
                "self" => {}
                "super" => at = self.nodes[at].parent?,
                _ => break,
            }
            rest = behind;
        }
        let started = rest.len() < path.len();
        for (index, segment) in rest.iter().enumerate() {
            let is_last = index + 1 == rest.len();
            let found = self.lookup(at, segment, !is_last || module_wanted, steps + 1);
            match found {
                Some(Target::Module(module)) => at = module,
                Some(item) => return Some(item),
                // A macro makes it, or it is re-exported from another crate: the module that was reached stands for it.
                None if started || index > 0 => return Some(Target::Item(at, Kind::Other)),
                None => return None,
            }
        }
        Some(Target::Module(at))
    }

    /// Returns what a name means in a module, whether it is seen from inside or from outside.
    fn lookup(&self, at: usize, name: &str, module_wanted: bool, steps: usize) -> Option<Target> {
        let node = &self.nodes[at];
        let item = node.module.items.get(name).map(|kind| Target::Item(at, *kind));
        let below =
            self.nodes.iter().position(|child| child.parent == Some(at) && child.name == name).map(Target::Module);
        let imported = || {
            let named = node.module.imports.iter().filter(|import| import.name == ImportName::Name(name.into()));
            let mut found = named.filter_map(|import| self.resolve(at, &import.path, module_wanted, steps + 1));
            found.next()
        };
        let own = if module_wanted { below.or(item).or_else(imported) } else { item.or_else(imported).or(below) };
        own.or_else(|| self.through_globs(at, name, module_wanted, steps + 1))
    }

    /// Returns what a name means through the `*` imports of a module.
    fn through_globs(&self, at: usize, name: &str, module_wanted: bool, steps: usize) -> Option<Target> {
        if steps > MAX_STEPS {
            return None;
        }
        let globs = self.nodes[at].module.imports.iter().filter(|import| import.name == ImportName::Glob);
        globs.into_iter().find_map(|import| match self.resolve(at, &import.path, true, steps + 1)? {
            Target::Module(module) if module != at => self.lookup(module, name, module_wanted, steps + 1),
            _ => None,
        })
    }

    /// Returns whether a module declares or imports a name, other than through `*`.
    fn is_named(&self, at: usize, name: &str) -> bool {
        let module = &self.nodes[at].module;
        module.items.contains_key(name)
            || module.imports.iter().any(|import| import.name == ImportName::Name(name.into()))
            || self.nodes.iter().any(|child| child.parent == Some(at) && child.name == name)
    }

    /// Returns the module above that defines a macro, as those are known below it without an import.
    fn macro_above(&self, at: usize, name: &str) -> Option<Target> {
        let parent = self.nodes[at].parent?;
        match self.nodes[parent].module.items.get(name) {
            Some(Kind::Macro) => Some(Target::Item(parent, Kind::Macro)),
            _ => self.macro_above(parent, name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The arrows of a crate of these files, as `from -> to`.
    fn arrows(files: &[(&str, &str)]) -> Vec<String> {
        let load = |name: &str| files.iter().find(|(file, _)| *file == name).map(|(_, source)| String::from(*source));
        let tree = Tree::load(&load).unwrap();
        tree.arrows().iter().map(|arrow| format!("{} -> {}", arrow.from, arrow.to)).collect()
    }

    #[test]
    fn a_program_is_read_from_its_main_file() {
        assert_eq!(
            arrows(&[("main.rs", "mod a; fn main() { a::go() }"), ("a.rs", "pub fn go() {}")]),
            ["main.rs -> a.rs"]
        );
    }

    #[test]
    fn re_exports_lead_to_the_file_that_defines_the_item() {
        let found = arrows(&[
            (
                "lib.rs",
                "mod types; mod user; mod path; use types::inner; pub use types::*; pub(crate) use inner::Deep;",
            ),
            ("types/mod.rs", "pub mod inner; mod tool; pub use tool::Tool as Renamed;"),
            ("types/inner.rs", "pub struct Deep;"),
            ("types/tool.rs", "pub struct Tool;"),
            ("user.rs", "use crate::types::Renamed;"),
            ("path.rs", "fn f() { crate::inner::Deep::new(); } fn g() -> crate::Renamed {}"),
        ]);
        assert_eq!(found, ["path.rs -> types/inner.rs", "path.rs -> types/tool.rs", "user.rs -> types/tool.rs"]);
    }

    #[test]
    fn a_parent_that_declares_or_re_exports_is_no_arrow_and_one_that_uses_is() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B; struct C { b: B }"),
            ("a.rs", "pub struct A;"),
            ("b.rs", "pub struct B;"),
        ]);
        assert_eq!(found, ["lib.rs -> b.rs"]);
    }

    #[test]
    fn a_child_that_uses_what_its_parent_defines_is_an_arrow() {
        let found = arrows(&[
            ("lib.rs", "mod a;"),
            ("a/mod.rs", "mod b; mod c; pub struct Here; pub use c::There;"),
            ("a/b.rs", "use super::{Here, There}; fn f() { super::c::g() }"),
            ("a/c.rs", "pub struct There; pub fn g() {}"),
        ]);
        assert_eq!(found, ["a/b.rs -> a/c.rs", "a/b.rs -> a/mod.rs"]);
    }

    #[test]
    fn imported_modules_are_arrows_to_what_is_used_of_them() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b;"),
            ("a/mod.rs", "pub mod c; pub mod d; pub use d::e;"),
            ("a/c.rs", "pub fn f() {}"),
            ("a/d.rs", "pub fn e() {}"),
            ("b.rs", "use crate::a::{self, c}; fn f() { c::f(); a::e(); }"),
        ]);
        assert_eq!(found, ["b.rs -> a/c.rs", "b.rs -> a/d.rs"]);
    }

    #[test]
    fn a_module_and_an_item_may_share_a_name() {
        let found = arrows(&[
            ("lib.rs", "mod rpc; mod a;"),
            ("rpc/mod.rs", "mod peek; pub use peek::peek;"),
            ("rpc/peek.rs", "pub fn peek() {} pub struct Peek;"),
            ("a.rs", "use crate::rpc::peek; use crate::rpc::peek::Peek; fn f() { peek() }"),
        ]);
        assert_eq!(found, ["a.rs -> rpc/peek.rs"]);
    }

    #[test]
    fn globs_are_arrows_to_what_is_named_through_them() {
        let found = arrows(&[
            ("lib.rs", "mod a; mod b; struct Root;"),
            ("a.rs", "pub struct Used; pub struct Unused;"),
            ("b.rs", "use crate::a::*; use super::*; fn f(_: Used) {}"),
        ]);
        assert_eq!(found, ["b.rs -> a.rs"]);
    }

    #[test]
    fn macros_are_arrows_by_path_by_import_and_from_above() {
        let found = arrows(&[
            ("lib.rs", "macro_rules! above { () => {} } mod a; mod b; mod c;"),
            ("a.rs", "macro_rules! made { () => { crate::b::f() } } pub(crate) use made;"),
            ("b.rs", "pub fn f() { crate::a::made!() }"),
            ("c.rs", "use crate::a::made; fn f() { made!(); above!(); println!() }"),
        ]);
        assert_eq!(found, ["a.rs -> b.rs", "b.rs -> a.rs", "c.rs -> a.rs", "c.rs -> lib.rs"]);
    }

    #[test]
    fn traits_are_needed_for_their_methods() {
        let found = arrows(&[("lib.rs", "mod a; use a::T; use a::S;"), ("a.rs", "pub trait T {} pub struct S;")]);
        assert_eq!(found, ["lib.rs -> a.rs"]);
    }

    #[test]
    fn inline_modules_belong_to_their_file() {
        let found = arrows(&[
            ("lib.rs", "mod a; pub mod open { pub use crate::a::A; pub mod deep; }"),
            ("a.rs", "pub struct A;"),
            ("open/deep.rs", "use super::A; use super::super::a;"),
        ]);
        assert_eq!(found, ["open/deep.rs -> a.rs"]);
    }

    #[test]
    fn arrows_to_another_package_name_its_module_or_its_root() {
        let source =
            "use other_one::{A, b::C, d}; use std::e::F; fn f() { other_one::g(); } mod h { use other_one::*; }";
        let tree = Tree::load(&|_| Some(source.into())).unwrap();
        let arrows = tree.arrows_to("other-one");
        let found: Vec<_> = arrows.iter().map(|arrow| arrow.to.as_str()).collect();
        assert_eq!(found, ["other-one", "other-one::*", "other-one::b"]);
    }

    #[test]
    fn a_missing_file_is_an_error() {
        let load = |name: &str| (name == "lib.rs").then(|| String::from("mod gone;"));
        assert!(Tree::load(&load).unwrap_err().contains("mod gone"));
    }
}
