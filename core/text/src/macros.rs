//! [`setters!`] and [`named_enum!`] declare the parts of types that would otherwise be written once for each field or
//! variant.

/// Defines methods of a builder that set one field and return the builder. Use it inside of an `impl` block.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    ($( $(#[$attribute:meta])* fn $name:ident($($argument:ident: $type:ty),*) => $($field:ident).+ = $value:expr; )*) => { $(
        $(#[$attribute])*
        pub fn $name(mut self, $($argument: $type),*) -> Self {
            self.$($field).+ = $value;
            self
        }
    )* };
}

/// Declares an enum whose variants have names, a method that returns the name, and `Display`, which writes the name.
#[doc(hidden)]
#[macro_export]
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        pub enum $Name:ident { $( $(#[$variant_meta:meta])* $Variant:ident = $text:literal, )* }
        $(#[$method_meta:meta])*
        pub const fn $name:ident;
    ) => {
        $(#[$meta])*
        pub enum $Name { $( $(#[$variant_meta])* $Variant, )* }

        impl $Name {
            $(#[$method_meta])*
            pub const fn $name(self) -> &'static str {
                match self { $( $Name::$Variant => $text, )* }
            }
        }

        impl core::fmt::Display for $Name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.pad(self.$name())
            }
        }
    };
}
