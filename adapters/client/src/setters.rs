//! The macro `option_setters` defines methods of builders that set one option and return the builder.

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
