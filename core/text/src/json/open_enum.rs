//! [`open_enum!`] declares the enumerations of the protocol. All of them accept undefined values, because later
//! revisions and vendors may add values.

/// Declares an enum that is a string in JSON. The added variant `Other` stands for any string that is not declared.
///
/// One variant must have the attribute `#[default]`.
#[macro_export]
macro_rules! open_enum {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$variant_meta:meta])* $Variant:ident = $text:literal, )* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$variant_meta])* $Variant, )*
            /// Any other string, which this version of the library does not define.
            Other(alloc::string::String),
        }

        impl $Name {
            /// Returns the string that represents the value in JSON.
            pub fn as_str(&self) -> &str {
                match self {
                    $( $Name::$Variant => $text, )*
                    $Name::Other(text) => text,
                }
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                match text {
                    $( $text => $Name::$Variant, )*
                    _ => $Name::Other(text.into()),
                }
            }
        }

        impl From<alloc::string::String> for $Name {
            fn from(text: alloc::string::String) -> Self {
                match $Name::from(text.as_str()) {
                    $Name::Other(_) => $Name::Other(text),
                    known => known,
                }
            }
        }

        impl core::fmt::Display for $Name {
            /// Writes the string that represents the value in JSON. An unknown string is written without terminal control
            /// sequences, because a server may have sent it.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $Name::Other(text) => core::fmt::Display::fmt(&$crate::printable(text), f),
                    known => f.pad(known.as_str()),
                }
            }
        }

        impl $crate::json::from_json::FromJson for $Name {
            const EXPECTED: &'static str = "a string";

            fn from_json(
                reader: &mut $crate::json::read::Reader<'_>,
            ) -> $crate::json::read::Result<Result<Self, $crate::json::from_json::Mismatch>> {
                match reader.next_byte() {
                    Some(b'"') => reader.string().map(|text| Ok($Name::from(&*text))),
                    _ => $crate::json::from_json::skip_mismatch(reader).map(Err),
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <alloc::string::String as serde::Deserialize>::deserialize(deserializer).map($Name::from)
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
