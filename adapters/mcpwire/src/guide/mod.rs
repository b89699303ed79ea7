//! A guide to mcpwire, with one page for each task. All programs on the pages are compiled as tests. Programs that need no other
//! machine are also run.
//!
//! | page | task |
//! |---|---|
//! | [`quick_start`] | the first program |
//! | [`http`] | servers at a URL: tokens, certificates, proxies |
//! | [`login`] | servers that require a login |
//! | [`many_servers`] | configured servers, and one list of tools |
//! | [`agents`] | tools for language models, and the trait `ToolClient` |
//! | [`when_things_fail`] | the kinds of errors, and how a program reacts to each |
//! | [`security`] | what a server can do to a program, and how the client limits it |
//! | [`testing`] | tests without a process, a network or a clock: scripted servers, property tests, HTTP, logins |
//! | [`embedding`] | clients on other runtimes, and the protocol engine without a client |
//! | [`from_rmcp`] | how to port a program from rmcp |

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
