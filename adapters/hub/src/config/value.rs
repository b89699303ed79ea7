//! A value that a server is given: itself, or where it is kept.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A value for an environment variable, a header, or a variable in a text.
///
/// It is given directly (`value`), or by where it is kept (`secret_ref`), never by both. With neither, the default of its
/// [`spec`](EnvVarConfig::spec) is used, and if there is none, a value that is not required is left out. In a file, a plain
/// text stands for its `value`.
#[derive(Clone, Default, PartialEq, Eq, Serialize)]
pub struct EnvVarConfig {
    /// Its name, which is its key in the map, too.
    pub name: String,
    /// The value itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Where the value is kept: see [`SecretRef`](crate::secrets::SecretRef).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
    /// Whether the value is a secret, and must show nowhere.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_secret: bool,
    /// What a registry says about the value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<EnvVarSpec>,
}

impl EnvVarConfig {
    /// A value that is no secret.
    pub fn value(name: impl Into<String>, value: impl Into<String>) -> Self {
        EnvVarConfig { name: name.into(), value: Some(value.into()), ..EnvVarConfig::default() }
    }

    /// A secret that is kept elsewhere.
    #[expect(clippy::needless_pass_by_value, reason = "a reference to a text is a text, too")]
    pub fn secret(name: impl Into<String>, secret_ref: impl ToString) -> Self {
        let secret_ref = Some(secret_ref.to_string());
        EnvVarConfig { name: name.into(), secret_ref, is_secret: true, ..EnvVarConfig::default() }
    }

    /// Adds what a registry says about the value.
    pub fn spec(mut self, spec: EnvVarSpec) -> Self {
        self.spec = Some(spec);
        self
    }

    /// The text that the value is, if it is not kept elsewhere: what the registry fixes, what was given, or the default.
    pub fn literal(&self) -> Option<&str> {
        if self.secret_ref.is_some() {
            return None;
        }
        let spec = self.spec.as_ref();
        let fixed = spec.and_then(|spec| spec.value.as_deref());
        fixed.or(self.value.as_deref()).or(self.fallback())
    }

    /// What stands in for a value that is not to be had.
    pub fn fallback(&self) -> Option<&str> {
        self.spec.as_ref().and_then(|spec| spec.default.as_deref())
    }

    /// Whether the server cannot be started without it. A value without a spec is required: nobody would name it otherwise.
    pub fn is_required(&self) -> bool {
        self.spec.as_ref().is_none_or(|spec| spec.is_required)
    }
}

impl fmt::Debug for EnvVarConfig {
    /// Shows no value: whether it is a secret is known by people better than by flags.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EnvVarConfig")
            .field("name", &self.name)
            .field("value", &self.value.as_ref().map(|_| format_args!("…")))
            .field("secret_ref", &self.secret_ref)
            .field("is_secret", &self.is_secret)
            .finish_non_exhaustive()
    }
}

impl<'de> Deserialize<'de> for EnvVarConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextOrObject)
    }
}

struct TextOrObject;

impl<'de> Visitor<'de> for TextOrObject {
    type Value = EnvVarConfig;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or an object with a `value` or a `secret_ref`")
    }

    fn visit_str<E>(self, value: &str) -> Result<EnvVarConfig, E> {
        Ok(EnvVarConfig { value: Some(value.to_owned()), ..EnvVarConfig::default() })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<EnvVarConfig, A::Error> {
        #[derive(Deserialize)]
        struct Members {
            #[serde(default)]
            name: String,
            value: Option<String>,
            secret_ref: Option<String>,
            #[serde(default)]
            is_secret: bool,
            spec: Option<EnvVarSpec>,
        }
        let Members { name, value, secret_ref, is_secret, spec } =
            Members::deserialize(MapAccessDeserializer::new(map))?;
        Ok(EnvVarConfig { name, value, secret_ref, is_secret, spec })
    }
}

/// What a registry says about a value: the `KeyValueInput` of its `server.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnvVarSpec {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether the server needs it.
    #[serde(skip_serializing_if = "is_false")]
    pub is_required: bool,
    /// What is used when nothing is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// An example, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placeholder: Option<String>,
    /// All values that are allowed; any value if it is empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What the value must look like.
    #[serde(skip_serializing_if = "InputFormat::is_string")]
    pub format: InputFormat,
    /// The value, where the registry fixes it: nobody may give another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// What a value must look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum InputFormat {
    /// Any text.
    #[default]
    String,
    /// A number, as JSON writes it.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A path.
    Filepath,
}

impl InputFormat {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    fn is_string(&self) -> bool {
        *self == InputFormat::String
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}
