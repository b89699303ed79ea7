//! A pseudo-terminal, at which the test types.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::{Arc, Mutex};
use std::thread;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use super::wait_for;

/// A pseudo-terminal. `file` is its controlling side, which types and reads the screen.
pub(crate) struct Terminal {
    pub(crate) file: File,
    path: String,
}

impl Terminal {
    pub(crate) fn open() -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
        grantpt(&master).expect("it is granted");
        unlockpt(&master).expect("it is unlocked");
        let name = ptsname(&master, Vec::new()).expect("it has a name");
        let path = name.to_str().expect("a path of text").to_owned();
        Self { file: File::from(master), path }
    }

    /// Returns the side for a program.
    pub(crate) fn other_end(&self) -> OwnedFd {
        let mut options = File::options();
        // Otherwise it would become the terminal of a test program that leads a session, which would end with it.
        options.read(true).write(true).custom_flags(OFlags::NOCTTY.bits().cast_signed());
        OwnedFd::from(options.open(&self.path).expect("it opens"))
    }

    /// Collects the output on the screen as it arrives.
    pub(crate) fn screen(mut self) -> Screen {
        let screen = Screen::default();
        let shown = Arc::clone(&screen.0);
        thread::spawn(move || {
            let mut chunk = [0; 4096];
            // A closed terminal is read as an error.
            while let Ok(length @ 1..) = self.file.read(&mut chunk) {
                shown.lock().expect("nobody panics").extend_from_slice(&chunk[..length]);
            }
        });
        screen
    }
}

/// The output that a terminal has shown.
#[derive(Default)]
pub(crate) struct Screen(Arc<Mutex<Vec<u8>>>);

impl Screen {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("nobody panics")).into_owned()
    }

    /// Waits until the terminal has shown this text.
    pub(crate) fn wait_for(&self, what: &str) {
        wait_for(what, || self.text().contains(what).then_some(()));
    }
}
