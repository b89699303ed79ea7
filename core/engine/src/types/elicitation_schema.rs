//! The schema of a form: a flat object of fields (2026-07-28, client/elicitation, "Requested Schema").

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::object::object;
use super::open_enum::open_enum;
use crate::json::Json;
use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};

object! {
    /// The fields of a form, in the server's order.
    pub struct FormSchema("a schema", tag "type" = "object") {
        /// The fields.
        always properties: FormFields = "properties",
        /// The names of the fields that must be filled in.
        or_default required: Vec<String> = "required",
    }
}

impl FormSchema {
    /// Iterates over the fields, each with whether it must be filled in.
    pub fn fields(&self) -> impl Iterator<Item = (&FormField, bool)> {
        let required: BTreeSet<&str> = self.required.iter().map(|name| &**name).collect();
        self.properties.0.iter().map(move |field| (field, required.contains(&*field.name)))
    }

    /// Returns the field of this name.
    pub fn field(&self, name: &str) -> Option<&FormField> {
        self.properties.0.iter().find(|field| field.name == name)
    }
}

/// A field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// The name of the field, under which the answer has its value.
    pub name: String,
    /// The values that the field takes.
    pub schema: FieldSchema,
}

impl FormField {
    /// Returns the name to show to people: the title if there is one, or else the name.
    pub fn display_name(&self) -> &str {
        self.schema.title().unwrap_or(&self.name)
    }
}

/// The fields of a form, in the server's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormFields(pub Vec<FormField>);

impl FromJson for FormFields {
    const EXPECTED: &'static str = "an object of fields";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'{') {
            return from_json::skip_mismatch(reader).map(Err);
        }
        let mut fields: Vec<FormField> = Vec::new();
        // If a name occurs twice, the last schema counts, in the place of the first.
        let mut places: BTreeMap<String, usize> = BTreeMap::new();
        reader.members(&mut |name, reader| {
            let schema = FieldSchema::of(reader.raw()?);
            if let Some(field) = places.get(name).and_then(|at| fields.get_mut(*at)) {
                field.schema = schema;
            } else {
                places.insert(name.into(), fields.len());
                fields.push(FormField { name: name.into(), schema });
            }
            Ok(())
        })?;
        Ok(Ok(FormFields(fields)))
    }
}

from_json::impl_deserialize!(FormFields);

impl Serialize for FormFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for field in &self.0 {
            map.serialize_entry(&field.name, &field.schema)?;
        }
        map.end()
    }
}

/// The values that a field takes (`PrimitiveSchemaDefinition`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum FieldSchema {
    /// A text.
    String(StringSchema),
    /// A number.
    Number(NumberSchema),
    /// A boolean.
    Boolean(BooleanSchema),
    /// One of several values.
    Enum(Box<EnumSchema>),
    /// Any number of several values (from 2025-11-25).
    MultiSelect(Box<MultiSelectSchema>),
    /// Any other schema, as JSON. Values of such a field are not checked.
    Unknown(Json),
}

object! {
    /// A field that takes a text.
    pub struct StringSchema("a schema", tag "type" = "string") {
        /// The name to show to people.
        optional title: String = "title",
        /// What the field is for.
        optional description: String = "description",
        /// The minimum number of characters.
        optional min_length: u64 = "minLength",
        /// The maximum number of characters.
        optional max_length: u64 = "maxLength",
        /// The format of the text.
        optional format: StringFormat = "format",
        /// The default value (from 2025-11-25).
        optional default: String = "default",
    }
}

open_enum! {
    /// The format of a text. A format that the specification does not define is not checked.
    pub enum StringFormat {
        /// An email address.
        #[default]
        Email = "email",
        /// An absolute URI (RFC 3986).
        Uri = "uri",
        /// A date, such as `2026-07-28` (RFC 3339).
        Date = "date",
        /// A date with time and zone, such as `2026-07-28T12:00:00Z` (RFC 3339).
        DateTime = "date-time",
    }
}

object! {
    /// A field that takes a number.
    pub struct NumberSchema("a schema", finish number_default) {
        /// Whether the number must be whole.
        always kind: NumberKind = "type",
        /// The name to show to people.
        optional title: String = "title",
        /// What the field is for.
        optional description: String = "description",
        /// The minimum.
        optional minimum: f64 = "minimum",
        /// The maximum.
        optional maximum: f64 = "maximum",
        /// The default value: a number, as the server wrote it (from 2025-11-25).
        optional default: Json = "default",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "`finish` may reject an object, and this one does not")]
fn number_default(schema: NumberSchema) -> Result<NumberSchema, Mismatch> {
    let is_number = |json: &Json| json.get().starts_with(|first: char| first == '-' || first.is_ascii_digit());
    Ok(NumberSchema { default: schema.default.filter(is_number), ..schema })
}

open_enum! {
    /// Which numbers a field takes.
    pub enum NumberKind {
        /// Any number.
        #[default]
        Number = "number",
        /// Whole numbers.
        Integer = "integer",
    }
}

object! {
    /// A field that takes a boolean.
    pub struct BooleanSchema("a schema", tag "type" = "boolean") {
        /// The name to show to people.
        optional title: String = "title",
        /// What the field is for.
        optional description: String = "description",
        /// The default value.
        optional default: bool = "default",
    }
}

object! {
    /// A field that takes one of several values. It covers the shapes of all revisions; [`EnumSchema::choices`] hides their
    /// differences.
    pub struct EnumSchema("a schema", tag "type" = "string") {
        /// The name to show to people.
        optional title: String = "title",
        /// What the field is for.
        optional description: String = "description",
        /// The values, without titles or with the titles of `enumNames`.
        or_default values: Vec<String> = "enum",
        /// The titles of the values (2025-06-18; later revisions have `oneOf`).
        or_default names: Vec<String> = "enumNames",
        /// The values with titles (from 2025-11-25).
        or_default one_of: Vec<EnumOption> = "oneOf",
        /// The default value (from 2025-11-25).
        optional default: String = "default",
    }
}

impl EnumSchema {
    /// Returns the values to choose from, each with its title. A value without a title is its own.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        choices(&self.values, &self.names, &self.one_of)
    }
}

object! {
    /// A value to choose, with a title.
    pub struct EnumOption("an option") {
        /// The value.
        required value: String = "const",
        /// The title, if the server sends one.
        optional title: String = "title",
    }
}

object! {
    /// A field that takes any number of several values (from 2025-11-25).
    pub struct MultiSelectSchema("a schema", tag "type" = "array") {
        /// The name to show to people.
        optional title: String = "title",
        /// What the field is for.
        optional description: String = "description",
        /// The minimum number of values.
        optional min_items: u64 = "minItems",
        /// The maximum number of values.
        optional max_items: u64 = "maxItems",
        /// The values to choose from.
        required items: MultiSelectItems = "items",
        /// The default value.
        optional default: Vec<String> = "default",
    }
}

object! {
    /// The values to choose from in a [`MultiSelectSchema`].
    pub struct MultiSelectItems("a schema") {
        /// The values without titles.
        or_default values: Vec<String> = "enum",
        /// The values with titles.
        or_default any_of: Vec<EnumOption> = "anyOf",
    }
}

impl MultiSelectSchema {
    /// Returns the values to choose from, each with its title. A value without a title is its own.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        choices(&self.items.values, &[], &self.items.any_of)
    }
}

fn choices<'a>(values: &'a [String], names: &'a [String], titled: &'a [EnumOption]) -> Vec<(&'a str, &'a str)> {
    // If the numbers of values and names differ, it is not known which name belongs to which value.
    let names = if names.len() == values.len() { names } else { &[] };
    let plain = values.iter().enumerate().map(move |(at, value)| (&**value, &**names.get(at).unwrap_or(value)));
    let titled = titled.iter().map(|option| (&*option.value, option.title.as_deref().unwrap_or(&option.value)));
    plain.chain(titled).collect()
}

impl FieldSchema {
    /// Returns the name to show to people, if the schema has one.
    pub fn title(&self) -> Option<&str> {
        match self {
            FieldSchema::String(schema) => schema.title.as_deref(),
            FieldSchema::Number(schema) => schema.title.as_deref(),
            FieldSchema::Boolean(schema) => schema.title.as_deref(),
            FieldSchema::Enum(schema) => schema.title.as_deref(),
            FieldSchema::MultiSelect(schema) => schema.title.as_deref(),
            FieldSchema::Unknown(_) => None,
        }
    }

    /// Returns what the field is for, if the schema says it.
    pub fn description(&self) -> Option<&str> {
        match self {
            FieldSchema::String(schema) => schema.description.as_deref(),
            FieldSchema::Number(schema) => schema.description.as_deref(),
            FieldSchema::Boolean(schema) => schema.description.as_deref(),
            FieldSchema::Enum(schema) => schema.description.as_deref(),
            FieldSchema::MultiSelect(schema) => schema.description.as_deref(),
            FieldSchema::Unknown(_) => None,
        }
    }

    /// Returns the default value, if there is one.
    pub fn default_value(&self) -> Option<Json> {
        match self {
            FieldSchema::String(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::Number(schema) => schema.default.clone(),
            FieldSchema::Boolean(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::Enum(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::MultiSelect(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::Unknown(raw) => {
                let default = raw.member_text("default").filter(|text| *text != "null")?;
                Some(Json::trusted(default))
            }
        }
    }

    /// Reads the schema of a field from JSON text. A schema of no known kind is kept as it is.
    fn of(raw: &str) -> FieldSchema {
        FieldSchema::known(raw).unwrap_or_else(|| FieldSchema::Unknown(Json::trusted(raw)))
    }

    fn known(raw: &str) -> Option<FieldSchema> {
        let json = Json::trusted(raw);
        let has = |name| json.member_text(name).is_some_and(|text| text.starts_with('['));
        let kind: Option<String> = json.member_text("type").and_then(from_json::from_str);
        match kind.as_deref() {
            // Some servers leave out the type of a choice of texts.
            Some("string") | None if has("enum") || has("oneOf") => {
                let schema: Box<EnumSchema> = from_json::from_str(raw)?;
                Some(schema).filter(|schema| !schema.choices().is_empty()).map(FieldSchema::Enum)
            }
            Some("string") => from_json::from_str(raw).map(FieldSchema::String),
            Some("number" | "integer") => from_json::from_str(raw).map(FieldSchema::Number),
            Some("boolean") => from_json::from_str(raw).map(FieldSchema::Boolean),
            Some("array") => {
                let schema: Box<MultiSelectSchema> = from_json::from_str(raw)?;
                Some(schema).filter(|schema| !schema.choices().is_empty()).map(FieldSchema::MultiSelect)
            }
            _ => None,
        }
    }
}

/// Writes a text, a boolean or a list of texts, which cannot fail.
fn json_of(value: &impl Serialize) -> Json {
    Json::from_value(value).unwrap_or_default()
}

impl FromJson for FieldSchema {
    const EXPECTED: &'static str = "a schema";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        Ok(Ok(FieldSchema::of(reader.raw()?)))
    }
}

from_json::impl_deserialize!(FieldSchema);

impl Serialize for FieldSchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FieldSchema::String(schema) => schema.serialize(serializer),
            FieldSchema::Number(schema) => schema.serialize(serializer),
            FieldSchema::Boolean(schema) => schema.serialize(serializer),
            FieldSchema::Enum(schema) => schema.serialize(serializer),
            FieldSchema::MultiSelect(schema) => schema.serialize(serializer),
            FieldSchema::Unknown(raw) => raw.serialize(serializer),
        }
    }
}
