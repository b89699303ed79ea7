//! Generates modules in build scripts, from lists of tools in files.

use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::error::Error;
use crate::module::Module;

/// Generates the module for a list of tools in a file, for use in a build script. The file `tools/calc.json` becomes `calc.rs` in the
/// directory `OUT_DIR` of cargo. Returns the path.
///
/// The file is the output of `mcpwire tools SERVER --json`. `path` is relative to the directory of the package. Cargo runs the build
/// script again when the file changes, and shows a warning for each schema that has no type in Rust.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), mcpwire_generate::Error> {
///     mcpwire_generate::compile_tools("tools/calc.json")?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// If the file cannot be read or is not a list of tools, if the module cannot be written, or outside of a build script.
pub fn compile_tools(path: impl AsRef<Path>) -> Result<PathBuf, Error> {
    let path = path.as_ref();
    println!("cargo::rerun-if-changed={}", path.display());
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    compile_module(&module_of(path)?.server(&*stem), &format!("{stem}.rs"))
}

/// Writes a module to a file in the directory `OUT_DIR` of cargo, for use in a build script. Returns the path.
///
/// ```no_run
/// // build.rs
/// use mcpwire_generate::{Error, Module, compile_module};
///
/// fn main() -> Result<(), Error> {
///     println!("cargo::rerun-if-changed=tools/calc.json");
///     let tools = std::fs::read_to_string("tools/calc.json").expect("the list of tools is there");
///     compile_module(&Module::from_json(&tools)?.tool_client("::mcpwire_tool_client")?, "calc.rs")?;
///     Ok(())
/// }
/// ```
///
/// # Errors
/// If the file cannot be written, or outside of a build script.
pub fn compile_module(module: &Module, file_name: &str) -> Result<PathBuf, Error> {
    let directory =
        env::var_os("OUT_DIR").ok_or_else(|| Error::new("`OUT_DIR` is not set: this is no build script"))?;
    let generated = module.generate();
    for untyped in &generated.untyped {
        println!("cargo::warning={file_name}: tool {:?}: {}", untyped.tool, untyped.reason.replace('\n', " "));
    }
    let path = Path::new(&directory).join(file_name);
    fs::write(&path, generated.source).map_err(|error| Error::of_file("write", &path, &error))?;
    Ok(path)
}

fn module_of(path: &Path) -> Result<Module, Error> {
    let json = fs::read_to_string(path).map_err(|error| Error::of_file("read", path, &error))?;
    Module::from_json(&json).map_err(|error| Error::new(format!("{}: {error}", path.display())))
}
