//! Words that the protocol chooses from, and those that it does not have yet.

/// Declares an open enumeration: its words, and a variant that keeps any other. The first word is the default.
macro_rules! words {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$word_meta:meta])* $Word:ident = $text:literal, )* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum $Name {
            $( $(#[$word_meta])* $Word, )*
            /// A word that the specification does not have.
            Other(alloc::string::String),
        }

        impl $Name {
            const WORDS: &'static [(&'static str, $Name)] = &[$( ($text, $Name::$Word), )*];

            /// As it stands on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $( $Name::$Word => $text, )*
                    $Name::Other(word) => word,
                }
            }
        }

        impl Default for $Name {
            fn default() -> Self {
                $Name::WORDS[0].1.clone()
            }
        }

        impl From<&str> for $Name {
            fn from(text: &str) -> Self {
                let known = $Name::WORDS.iter().find(|(word, _)| *word == text);
                known.map_or_else(|| $Name::Other(text.into()), |(_, word)| word.clone())
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&$crate::printable(self.as_str()), f)
            }
        }

        impl $crate::json::from_json::FromJson for $Name {
            const EXPECTED: &'static str = "a string";

            fn from_json(
                reader: &mut $crate::json::read::Reader<'_>,
            ) -> $crate::json::read::Result<core::result::Result<Self, $crate::json::from_json::Mismatch>> {
                let word = <alloc::string::String as $crate::json::from_json::FromJson>::from_json(reader)?;
                Ok(word.map(|word| $Name::from(word.as_str())))
            }
        }

        impl<'de> serde::Deserialize<'de> for $Name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::json::from_json::deserialize(deserializer)
            }
        }

        impl serde::Serialize for $Name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}
pub(crate) use words;
