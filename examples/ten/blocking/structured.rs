//! Decodes the structured content of a result into a type.

use mcpwire::blocking::open;
use mcpwire::{Error, McpServerDef};
use serde::Deserialize;

#[derive(Deserialize)]
struct Weather {
    temperature: i32,
    conditions: String,
}

pub(crate) fn run(def: &McpServerDef) -> Result<(), Error> {
    let mut client = open(def).wait()?;
    // A tool that fails, and content that does not fit the type, are errors here.
    let weather: Weather = client.call_tool("weather", [("city", "Lisbon")]).structured()?;
    println!("{} °C, {}", weather.temperature, weather.conditions);
    client.shutdown()?;
    Ok(())
}
