//! The shape that all objects of the protocol share: known members, each read leniently, and the rest kept as it came.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::mem::{self, ManuallyDrop};

use crate::json::Json;
use crate::json::append::push_string;
use crate::json::read::{self, Reader};

/// The members of an object that this version of the library does not know, in the order in which they came.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extra(ManuallyDrop<Option<Members>>);

/// Behind a pointer: all objects have the place for them, and few have any.
type Members = Box<Vec<(String, Json)>>;

/// All objects have one. Dropped by one function, it makes their own drops, of which a program has many copies, small.
impl Drop for Extra {
    #[inline]
    fn drop(&mut self) {
        free(self);
    }
}

/// Functions of this kind are known not to unwind: around their calls there is nothing to be cleaned up.
#[inline(never)]
extern "C" fn free(extra: &mut Extra) {
    drop(mem::take(&mut *extra.0));
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl Extra {
    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members().iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members().iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.members().is_empty()
    }

    /// Reads the value of a member that is not known.
    #[inline(never)]
    pub(crate) fn keep(&mut self, name: &str, reader: &mut Reader<'_>) -> read::Result<()> {
        let value = Json::trusted(reader.raw()?);
        self.push(name, value);
        Ok(())
    }

    /// All of them as one object.
    pub(crate) fn to_json(&self) -> Json {
        let mut text = Vec::from(*b"{");
        for (name, value) in self.members() {
            if text.len() > 1 {
                text.push(b',');
            }
            push_string(&mut text, name);
            text.push(b':');
            text.extend_from_slice(value.get().as_bytes());
        }
        text.push(b'}');
        Json::trusted(String::from_utf8(text).unwrap_or_default())
    }

    /// Adds a member, to be sent along.
    pub fn push(&mut self, name: impl Into<String>, value: Json) {
        self.0.get_or_insert_default().push((name.into(), value));
    }

    fn members(&self) -> &[(String, Json)] {
        self.0.as_ref().map_or(&[], |members| members)
    }
}

/// Declares an object of the protocol.
///
/// Each member is `required` (without it the object is rejected), `optional` (an `Option`; `null` and values of another
/// type count as absent), `or_default` (the type's default stands for the same, and is not written) or `or_blank` (the
/// default stands for the same, and is written: the specification wants the member). `tag` is a member that always has the
/// same text: it is written first, and whoever reads the object has looked at it already. `finish` names a function that
/// has the last word on the object.
macro_rules! object {
    (
        $(#[$meta:meta])*
        pub struct $Name:ident($expected:literal $(, tag $tag:literal = $text:literal)? $(, finish $finish:expr)?) {
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
            use $crate::json::read::{self, Reader};
            use $crate::json::from_json::{self, FromJson, Mismatch};

            impl FromJson for $Name {
                const EXPECTED: &'static str = $expected;

                fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
                    if reader.next_byte() != Some(b'{') {
                        return from_json::skip_mismatch(reader).map(Err);
                    }
                    // Each member goes to its place at once: there is one thing only to be given up on the way out.
                    let mut object = $Name::default();
                    $( $crate::types::object::object!(@state $how $field); )*
                    reader.members(&mut |name, reader| match name {
                        $( $tag => reader.raw().map(drop), )?
                        $( $key => $crate::types::object::object!(@read $how object $field reader), )*
                        _ => object.extra.keep(name, reader),
                    })?;
                    $( $crate::types::object::object!(@finish $how $field $key $ty); )*
                    $( return Ok($finish(object)); )?
                    #[allow(unreachable_code)]
                    Ok(Ok(object))
                }
            }

            /// From JSON text in memory (`serde_json::from_str`, [`Json::decode`](crate::Json::decode)).
            impl<'de> serde::Deserialize<'de> for $Name {
                fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    from_json::deserialize(deserializer)
                }
            }

            impl serde::Serialize for $Name {
                fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    use serde::ser::SerializeMap;
                    let mut map = serializer.serialize_map(None)?;
                    $( map.serialize_entry($tag, $text)?; )?
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

    (@state required $field:ident) => { let mut $field: from_json::RequiredMember = None; };
    (@state $how:ident $field:ident) => {};

    (@read required $object:ident $field:ident $reader:ident) => {
        from_json::required_member(&mut $object.$field, &mut $field, $reader)
    };
    (@read optional $object:ident $field:ident $reader:ident) => { from_json::optional_member(&mut $object.$field, $reader) };
    (@read $how:ident $object:ident $field:ident $reader:ident) => {
        from_json::default_member(&mut $object.$field, $reader)
    };

    (@finish required $field:ident $key:literal $ty:ty) => {
        if let Some(mismatch) = from_json::check_required($key, <$ty as FromJson>::EXPECTED, $field) {
            return Ok(Err(mismatch));
        }
    };
    (@finish $how:ident $field:ident $key:literal $ty:ty) => {};

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
