//! A login that was interrupted goes on with the next `mcpwire login`.
#![cfg(target_os = "linux")]

use rustix::process::Signal;

use crate::support::Finished;
use crate::support::configured::with_input;
use crate::support::guarded::{Guarded, answer, login_page, visit};

/// Starts a login, and kills the program. Returns the URL of the login page.
fn kill_a_login(guarded: &Guarded) -> String {
    let running = guarded.begin(&["login", "notes"]);
    let page = login_page(&running);
    running.signal(Signal::KILL);
    assert_eq!(running.finish().status.code(), None);
    page
}

fn paste(guarded: &Guarded, arguments: &[&str], address: &str) -> Finished {
    with_input(guarded.place(), arguments, address)
}

#[test]
fn the_first_tab_of_the_browser_finishes_the_second_login() {
    let guarded = Guarded::start().configured();
    let first = kill_a_login(&guarded);
    let second = guarded.begin(&["login", "notes"]);
    assert_eq!(login_page(&second), first);
    assert_eq!(visit(&answer(&first)).status, 200);
    let finished = second.finish();
    assert_eq!(finished.code(), 0, "{finished:?}");
    assert_eq!(guarded.run(&["call", "notes__echo"]).stdout, "hi\n");
}

#[test]
fn the_address_of_the_first_tab_can_be_pasted() {
    let guarded = Guarded::start().configured();
    let address = answer(&kill_a_login(&guarded));
    let finished = paste(&guarded, &["login", "notes", "--no-browser"], &address);
    assert_eq!(finished.code(), 0, "{finished:?}");
    // A response is good for one login.
    let again = paste(&guarded, &["login", "notes", "--no-browser"], &address);
    assert_eq!(again.code(), 4, "{again:?}");
    assert_eq!(guarded.run(&["call", "notes__echo"]).stdout, "hi\n");
}

#[test]
fn a_restart_forgets_the_login_and_the_client() {
    let guarded = Guarded::start().configured();
    let first = kill_a_login(&guarded);
    let running = guarded.begin(&["login", "notes", "--restart"]);
    let second = login_page(&running);
    assert_ne!(second, first);
    assert_eq!(guarded.authorization.clients().len(), 2);
    assert_eq!(visit(&answer(&second)).status, 200);
    assert_eq!(running.finish().code(), 0);
}
