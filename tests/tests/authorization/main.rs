//! Authorization against the authorization server of the test kit, in simulated time: one test for each pain and requirement that the
//! official suite does not cover, named after it.

mod carriers;
mod hostile;
mod logins;
mod renewals;
