//! Takes the hub example out of the README, for a test that runs it on each runtime. Generates modules for lists of tools.

use std::env;
use std::fs;
use std::path::Path;

use mcpwire_generate::Module;

fn main() {
    let [readme, of_hub] = ["../README.md", "../adapters/hub/README.md"].map(|path| {
        println!("cargo::rerun-if-changed={path}");
        fs::read_to_string(path).expect("the README is there")
    });
    let mut blocks = readme.split("```rust,no_run\n").skip(1).filter_map(|rest| rest.split("```").next());
    let example = blocks.find(|block| block.contains("Hub::open")).expect("the README has an example of a hub");
    let with_crate = replaced(example, "mcpwire::hub::", "mcpwire_hub::");
    assert!(of_hub.contains(&with_crate), "the README of the hub has another example");
    let on_current_thread = replaced(example, "#[tokio::main]", "#[tokio::main(flavor = \"current_thread\")]");
    let on_smol = replaced(
        &replaced(example, "#[tokio::main]", ""),
        "HubOptions::new(",
        "HubOptions::on(mcpwire::hub::runtime::Smol, ",
    );
    let out = env::var("OUT_DIR").expect("cargo sets it");
    for (runtime, source) in [("multi_thread", example), ("current_thread", &on_current_thread), ("smol", &on_smol)] {
        let file = Path::new(&out).join(format!("readme_hub_{runtime}.rs"));
        fs::write(file, source).expect("it is written");
    }
    mcpwire_generate::compile_tools("../adapters/generate/tests/tools/demo.json").expect("a module is generated");
    // Without the warnings of `compile_tools`: many of these tools have arguments without a type.
    let odd = "../adapters/generate/tests/tools/odd.json";
    println!("cargo::rerun-if-changed={odd}");
    let odd = Module::from_json(&fs::read_to_string(odd).expect("the list is there")).expect("it is a list of tools");
    let odd = odd.tool_client("::mcpwire_tool_client").expect("a path").generate();
    fs::write(Path::new(&out).join("odd.rs"), odd.source).expect("it is written");
}

/// Replaces text that the example must have: otherwise a runtime would be tested that is not the one that is meant.
fn replaced(example: &str, from: &str, to: &str) -> String {
    assert!(example.contains(from), "the README's example of a hub has no `{from}`");
    example.replace(from, to)
}
