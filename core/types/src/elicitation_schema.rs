//! The schema of a form: an object with fields, which cannot be nested. Specification: client/elicitation, "Requested
//! Schema".

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Serialize, Serializer};

use mcpwire_text::json::from_json::{self, FromJson, Mismatch};
use mcpwire_text::json::numeral::is_number;
use mcpwire_text::json::read::{self, Reader};
use mcpwire_text::json::{Json, JsonText};
use mcpwire_text::object;
use mcpwire_text::open_enum;

object! {
    /// The schema of a form: the form's fields, and which of them the user must fill in.
    pub struct FormSchema("a schema", tag "type" = "object") {
        /// The fields of the form. Empty if the server sent none.
        always properties: FormFields = "properties",
        /// Names of the fields that the user must fill in.
        or_default required: Vec<String> = "required",
    }
}

impl FormSchema {
    /// Iterates over the fields of the form. The `bool` beside each field is `true` if the user must fill in the field.
    pub fn fields(&self) -> impl Iterator<Item = (&FormField, bool)> {
        let required: BTreeSet<&str> = self.required.iter().map(|name| &**name).collect();
        self.properties.0.iter().map(move |field| (field, required.contains(&*field.name)))
    }

    /// Returns the field with the name `name`, or `None` if the form has no such field.
    pub fn field(&self, name: &str) -> Option<&FormField> {
        self.properties.0.iter().find(|field| field.name == name)
    }
}

/// A field of a form that a server asks the user to fill in.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FormField {
    /// Name of the field: the key of its value in [`ElicitResult::content`](crate::ElicitResult::content).
    pub name: String,
    /// The schema of the field's value.
    pub schema: FieldSchema,
}

impl FormField {
    /// Returns the title of the field, or the field's name if the schema has no title.
    pub fn display_name(&self) -> &str {
        self.schema.title().unwrap_or(&self.name)
    }
}

/// The fields of a form, in the order in which the server sent them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FormFields(pub Vec<FormField>);

impl FromJson for FormFields {
    const EXPECTED: &'static str = "an object of fields";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        if reader.next_byte() != Some(b'{') {
            return from_json::skip_mismatch(reader).map(Err);
        }
        let mut fields: Vec<FormField> = Vec::new();
        // If a name occurs twice, the last schema replaces the first one in its position.
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

mcpwire_text::impl_deserialize!(FormFields);

impl Serialize for FormFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|field| (&field.name, &field.schema)))
    }
}

/// The schema of a form field: the type of the field's value, and rules for the value.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
#[doc(alias = "PrimitiveSchemaDefinition")]
pub enum FieldSchema {
    /// The user enters a text.
    String(StringSchema),
    /// The user enters a number.
    Number(NumberSchema),
    /// The user answers yes or no.
    Boolean(BooleanSchema),
    /// The user chooses one value from a list.
    Enum(Box<EnumSchema>),
    /// The user chooses several values from a list (from protocol revision 2025-11-25).
    MultiSelect(Box<MultiSelectSchema>),
    /// A schema that the library cannot interpret, as the JSON that the server sent. The library accepts any value of
    /// such a field.
    Unknown(Json),
}

object! {
    /// Schema of a form field in which the user enters a text.
    pub struct StringSchema("a schema", tag "type" = "string") {
        /// Display name of the form field. If `None`, display the field's name ([`FormField::name`]).
        optional title: String = "title",
        /// Description of the form field, for display. `None` if the server sent none.
        optional description: String = "description",
        /// Minimum length of the text that the user enters, in characters. `None` means no minimum.
        optional min_length: u64 = "minLength",
        /// Maximum length of the text that the user enters, in characters. `None` means no maximum.
        optional max_length: u64 = "maxLength",
        /// Format that the text must have, such as an email address. `None` allows any text.
        optional format: StringFormat = "format",
        /// Default value of the form field (from protocol revision 2025-11-25). `None` if the field has no default
        /// value.
        optional default: String = "default",
    }
}

open_enum! {
    /// A text format that a form field may require, such as an email address.
    ///
    /// The library validates only the formats that it defines: for [`StringFormat::Other`], any text is valid.
    pub enum StringFormat {
        /// An email address.
        #[default]
        Email = "email",
        /// A URI with a scheme, such as `https://example.com` (RFC 3986).
        Uri = "uri",
        /// A date, such as `2026-07-28` (RFC 3339).
        Date = "date",
        /// A date with time and time zone, such as `2026-07-28T12:00:00Z` (RFC 3339).
        DateTime = "date-time",
    }
}

object! {
    /// Schema of a form field in which the user enters a number.
    pub struct NumberSchema("a schema", finish number_default) {
        /// Type of number that the form field accepts: any number, or only whole numbers.
        always kind: NumberKind = "type",
        /// Display name of the form field. If `None`, display the field's name ([`FormField::name`]).
        optional title: String = "title",
        /// Description of the form field, for display. `None` if the server sent none.
        optional description: String = "description",
        /// Minimum value of the number, inclusive. `None` means no minimum.
        optional minimum: f64 = "minimum",
        /// Maximum value of the number, inclusive. `None` means no maximum.
        optional maximum: f64 = "maximum",
        /// Default value of the form field, a JSON number (from protocol revision 2025-11-25). `None` if the field has
        /// no default value.
        optional default: Json = "default",
    }
}

#[expect(clippy::unnecessary_wraps, reason = "`finish` may reject an object, and this one does not")]
fn number_default(schema: NumberSchema) -> Result<NumberSchema, Mismatch> {
    Ok(NumberSchema { default: schema.default.filter(|json| is_number(json.get())), ..schema })
}

open_enum! {
    /// The type of number that a form field accepts.
    pub enum NumberKind {
        /// Any number, with or without a fraction.
        #[default]
        Number = "number",
        /// Only whole numbers.
        Integer = "integer",
    }
}

object! {
    /// Schema of a form field whose value is `true` or `false`.
    pub struct BooleanSchema("a schema", tag "type" = "boolean") {
        /// Display name of the form field. If `None`, display the field's name ([`FormField::name`]).
        optional title: String = "title",
        /// Description of the form field, for display. `None` if the server sent none.
        optional description: String = "description",
        /// Default value of the form field. `None` if the field has no default value.
        optional default: bool = "default",
    }
}

object! {
    /// Schema of a form field in which the user chooses one value from a list.
    ///
    /// The server sends the list in the member `enum` or in the member `oneOf`. [`EnumSchema::choices`] returns the
    /// list in both cases.
    #[doc(alias("SingleSelectEnumSchema", "TitledSingleSelectEnumSchema", "UntitledSingleSelectEnumSchema"))]
    #[doc(alias = "LegacyTitledEnumSchema")]
    pub struct EnumSchema("a schema", tag "type" = "string") {
        /// Display name of the form field. If `None`, display the field's name ([`FormField::name`]).
        optional title: String = "title",
        /// Description of the form field, for display. `None` if the server sent none.
        optional description: String = "description",
        /// The values that the user may choose; [`EnumSchema::names`] may contain their display names. Empty if the
        /// server sent [`EnumSchema::one_of`] instead.
        or_default values: Vec<String> = "enum",
        /// Display names of the values in [`EnumSchema::values`], in the same order. Ignored if there are more or fewer
        /// names than values.
        ///
        /// From protocol revision 2025-11-25 on, `oneOf` supersedes this list, but servers may still send it.
        or_default names: Vec<String> = "enumNames",
        /// The values that the user may choose, with display names (from protocol revision 2025-11-25). Empty if the
        /// server sent [`EnumSchema::values`] instead.
        or_default one_of: Vec<EnumOption> = "oneOf",
        /// Default value of the form field (from protocol revision 2025-11-25). `None` if the field has no default
        /// value.
        optional default: String = "default",
    }
}

impl EnumSchema {
    /// Returns the values that the user may choose in this form field, each as a pair of value and display name.
    ///
    /// If the server sent no display name for a value, the display name is the value itself.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        choices(&self.values, &self.names, &self.one_of)
    }
}

object! {
    /// One of the values that the user may choose in a form field, with its display name.
    pub struct EnumOption("an option") {
        /// The value that the client sends to the server if the user chooses this option.
        required value: String = "const",
        /// Display name of the option. If `None`, display [`EnumOption::value`].
        optional title: String = "title",
    }
}

object! {
    /// Schema of a form field in which the user chooses several values from a list (from revision 2025-11-25).
    #[doc(alias("MultiSelectEnumSchema", "TitledMultiSelectEnumSchema", "UntitledMultiSelectEnumSchema"))]
    pub struct MultiSelectSchema("a schema", tag "type" = "array") {
        /// Display name of the form field. If `None`, display the field's name ([`FormField::name`]).
        optional title: String = "title",
        /// Description of the form field, for display. `None` if the server sent none.
        optional description: String = "description",
        /// Minimum number of values that the user must select. `None` means no minimum.
        optional min_items: u64 = "minItems",
        /// Maximum number of values that the user may select. `None` means no maximum.
        optional max_items: u64 = "maxItems",
        /// The values that the user may choose in this form field.
        required items: MultiSelectItems = "items",
        /// Values of the form field that are selected at first. `None` if the field has no default value.
        optional default: Vec<String> = "default",
    }
}

object! {
    /// The values that the user may choose in a form field that accepts several values.
    ///
    /// The server sends the values in the member `enum` or in the member `anyOf`. [`MultiSelectSchema::choices`]
    /// returns them in both cases.
    pub struct MultiSelectItems("a schema") {
        /// The values that the user may choose, without display names. Empty if the server sent
        /// [`MultiSelectItems::any_of`] instead.
        or_default values: Vec<String> = "enum",
        /// The values that the user may choose, with display names. Empty if the server sent
        /// [`MultiSelectItems::values`] instead.
        or_default any_of: Vec<EnumOption> = "anyOf",
    }
}

impl MultiSelectSchema {
    /// Returns the values that the user may choose in this form field, each as a pair of value and display name.
    ///
    /// If the server sent no display name for a value, the display name is the value itself.
    pub fn choices(&self) -> Vec<(&str, &str)> {
        choices(&self.items.values, &[], &self.items.any_of)
    }
}

/// Returns the values that the user may choose, with display names: `values` with their `names`, then `titled`.
fn choices<'a>(values: &'a [String], names: &'a [String], titled: &'a [EnumOption]) -> Vec<(&'a str, &'a str)> {
    // If the lists differ in length, the names cannot be assigned to values.
    let names = if names.len() == values.len() { names } else { &[] };
    let plain = values.iter().enumerate().map(move |(at, value)| (&**value, &**names.get(at).unwrap_or(value)));
    let titled = titled.iter().map(|option| (&*option.value, option.title.as_deref().unwrap_or(&option.value)));
    plain.chain(titled).collect()
}

impl FieldSchema {
    /// Returns the title of the form field, or `None` if the schema has no title or is [`FieldSchema::Unknown`].
    pub fn title(&self) -> Option<&str> {
        self.labels().0
    }

    /// Returns the description of the form field, or `None` if the schema has no description or is
    /// [`FieldSchema::Unknown`].
    pub fn description(&self) -> Option<&str> {
        self.labels().1
    }

    /// Returns the title and the description of the field.
    fn labels(&self) -> (Option<&str>, Option<&str>) {
        let (title, description) = match self {
            FieldSchema::String(schema) => (&schema.title, &schema.description),
            FieldSchema::Number(schema) => (&schema.title, &schema.description),
            FieldSchema::Boolean(schema) => (&schema.title, &schema.description),
            FieldSchema::Enum(schema) => (&schema.title, &schema.description),
            FieldSchema::MultiSelect(schema) => (&schema.title, &schema.description),
            FieldSchema::Unknown(_) => return (None, None),
        };
        (title.as_deref(), description.as_deref())
    }

    /// Returns the default value of the form field, or `None` if the schema has no default value.
    pub fn default_value(&self) -> Option<Json> {
        match self {
            FieldSchema::String(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::Number(schema) => schema.default.clone(),
            FieldSchema::Boolean(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::Enum(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::MultiSelect(schema) => schema.default.as_ref().map(json_of),
            FieldSchema::Unknown(raw) => from_json::from_str(raw.member_text("default")?),
        }
    }

    fn of(raw: &str) -> FieldSchema {
        FieldSchema::known(raw).unwrap_or_else(|| FieldSchema::Unknown(Json::trusted(raw)))
    }

    fn known(raw: &str) -> Option<FieldSchema> {
        let json = Json::trusted(raw);
        let has = |name| json.member_text(name).is_some_and(|text| text.starts_with('['));
        let kind: Option<String> = json.member_text("type").and_then(from_json::from_str);
        match kind.as_deref() {
            // Some servers omit the `type` of a field with choices.
            Some("string") | None if has("enum") || has("oneOf") => {
                let schema = from_json::from_str::<Box<EnumSchema>>(raw);
                schema.filter(|schema| !schema.choices().is_empty()).map(FieldSchema::Enum)
            }
            Some("string") => from_json::from_str(raw).map(FieldSchema::String),
            Some("number" | "integer") => from_json::from_str(raw).map(FieldSchema::Number),
            Some("boolean") => from_json::from_str(raw).map(FieldSchema::Boolean),
            Some("array") => {
                let schema = from_json::from_str::<Box<MultiSelectSchema>>(raw);
                schema.filter(|schema| !schema.choices().is_empty()).map(FieldSchema::MultiSelect)
            }
            _ => None,
        }
    }
}

/// Returns the JSON of a string, a boolean or a list of strings. Serializing these cannot fail.
pub(crate) fn json_of(value: &(impl Serialize + ?Sized)) -> Json {
    Json::from_value(value).unwrap_or_default()
}

impl FromJson for FieldSchema {
    const EXPECTED: &'static str = "a schema";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        Ok(Ok(FieldSchema::of(reader.raw()?)))
    }
}

mcpwire_text::impl_deserialize!(FieldSchema);
