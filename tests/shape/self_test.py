"""Shows that `count` counts what it says, by a sample whose figures are known."""

import sys

from rust import Source, item_end, lines, mask, requires_test

SAMPLE = r'''//! A comment of the crate. // not code
#![doc = "Also a comment."]

/* a block /* in a block */ still a comment
   trait NotThis {} */
pub trait First {} // a trait

const ADDRESS: &str = "http://server.test/"; /* a comment behind code */
const RAW: &str = r##"
// a line of a string, "# and not its end

#[cfg(test)] mod not_a_module {
"##;
const BYTES: (&[u8], char, char, u8) = (b"//\"", '"', '\'', b'\\');

/// ```
/// trait NotThisEither {}
/// ```
#[inline(never)]
pub(crate) fn with<'a, F: Fn(&mut Context) -> u8>(self_: &'a mut ServerRequests, context: &mut Context<'_>, f: F) -> &'a str {
    let _ = "#[inline(never)]";
    if f(context) == b'{' { "}" } else { "\\" }
}

macro_rules! declare {
    ($name:ident) => {
        pub trait $name {
            #[inline(never)]
            fn name(&mut self, (a, b): (u8, u8), context: Context<'_>);
        }
    };
}

impl First for Thing {
    #[cfg(test)]
    fn only_in_tests(&self) -> [u8; 2] {
        [1, 2]
    }

    #[cfg(not(test))]
    fn only_without(&self, pairs: Map<u8, fn(&mut Context) -> u8>) {}
}

#[cfg(any(test, feature = "fake"))]
fn also_a_product(cx: &mut std::task::Context<'_>) {}

#[derive(Debug)]
#[cfg(all(test, unix))]
use std::{fs, io};

#[cfg(test)]
#[path = "elsewhere.rs"]
mod cases;
mod deep;

#[cfg(test)]
mod tests {
    mod nested {
        #[cfg(test)]
        mod deeper {
            trait NotCounted {}
            const BRACE: char = '}';
        }
        #[inline(never)]
        fn context(context: &mut Context<'_>) {}
    }
}

fn last() {}
'''

FILES = {
    "core/engine/Cargo.toml": '[package]\nname = "mcpwire-core"\n',
    "core/engine/src/lib.rs": SAMPLE,
    "core/engine/src/elsewhere.rs": "mod helper;\nfn a() {}\n",
    "core/engine/src/elsewhere/helper.rs": "fn b() {}\n",
    "core/engine/src/deep/mod.rs": "#[cfg(test)]\nmod fake;\nmod inner {\n    mod inside;\n}\npub struct Context;\npub struct ServerRequests;\n",
    "core/engine/src/deep/fake.rs": "// A comment.\nfn c() {}\n",
    "core/engine/src/deep/inner/inside.rs": "use core::task::{Context, Poll};\nfn poll(cx: &mut Context<'_>) {}\n",
    "core/engine/src/whole.rs": "#![cfg(test)]\nfn d() {}\n",
    "core/engine/tests/t.rs": "#[test]\nfn t() {}\n",
    "tests/src/lib.rs": "fn e() {}\n\n// A comment.\n",
    "adapters/new/Cargo.toml": '[package]\nname = "mcpwire-new"\n',
    "adapters/new/src/lib.rs": "fn f() {}\n" * 50,
    "tests/module_graph/layers.txt": "never a -> b\nnever a/ -> c but d e\nknown a b -> c d # why but\n",
}


def self_test(count):
    wrong = 0

    def same(what, actual, expected):
        nonlocal wrong
        if actual != expected:
            wrong += 1
            print(f"{what}: {actual!r} is not {expected!r}")

    product = Source(SAMPLE).product()
    same("a string is no comment", "const ADDRESS" in product and lines('let a = "//";\n') == 1, True)
    same("a comment is no code", lines(mask("/* a\n/* b */ c */ // d\n/// e\n")), 0)
    same("nested block comments", "NotThis" in product, False)
    same("doc tests", "NotThisEither" in product, False)
    same("code behind a comment", mask("/* a */ b // c").split(), ["b"])
    same("a raw string hides a test", "fn with" in product, True)
    same("a raw identifier is no raw string", mask('r#type; // "'), "r#type;     ")
    same("lifetimes and characters", mask("<'a, 'b> '\"' // c").split(), ["<'a,", "'b>", "___"])
    same("an unclosed block comment", mask("a /* b").split(), ["a"])
    same("quotes that are escaped", mask(r'"\"// a\\" // b').split(), ["_____", "____"])
    same("a nested test module", "NotCounted" in product or "deeper" in product, False)
    same("what follows a test module", "fn last" in product, True)
    same("a function for tests", "only_in_tests" in product, False)
    same("not(test)", "only_without" in product, True)
    same("any(test, ...)", "also_a_product" in product, True)
    same("all(test, ...)", "std::{fs, io}" in product or "derive" in product, False)
    for predicate, expected in {"test": True, "all(unix, test)": True, "any(test)": True, "not(test)": False, 'feature = "test"': False}.items():
        same(f"cfg({predicate})", requires_test(predicate), expected)
    same("a field", item_end("a: Map<u8, u8>, b: u8", 0), len("a: Map<u8, u8>,"))
    same("a where clause", item_end("fn a<T, U>() where T: A, U: B {} b", 0), len("fn a<T, U>() where T: A, U: B {}"))
    same("a constant with braces", item_end("const A: S = S { a: 1 }; b", 0), len("const A: S = S { a: 1 };"))
    same("a constant function", item_end("const fn a() {} b", 0), len("const fn a() {}"))

    result = count(FILES)
    row = result["groups"]["engine and clients"][0]
    # lib.rs: 1 trait, 1 + 6 constants (one line of the string is blank), 5 of `with`, 8 of the macro, 4 of the `impl`, 2 of
    # `also_a_product`, `mod deep` and `last`. deep/mod.rs has 5, inside.rs has 2.
    same("code", row["code"], 1 + 1 + 4 + 1 + 5 + 8 + 4 + 2 + 2 + 5 + 2)
    same("files", row["files"], 3)
    same("short files", row["below_50"], 2)
    same("traits", row["traits"], 2)
    same("inline(never)", row["inline_never"], 2)
    same("contexts", row["context"], 2)
    same("two &mut", row["several_mut"], 1)
    # elsewhere.rs, its helper, fake.rs, whole.rs and tests/t.rs.
    same("test files", row["test_files"], 5)
    same("another crate", [row["folder"] for row in result["groups"]["others"]], ["adapters/new"])
    same("a file that is not short", result["groups"]["others"][0]["below_50"], 0)
    total = result["total"]
    same("exceptions", (total["exceptions: known arrows"], total["exceptions: files behind `but`"]), (4, 2))
    same("lines of tests", total["test lines, with tests/"] - row["test_lines"], 3)
    same("code of tests", total["test code, with tests/"] - row["test_code"], 1)
    same("two contexts", total["signatures with two contexts"], 1)
    if wrong:
        sys.exit(f"{wrong} of the self-test's checks failed")
    print("the self-test passed")
