//! A guide: one page for each task. All programs of the pages are compiled, and those that need no other machine run.
//!
//! | page | task |
//! |---|---|
//! | [`quick_start`] | the first program |
//! | [`http`] | servers at a URL: tokens, certificates, proxies |
//! | [`login`] | servers that want a login |
//! | [`many_servers`] | configured servers, and one list of tools |
//! | [`agents`] | tools for language models, and the trait `ToolClient` |
//! | [`when_things_fail`] | which errors there are, and what to do |
//! | [`security`] | what a server may do, and what it may not |
//! | [`testing`] | tests without a process, a network or a clock: scripted servers, property tests, HTTP, logins |
//! | [`embedding`] | other runtimes, and the protocol engine by hand |
//! | [`from_rmcp`] | a program that uses rmcp |

#[doc = include_str!("quick_start.md")]
pub mod quick_start {}
#[doc = include_str!("http.md")]
pub mod http {}
#[doc = include_str!("login.md")]
pub mod login {}
#[doc = include_str!("many_servers.md")]
pub mod many_servers {}
#[doc = include_str!("agents.md")]
pub mod agents {}
#[doc = include_str!("when_things_fail.md")]
pub mod when_things_fail {}
#[doc = include_str!("security.md")]
pub mod security {}
#[doc = include_str!("testing.md")]
pub mod testing {}
#[doc = include_str!("embedding.md")]
pub mod embedding {}
#[doc = include_str!("from_rmcp.md")]
pub mod from_rmcp {}
