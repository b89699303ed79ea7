//! Reads inputs of the registry: values with their requirements, and the variables in them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::HubError;
use crate::config::{EnvVarConfig, EnvVarSpec, InputFormat, check_literal, fill};
use crate::import::builder::Builder;
use crate::import::members::{either, items, text_of, wrong};

/// Maps the names of variables in a registry's `server.json` to the texts that refer to these variables in the hub's
/// configuration, such as `{name}`.
#[derive(Default)]
pub(super) struct Scope(BTreeMap<String, String>);

impl Scope {
    /// Adds the `variables` of an input in a `server.json` to this scope and to the configuration.
    pub(super) fn define(&mut self, builder: &mut Builder<'_>, variables: Option<&Value>) -> Result<(), HubError> {
        for (name, input) in variables.and_then(Value::as_object).into_iter().flatten() {
            let value = self::input(builder, name, input)?;
            let reference = builder.variable(name, &value);
            self.0.insert(name.clone(), reference);
        }
        Ok(())
    }

    /// Replaces each `{name}` in `text` by the reference to that variable in the hub's configuration. Unknown names stay as
    /// they are.
    pub(super) fn fill(&self, text: &str) -> String {
        fill(text, |name| self.0.get(name).cloned())
    }
}

/// Converts an input of a `server.json`, a value with its requirements, and applies the value that the user has entered.
pub(super) fn input(builder: &mut Builder<'_>, name: &str, input: &Value) -> Result<EnvVarConfig, HubError> {
    let of = |name: &str| text_of(input, name).map(str::to_owned);
    let is = |name: &str, before: &str| either(input, name, before) == Some(&Value::Bool(true));
    let format = match text_of(input, "format") {
        Some("number") => InputFormat::Number,
        Some("boolean") => InputFormat::Boolean,
        Some("filepath" | "file_path") => InputFormat::Filepath,
        _ => InputFormat::String,
    };
    let mut scope = Scope::default();
    scope.define(builder, input.get("variables"))?;
    let spec = EnvVarSpec {
        description: of("description"),
        is_required: is("isRequired", "is_required"),
        default: of("default"),
        placeholder: of("placeholder"),
        choices: items(input.get("choices")).filter_map(Value::as_str).map(str::to_owned).collect(),
        format,
        value: text_of(input, "value").map(|value| scope.fill(value)),
    };
    let mut value = EnvVarConfig::unset(name).is_secret(is("isSecret", "is_secret"));
    // If a variable in the value has the same name, the answer belongs to that variable.
    let is_within = scope.0.contains_key(name);
    match builder.options.answers.get(name).filter(|_| !is_within).cloned() {
        Some(answer) if value.is_secret && spec.value.is_none() => {
            check_literal(&spec, answer.expose()).map_err(|message| HubError::validation(name, message))?;
            value.secret_ref = Some(builder.keep(name, answer)?);
        }
        answer => value.value = answer.map(|answer| answer.expose().to_owned()),
    }
    Ok(value.spec(spec))
}

/// Converts an input of a `server.json` that contains its own `name`, such as an environment variable. Returns the name and the
/// value.
pub(super) fn key_value(
    builder: &mut Builder<'_>,
    input: &Value,
    field: &str,
) -> Result<(String, EnvVarConfig), HubError> {
    match text_of(input, "name") {
        Some(name) if !name.is_empty() => Ok((name.to_owned(), self::input(builder, name, input)?)),
        _ => wrong(field, "a name is required"),
    }
}
