//! Words about tasks, and those that the protocol does not have yet.

/// Declares an open enumeration. Unlike [`words`](crate::types::words), one that serde reads in any format: handles of tasks are
/// stored.
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$variant_meta:meta])* $Variant:ident = $text:literal, )* }
    ) => {
        $(#[$meta])*
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$variant_meta])* $Variant, )*
            /// One that the specification does not have.
            Other(alloc::string::String),
        }

        impl $Name {
            /// As it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( $Name::$Variant => $text, )*
                    $Name::Other(name) => name,
                }
            }
        }

        impl From<alloc::string::String> for $Name {
            fn from(name: alloc::string::String) -> $Name {
                match &*name {
                    $( $text => $Name::$Variant, )*
                    _ => $Name::Other(name),
                }
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{}", $crate::printable(self.as_str()))
            }
        }

        impl $crate::json::from_json::FromJson for $Name {
            const EXPECTED: &'static str = "a string";

            fn from_json(
                reader: &mut $crate::json::read::Reader<'_>,
            ) -> $crate::json::read::Result<core::result::Result<Self, $crate::json::from_json::Mismatch>> {
                let name = <alloc::string::String as $crate::json::from_json::FromJson>::from_json(reader)?;
                Ok(name.map($Name::from))
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <alloc::string::String as serde::Deserialize>::deserialize(deserializer)?;
                Ok($Name::from(name))
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
pub(super) use open_enum;
