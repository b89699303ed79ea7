//! [`Recognised`]: what a command starts.

use crate::config::{McpPackage, McpPackageType};

/// What a command starts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Recognised {
    pub(super) package: McpPackage,
    pub(super) runtime_args: Vec<String>,
    pub(super) args: Vec<String>,
    /// Variables that the command itself sets, or passes on.
    pub(super) env: Vec<(String, Option<String>)>,
    pub(super) warning: Option<&'static str>,
}

/// What runs the package, if it is not what usually does.
pub(super) fn hint(program: &str, runner: &str, package_type: McpPackageType) -> Option<String> {
    let is_usual = program == runner && package_type.runtimes().first() == Some(&runner);
    (!is_usual).then(|| program.to_owned())
}
