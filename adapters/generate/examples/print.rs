//! Prints the module for a list of tools on standard input.
use std::io::Read as _;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut json = String::new();
    std::io::stdin().read_to_string(&mut json)?;
    print!("{}", mcpwire_generate::Module::from_json(&json)?.generate().source);
    Ok(())
}
