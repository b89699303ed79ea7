//! The macros `setters` and `option_setters` define methods of builders that set one value and return the builder.

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

/// Defines methods of a builder that forward to the methods with the same names of its field `options`, and return the builder.
#[doc(hidden)]
#[macro_export]
macro_rules! option_setters {
    ($(
        $(#[$attribute:meta])*
        fn $name:ident $([$($generics:tt)*])? ($($argument:ident: $type:ty),* $(,)?);
    )*) => { $(
        $(#[$attribute])*
        pub fn $name $(<$($generics)*>)? (mut self, $($argument: $type),*) -> Self {
            self.options = self.options.$name($($argument),*);
            self
        }
    )* };
}
