//! The shape that all objects of the protocol share: known members, each read leniently, and the rest kept as it came.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::de::{DeserializeSeed, Deserializer, Visitor};

use crate::json::Json;

/// The members of an object that this version of the library does not know, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extra(Vec<(String, Json)>);

impl Extra {
    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Drops those whose value is null, of the names that are known.
    pub(crate) fn drop_nulls(&mut self, known: impl Fn(&str) -> bool) {
        self.0.retain(|(name, value)| value.get() != "null" || !known(name));
    }

    /// All of them as one object.
    pub(crate) fn to_json(&self) -> Json {
        let mut text = String::from("{");
        for (name, value) in &self.0 {
            if text.len() > 1 {
                text.push(',');
            }
            text.push_str(Json::from_value(name).unwrap_or_default().get());
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        Json::trusted(text)
    }

    /// Adds a member, to be sent along.
    pub fn push(&mut self, name: impl Into<String>, value: Json) {
        self.0.push((name.into(), value));
    }
}

/// Reads a key: one of those that `of` knows, or the name of another.
pub(crate) struct KeySeed<K>(pub(crate) fn(&str) -> Option<K>);

pub(crate) enum Found<K> {
    Known(K),
    Unknown(String),
}

impl<'de, K> DeserializeSeed<'de> for KeySeed<K> {
    type Value = Found<K>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Found<K>, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<K> Visitor<'_> for KeySeed<K> {
    type Value = Found<K>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Found<K>, E> {
        Ok(match (self.0)(key) {
            Some(known) => Found::Known(known),
            None => Found::Unknown(key.into()),
        })
    }
}

/// Declares an object of the protocol.
///
/// Each member is `required` (without it the object is rejected), `optional` (an `Option`; `null` and values of another
/// type count as absent), `or_default` (the type's default stands for the same, and is not written) or `or_blank` (the
/// default stands for the same, and is written: the specification wants the member). `finish` names a function that has
/// the last word on the object.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident($expected:literal $(, finish $finish:expr)?) {
            $( $(#[$field_meta:meta])* $how:ident $field:ident: $ty:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$field_meta])* pub $field: $crate::types::object::object!(@type $how $ty), )*
            /// Members that this version of the library does not know.
            pub extra: $crate::types::Extra,
        }

        const _: () = {
            use $crate::types::lenient::{Hope, Lenient, Mismatch, mismatch};
            use $crate::types::object::{Found, KeySeed};
            use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};

            #[allow(non_camel_case_types)]
            enum Key { $( $field, )* }

            fn key(name: &str) -> Option<Key> {
                match name {
                    $( $key => Some(Key::$field), )*
                    _ => None,
                }
            }

            struct ObjectVisitor;

            impl<'de> Visitor<'de> for ObjectVisitor {
                type Value = Result<$Name, Mismatch>;

                fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                    f.write_str($expected)
                }

                fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                    $( let mut $field: Option<$crate::types::object::object!(@slot $how $ty)> = None; )*
                    let mut extra = $crate::types::Extra::default();
                    while let Some(found) = map.next_key_seed(KeySeed(key))? {
                        match found {
                            $( Found::Known(Key::$field) => {
                                let value = map.next_value_seed(Hope::<$ty>::new())?;
                                $field = $crate::types::object::object!(@keep $how value);
                            } )*
                            Found::Unknown(name) => extra.push(name, map.next_value()?),
                        }
                    }
                    let object = $Name {
                        $( $field: $crate::types::object::object!(@finish $how $field $key $ty), )*
                        extra,
                    };
                    $( return Ok($finish(object)); )?
                    #[allow(unreachable_code)]
                    Ok(Ok(object))
                }

                mismatch!(bool number string null array);
            }

            impl<'de> Lenient<'de> for $Name {
                const EXPECTED: &'static str = $expected;

                fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Result<Self, Mismatch>, D::Error> {
                    deserializer.deserialize_any(ObjectVisitor)
                }
            }

            /// From JSON text in memory (`serde_json::from_str`, [`Json::decode`](crate::Json::decode)).
            impl<'de> serde::Deserialize<'de> for $Name {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    Self::lenient(deserializer)?.map_err(|mismatch| D::Error::custom(mismatch.reason($expected)))
                }
            }

            impl serde::Serialize for $Name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeMap;
                    let mut map = serializer.serialize_map(None)?;
                    $( $crate::types::object::object!(@write $how $ty, self $field $key map); )*
                    for (name, value) in self.extra.iter() {
                        map.serialize_entry(name, value)?;
                    }
                    map.end()
                }
            }
        };
    };

    (@type optional $ty:ty) => { Option<$ty> };
    (@type $how:ident $ty:ty) => { $ty };

    (@slot required $ty:ty) => { Result<$ty, $crate::types::lenient::Mismatch> };
    (@slot $how:ident $ty:ty) => { $ty };

    (@keep required $value:ident) => { Some($value) };
    (@keep $how:ident $value:ident) => { $value.ok() };

    (@finish required $field:ident $key:literal $ty:ty) => {
        match $field {
            Some(Ok(value)) => value,
            Some(Err(mismatch)) => {
                let reason = mismatch.reason(<$ty as $crate::types::lenient::Lenient<'de>>::EXPECTED);
                let reason = alloc::format!(concat!("`", $key, "` is {}"), reason).into();
                return Ok(Err(Mismatch::Object { reason, name: None }));
            }
            None => {
                let reason = concat!("`", $key, "` is missing").into();
                return Ok(Err(Mismatch::Object { reason, name: None }));
            }
        }
    };
    (@finish optional $field:ident $key:literal $ty:ty) => { $field };
    (@finish or_blank $field:ident $key:literal $ty:ty) => { $field.unwrap_or_default() };
    (@finish or_default $field:ident $key:literal $ty:ty) => { $field.unwrap_or_default() };

    (@write required $ty:ty, $self:ident $field:ident $key:literal $map:ident) => { $map.serialize_entry($key, &$self.$field)?; };
    (@write or_blank $ty:ty, $self:ident $field:ident $key:literal $map:ident) => { $map.serialize_entry($key, &$self.$field)?; };
    (@write optional $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        if let Some(value) = &$self.$field {
            $map.serialize_entry($key, value)?;
        }
    };
    (@write or_default $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        if $self.$field != <$ty>::default() {
            $map.serialize_entry($key, &$self.$field)?;
        }
    };
}
pub(crate) use object;
