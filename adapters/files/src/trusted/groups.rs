//! [`is_private`]: finds out whether a Unix group has no other members than one user and the superuser.

use std::fs;

/// Returns whether only the user `uid` and the superuser are members of the group `gid`, according to `/etc/passwd` and
/// `/etc/group`.
///
/// Returns `false` for a group that these files do not contain, because it may have any members. Always returns `false` on Apple
/// systems, whose files do not contain the users.
pub(super) fn is_private(gid: u32, uid: u32) -> bool {
    let read = |path| fs::read_to_string(path).unwrap_or_default();
    !cfg!(target_vendor = "apple") && is_private_in(&read("/etc/passwd"), &read("/etc/group"), gid, uid)
}

/// Does the same as [`is_private`] with the given contents of `/etc/passwd` and `/etc/group`, so that tests can choose them.
fn is_private_in(passwd: &str, group: &str, gid: u32, uid: u32) -> bool {
    // The format of a line of `/etc/passwd`: `name:password:uid:gid:...`
    let users = || {
        passwd.lines().filter_map(|line| {
            let mut fields = line.split(':');
            Some((fields.next()?, fields.nth(1)?.parse::<u32>().ok()?, fields.next()?.parse::<u32>().ok()?))
        })
    };
    // The format of a line of `/etc/group`: `name:password:gid:member,member`
    let mut listed = group.lines().filter_map(|line| {
        let mut fields = line.split(':').skip(2);
        let is_wanted = fields.next()?.parse() == Ok(gid);
        is_wanted.then(|| fields.next().unwrap_or_default())
    });
    let Some(listed) = listed.next() else { return false };
    let is_trusted = |member: u32| member == uid || member == 0;
    let mut has_members = false;
    for (_, member, primary) in users() {
        if primary == gid {
            has_members = true;
            if !is_trusted(member) {
                return false;
            }
        }
    }
    for name in listed.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        has_members = true;
        // `/etc/passwd` may have several lines with the same user name.
        let mut ids = users().filter(|(user, ..)| *user == name).peekable();
        if ids.peek().is_none() || ids.any(|(_, member, _)| !is_trusted(member)) {
            return false;
        }
    }
    // If the files list no members, the members are defined elsewhere, for example in a directory service.
    has_members
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbob:x:1001:100::/home/bob:/bin/sh\n\
                          # a comment\neve:x:1002:1002::/home/eve:/bin/sh\n";
    const GROUP: &str = "root:x:0:\nusers:x:100:\nann:x:1000:\neve:x:1002:bob\nmine:x:1003:ann\nours:x:1004:ann,eve\n\
                         empty:x:1005:\nthings:x:1006:ann,root\nstrangers:x:1007:ann,nobody-knows\n";

    #[test]
    fn a_group_is_private_if_all_its_members_are_known_and_trusted() {
        let is_private = |gid, uid| is_private_in(PASSWD, GROUP, gid, uid);
        assert!(is_private(1000, 1000), "the group of a user");
        assert!(is_private(1003, 1000), "a group with one listed member");
        assert!(is_private(1006, 1000), "a group with the superuser");
        assert!(is_private(0, 1000), "the group of the superuser");
        assert!(!is_private(1000, 1001), "the group of another user");
        assert!(!is_private(100, 1000), "a primary group of another user");
        assert!(!is_private(1002, 1002), "the group of a user with a second member");
        assert!(!is_private(1004, 1000), "a group with two members");
        assert!(!is_private(1005, 1000), "a group without known members");
        assert!(!is_private(1007, 1000), "a group with an unknown member");
        assert!(!is_private(7, 1000), "an unknown group");
        assert!(!is_private_in("", "", 0, 0));
    }
}
