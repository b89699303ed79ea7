//! [`object!`](crate::object) declares the JSON objects of the protocol. Defined members become fields. [`Extra`] contains all other
//! members.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

use serde::{Serialize, Serializer};

use super::from_json::FromJson;
use super::read::{self, Reader};
use super::{Json, JsonText};

/// Members of a protocol object for which its Rust type has no field, in the order in which they were received or
/// added.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extra(Option<Members>);

// Behind a pointer, because every object has an `Extra`, but few objects have members in it. The drop glue of an `Arc`
// is compiled once. That of a `Box` would be inlined into each object type, 15 KiB in total.
type Members = Arc<Vec<(String, Json)>>;

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Serialize for Extra {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl Extra {
    /// Returns the value of the member `name`, or `None` if it is absent.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Iterates over the members, as pairs of name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members().iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Returns whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// Appends a member, which is serialized together with the other members. Does not replace a member with the same
    /// name.
    pub fn push(&mut self, name: impl Into<String>, value: Json) {
        Arc::make_mut(self.0.get_or_insert_default()).push((name.into(), value));
    }

    fn members(&self) -> &[(String, Json)] {
        self.0.as_ref().map_or(&[], |members| members)
    }
}

/// Reads the value of the member `name`, and adds the member to `extra`.
pub fn read_extra(extra: &mut Extra, name: &str, reader: &mut Reader<'_>) -> read::Result<()> {
    extra.push(name, reader.json()?);
    Ok(())
}

/// Returns the members as a JSON object.
pub fn to_json(members: &Extra) -> Json {
    // The text may have line breaks between tokens, as that of the values. Serializing strings to memory cannot fail.
    Json::trusted(serde_json::to_string(members).unwrap_or_default())
}

/// Declares a JSON object of the protocol: a struct that can be deserialized and serialized.
///
/// The declaration of each member begins with a keyword. The keyword determines what happens if the value of the member
/// is missing, that is, absent, `null` or of the wrong type:
///
/// | keyword | type of the field | if the value is missing | when the member is written |
/// |---|---|---|---|
/// | `required` | `T` | the object is rejected | always |
/// | `optional` | `Option<T>` | `None` | if it is `Some` |
/// | `or_default` | `T` | `T::default()` | if it is not the default |
/// | `always` | `T` | `T::default()` | always, because the specification requires the member |
///
/// The keyword `result_type` is for the member `resultType`. It is as `optional`, but the text of a value of the wrong type is
/// kept, so that `finish` can reject the result.
///
/// `[kept]` before a keyword: a value of the wrong type goes to `extra` unless it is `null`, and is written from there. With
/// `required`, only the writing differs.
///
/// The text in parentheses names the expected value in error messages. `tag` adds a member with a constant value: the
/// member is written first, and is ignored when the object is read; after `==`, another value rejects the object. `finish`
/// names a function that receives each object after it was read, and may change or reject the object.
#[macro_export]
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident($expected:literal $(, tag $tag:literal $equals:tt $text:literal)? $(, finish $finish:expr)?) {
            $( $(#[$field_meta:meta])* $([$kept:ident])? $presence:ident $field:ident: $ty:ty = $key:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        #[non_exhaustive]
        pub struct $Name {
            $( $(#[$field_meta])* pub $field: $crate::object!(@type $presence $ty), )*
            /// Additional members of the JSON object, which this version of the library does not define.
            pub extra: $crate::json::Extra,
        }

        const _: () = {
            use $crate::json::from_json::{self, FromJson, Mismatch};
            use $crate::json::read::{self, Reader};

            impl FromJson for $Name {
                const EXPECTED: &'static str = $expected;

                fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
                    if reader.next_byte() != Some(b'{') {
                        return from_json::skip_mismatch(reader).map(Err);
                    }
                    // Values are stored in the object at once, so that there is only one value to drop if reading
                    // fails.
                    let mut object = $Name::default();
                    $( $crate::object!(@state_tag $equals tag); )?
                    $( $crate::object!(@state $presence $field); )*
                    reader.members(&mut |name, reader| match name {
                        $( $tag => $crate::object!(@read_tag $equals $text, tag reader), )?
                        $( $key => $crate::object!(@read $([$kept])? $presence $ty, object $field $key reader), )*
                        _ => $crate::json::object::read_extra(&mut object.extra, name, reader),
                    })?;
                    $( $crate::object!(@check_tag $equals $tag $text tag); )?
                    $( $crate::object!(@check $presence $field $key $ty); )*
                    $( return Ok($finish(object)); )?
                    #[allow(unreachable_code)]
                    Ok(Ok(object))
                }
            }

            $crate::impl_deserialize!($Name);

            impl serde::Serialize for $Name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeMap;
                    let mut map = serializer.serialize_map(None)?;
                    $( map.serialize_entry($tag, $text)?; )?
                    $( $crate::object!(@write $([$kept])? $presence $ty, self $field $key map); )*
                    for (name, value) in self.extra.iter() {
                        map.serialize_entry(name, value)?;
                    }
                    map.end()
                }
            }
        };
    };

    (@type optional $ty:ty) => { Option<$ty> };
    (@type result_type $ty:ty) => { Option<$ty> };
    (@type $presence:ident $ty:ty) => { $ty };

    (@state_tag = $state:ident) => {};
    (@state_tag == $state:ident) => { let mut $state = true; };
    (@read_tag = $text:literal, $state:ident $reader:ident) => { $reader.skip() };
    (@read_tag == $text:literal, $state:ident $reader:ident) => {{
        $state = String::from_json($reader)?.is_ok_and(|text| text == $text);
        Ok(())
    }};
    (@check_tag = $tag:literal $text:literal $state:ident) => {};
    (@check_tag == $tag:literal $text:literal $state:ident) => {
        if !$state {
            return Ok(Err(Mismatch::object(concat!("`", $tag, "` is not `", $text, "`"))));
        }
    };

    (@state required $field:ident) => { let mut $field: from_json::RequiredMember = None; };
    (@state $presence:ident $field:ident) => {};

    (@read required $ty:ty, $object:ident $field:ident $key:literal $reader:ident) => {
        from_json::required_member(&mut $object.$field, &mut $field, $reader)
    };
    (@read optional $ty:ty, $object:ident $field:ident $key:literal $reader:ident) => {
        from_json::optional_member(&mut $object.$field, $reader)
    };
    (@read result_type $ty:ty, $object:ident $field:ident $key:literal $reader:ident) => {
        from_json::result_type_member(&mut $object.$field, $reader)
    };
    (@read [kept] required $($rest:tt)*) => { $crate::object!(@read required $($rest)*) };
    (@read [kept] $presence:ident $ty:ty, $object:ident $field:ident $key:literal $reader:ident) => {
        $crate::json::object::kept_member::<$ty, _>(&mut $object.$field, &mut $object.extra, $key, $reader)
    };
    (@read $presence:ident $ty:ty, $object:ident $field:ident $key:literal $reader:ident) => {
        from_json::default_member(&mut $object.$field, $reader)
    };

    (@check required $field:ident $key:literal $ty:ty) => {
        if let Some(mismatch) = from_json::check_required($key, <$ty as FromJson>::EXPECTED, $field) {
            return Ok(Err(mismatch));
        }
    };
    (@check $presence:ident $field:ident $key:literal $ty:ty) => {};

    (@write [kept] $presence:ident $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        if $self.extra.get($key).is_none() {
            $crate::object!(@write $presence $ty, $self $field $key $map);
        }
    };
    (@write required $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        $map.serialize_entry($key, &$self.$field)?;
    };
    (@write always $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        $map.serialize_entry($key, &$self.$field)?;
    };
    (@write optional $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        if let Some(value) = &$self.$field {
            $map.serialize_entry($key, value)?;
        }
    };
    (@write result_type $($rest:tt)*) => { $crate::object!(@write optional $($rest)*) };
    (@write or_default $ty:ty, $self:ident $field:ident $key:literal $map:ident) => {
        if $self.$field != <$ty>::default() {
            $map.serialize_entry($key, &$self.$field)?;
        }
    };
}

/// Reads the value of the member `name` into `place`. A value that is not a `T` goes to `extra` instead, unless it is
/// `null`.
pub fn kept_member<T: FromJson, Place: From<T>>(
    place: &mut Place,
    extra: &mut Extra,
    name: &str,
    reader: &mut Reader<'_>,
) -> read::Result<()> {
    reader.next_byte();
    let start = reader.position();
    match T::from_json(reader)? {
        Ok(value) => *place = value.into(),
        Err(_) if reader.since(start) == "null" => {}
        Err(_) => extra.push(name, Json::trusted(reader.since(start))),
    }
    Ok(())
}
