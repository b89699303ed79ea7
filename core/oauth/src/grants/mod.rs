//! Grants for programs that act without a user's login in a browser: the extensions of the specification.

mod client_credentials;
mod enterprise;
mod workload;

pub use enterprise::{IdJag, IdJagRequest};
pub use workload::WorkloadGrant;
