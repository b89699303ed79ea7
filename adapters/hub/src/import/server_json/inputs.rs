//! Inputs: values with what the registry says about them, and the variables within them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::super::builder::Builder;
use super::super::members::{either, list, text_of};
use crate::HubError;
use crate::config::{EnvVarConfig, EnvVarSpec, InputFormat, fill};

/// Variables that a text may refer to, and what they are called in the configuration.
#[derive(Default)]
pub(super) struct Scope(BTreeMap<String, String>);

impl Scope {
    /// Takes in the `variables` of an input.
    pub(super) fn define(&mut self, builder: &mut Builder<'_>, variables: Option<&Value>) -> Result<(), HubError> {
        for (name, input) in variables.and_then(Value::as_object).into_iter().flatten() {
            let value = self::input(builder, name, input)?;
            let reference = builder.variable(name, &value);
            self.0.insert(name.clone(), reference);
        }
        Ok(())
    }

    /// The text, with the variables as they are called in the configuration. Others stay as they are.
    pub(super) fn fill(&self, text: &str) -> String {
        let Ok(text) = fill::<std::convert::Infallible>(text, |name| Ok(self.0.get(name).cloned()));
        text
    }
}

/// An input of this name, with the answer that the user gave for it.
pub(super) fn input(builder: &mut Builder<'_>, name: &str, input: &Value) -> Result<EnvVarConfig, HubError> {
    let of = |name: &str| text_of(input, name).map(str::to_owned);
    let is = |name: &str, before: &str| either(input, name, before) == Some(&Value::Bool(true));
    let format = match text_of(input, "format") {
        Some("number") => InputFormat::Number,
        Some("boolean") => InputFormat::Boolean,
        Some("filepath" | "file_path") => InputFormat::Filepath,
        _ => InputFormat::String,
    };
    let choices = list(input, "choices").filter_map(Value::as_str).map(str::to_owned).collect();
    let mut scope = Scope::default();
    scope.define(builder, input.get("variables"))?;
    let fixed = of("value").map(|value| scope.fill(&value));
    let is_secret = is("isSecret", "is_secret");
    let spec = EnvVarSpec {
        description: of("description"),
        is_required: is("isRequired", "is_required"),
        default: of("default"),
        placeholder: of("placeholder"),
        choices,
        format,
        value: fixed,
    };
    let mut value = EnvVarConfig { name: name.to_owned(), is_secret, ..EnvVarConfig::default() };
    // An answer for a variable within the value is one for that variable.
    let is_within = input.get("variables").is_some_and(|variables| variables.get(name).is_some());
    if let Some(answer) = builder.options.answers.get(name).filter(|_| !is_within).cloned() {
        if is_secret && spec.value.is_none() {
            crate::config::check_literal(&spec, answer.expose())
                .map_err(|message| HubError::validation(name, message))?;
            value.secret_ref = Some(builder.keep(name, answer)?);
        } else {
            value.value = Some(answer.expose().to_owned());
        }
    }
    Ok(value.spec(spec))
}

/// An input with its name.
pub(super) fn key_value(
    builder: &mut Builder<'_>,
    input: &Value,
    field: &str,
) -> Result<(String, EnvVarConfig), HubError> {
    let name = text_of(input, "name").filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| HubError::validation(field, "A name is required"))?;
    Ok((name.to_owned(), self::input(builder, name, input)?))
}
