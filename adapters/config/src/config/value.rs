//! [`EnvVarConfig`]: a value for a server, or the reference to a stored value. [`fill`] replaces the variables `{name}` in texts.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::settings::is_default;

/// The configured value of an environment variable of a server, of an HTTP header, or of a variable that replaces `{name}` in a
/// text.
///
/// Either `value` contains the value, or `secret_ref` refers to a stored secret; both must not be set. If neither is set, the
/// default of the [`spec`](EnvVarConfig::spec) applies. An optional value without a default is omitted. In a file, a plain
/// string is the `value`.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "TextOrObject")]
#[must_use = "a configuration has no effect until it is used"]
#[non_exhaustive]
pub struct EnvVarConfig {
    /// The name of the variable or header. It is also the key in the map that contains this value.
    pub name: String,
    /// The literal value. `None` if the value is a stored secret or is not configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The reference to a stored secret, such as `env:NAME`. See [`SecretRef`](crate::secrets::SecretRef).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
    /// Whether the value is secret. A secret value is never shown.
    #[serde(skip_serializing_if = "is_default")]
    pub is_secret: bool,
    /// The requirements of the server's registry for this value, such as a default or a format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<EnvVarSpec>,
}

impl EnvVarConfig {
    /// Creates a variable without a value, for which the default of the [`spec`](EnvVarConfig::spec) is used.
    pub fn unset(name: impl Into<String>) -> Self {
        EnvVarConfig { name: name.into(), ..EnvVarConfig::default() }
    }

    /// Creates a literal value that is not secret.
    pub fn value(name: impl Into<String>, value: impl Into<String>) -> Self {
        EnvVarConfig { name: name.into(), value: Some(value.into()), ..EnvVarConfig::default() }
    }

    /// Creates a value that is stored elsewhere as a secret. `secret_ref` is the reference to the secret, such as `env:NAME`.
    #[expect(clippy::needless_pass_by_value, reason = "a reference to a text is a text, too")]
    pub fn secret(name: impl Into<String>, secret_ref: impl ToString) -> Self {
        let secret_ref = Some(secret_ref.to_string());
        EnvVarConfig { name: name.into(), secret_ref, is_secret: true, ..EnvVarConfig::default() }
    }

    mcpwire_client::setters! {
        /// Sets whether the value is secret. [`EnvVarConfig::secret`] creates a secret value, the other constructors do not.
        fn is_secret(is_secret: bool) => is_secret = is_secret;

        /// Sets the requirements of the server's registry for this value.
        fn spec(spec: EnvVarSpec) => spec = Some(spec);
    }

    /// Returns the literal value: the value that the registry fixes, or else the configured value, or else the default. `None`
    /// if the value is a stored secret, or if there is no value.
    pub fn literal(&self) -> Option<&str> {
        if self.secret_ref.is_some() {
            return None;
        }
        let spec = self.spec.as_ref();
        let fixed = spec.and_then(|spec| spec.value.as_deref());
        fixed.or(self.value.as_deref()).or(self.fallback())
    }

    /// Returns the default value of the variable, as the server registry publishes it. The default is used if no other value is
    /// configured or stored.
    pub fn fallback(&self) -> Option<&str> {
        self.spec.as_ref().and_then(|spec| spec.default.as_deref())
    }

    /// Returns whether the server requires the value. A value for which no registry specifies requirements is always required,
    /// because the user has configured it on purpose.
    pub fn is_required(&self) -> bool {
        self.spec.as_ref().is_none_or(|spec| spec.is_required)
    }
}

impl fmt::Debug for EnvVarConfig {
    /// Formats the variable without its value, which may be secret even if `is_secret` is not set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvVarConfig")
            .field("name", &self.name)
            .field("value", &self.value.as_ref().map(|_| format_args!("…")))
            .field("secret_ref", &self.secret_ref)
            .field("is_secret", &self.is_secret)
            .finish_non_exhaustive()
    }
}

/// The member of a configuration that contains a value. Validation rules and error paths depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueGroup {
    EnvVars,
    Headers,
    Variables,
    InheritEnv,
    OAuth,
}

impl ValueGroup {
    /// Returns the path of the value `name` in the configuration, such as `env_vars.TOKEN`.
    pub(crate) fn path(self, name: &str) -> String {
        let group = match self {
            ValueGroup::EnvVars => "env_vars",
            ValueGroup::Headers => "headers",
            ValueGroup::Variables => "variables",
            ValueGroup::InheritEnv => "inherit_env",
            ValueGroup::OAuth => "oauth",
        };
        format!("{group}.{name}")
    }
}

/// The forms of an [`EnvVarConfig`] in JSON: a string, or an object.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a text, or an object with a `value` or a `secret_ref`")]
enum TextOrObject {
    Text(String),
    Object {
        #[serde(default)]
        name: String,
        value: Option<String>,
        secret_ref: Option<String>,
        #[serde(default)]
        is_secret: bool,
        spec: Option<EnvVarSpec>,
    },
}

impl From<TextOrObject> for EnvVarConfig {
    fn from(json: TextOrObject) -> Self {
        match json {
            TextOrObject::Text(value) => EnvVarConfig::value("", value),
            TextOrObject::Object { name, value, secret_ref, is_secret, spec } => {
                EnvVarConfig { name, value, secret_ref, is_secret, spec }
            }
        }
    }
}

/// The requirements of a server registry for a value: the `KeyValueInput` of the registry's `server.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct EnvVarSpec {
    /// A description of the value for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the server requires the value.
    #[serde(skip_serializing_if = "is_default")]
    pub is_required: bool,
    /// The value that is used if no other value is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// An example of a value to show to the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// The allowed values. If this list is empty, every value is allowed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// The format that the value must have.
    #[serde(skip_serializing_if = "is_default")]
    pub format: InputFormat,
    /// The fixed value. If this is set, the user cannot configure another value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// The format that a configured value must have, as a server registry specifies it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputFormat {
    /// Any text.
    #[default]
    String,
    /// A number in the syntax of JSON.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A path in the file system.
    Filepath,
}

/// Returns the names in braces in `text`, in order: `a` and `b` for `x{a}y{b}`. Braces without a valid name are skipped.
pub(crate) fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let mut names = Vec::new();
    fill(text, |name| {
        names.push(name);
        None
    });
    names.into_iter()
}

/// Replaces each `{name}` in `text` by the result of calling `value` with the name. If the result is `None`, `{name}` stays.
/// Inserted text is not searched for further names.
pub(crate) fn fill<'t>(text: &'t str, mut value: impl FnMut(&'t str) -> Option<String>) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let name = after.split_once('}').map(|(name, _)| name).filter(|name| is_variable_name(name));
        if let Some((name, value)) = name.and_then(|name| Some((name, value(name)?))) {
            filled.push_str(&value);
            rest = &after[name.len() + 1..];
        } else {
            filled.push('{');
            rest = after;
        }
    }
    filled + rest
}

/// Returns whether `text` is a valid name of a variable: letters, digits and `_-.`.
pub(crate) fn is_variable_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_replaced_once_and_all_else_stays() {
        for (text, expected) in [
            ("x{a}y{a}", "x{a}!y{a}!"),
            ("{b}", "{b}"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            ("{{a}}", "{{a}!}"),
            ("{a", "{a"),
            ("{}", "{}"),
            ("ä{a}ö", "ä{a}!ö"),
            ("", ""),
        ] {
            assert_eq!(fill(text, |name| (name == "a").then(|| "{a}!".to_owned())), expected, "{text}");
        }
        assert_eq!(names_in("{a}{ b }{c.d-e}").collect::<Vec<_>>(), ["a", "c.d-e"]);
    }
}
