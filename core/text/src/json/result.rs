//! [`result!`](crate::result) declares the results of requests, which have in common the type of the result and cache
//! hints.

use super::from_json::Mismatch;
use crate::excerpt;

/// Returns an error if the `resultType` of a result is not `complete`: the members of other types of result may have
/// another meaning (specification: basic, "`ResultType`").
pub fn check_complete(result_type: Option<&str>) -> Result<(), Mismatch> {
    match result_type {
        // Servers send no type before protocol revision 2026-07-28.
        None | Some("complete") => Ok(()),
        Some(other) => {
            let other = excerpt(other.as_bytes());
            let reason = alloc::format!("a result of type {other:?}, which was not declared as understood");
            Err(Mismatch::member(reason, "resultType"))
        }
    }
}

/// Declares the result type of a request: an [`object!`](crate::object) with the additional members
/// `resultType` and `_meta`.
///
/// The keyword `cacheable` also adds the cache hints `ttlMs` and `cacheScope`.
#[macro_export]
macro_rules! result {
    ($(#[$meta:meta])* pub struct $Name:ident { $($own:tt)* }) => {
        $crate::result!(@object { $(#[$meta])* } $Name { $($own)* } {});
    };
    ($(#[$meta:meta])* pub cacheable struct $Name:ident { $($own:tt)* }) => {
        $crate::result!(@object { $(#[$meta])* } $Name { $($own)* } {
            /// Time for which the client may cache the result, in milliseconds after receipt (from protocol
            /// revision 2026-07-28). `None` if the server sent no valid time.
            optional ttl_ms: u64 = "ttlMs",
            /// Who may receive the cached result (from protocol revision 2026-07-28): everyone (`public`), or only
            /// requests with the same authorization (`private`). `None` means `private`.
            optional cache_scope: String = "cacheScope",
        });
    };
    (@object { $(#[$meta:meta])* } $Name:ident { $($own:tt)* } { $($cache:tt)* }) => {
        $crate::object! {
            $(#[$meta])*
            pub struct $Name(
                "an object",
                finish |result: $Name| $crate::json::result::check_complete(result.result_type.as_deref()).map(|()| result)
            ) {
                $($own)*
                /// `resultType` of the response: `complete`, or `None` if the server sent none (before protocol
                /// revision 2026-07-28).
                result_type result_type: String = "resultType",
                $($cache)*
                /// Additional metadata of the result (`_meta`).
                optional meta: Json = "_meta",
            }
        }
    };
}
