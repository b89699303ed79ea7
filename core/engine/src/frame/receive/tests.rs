use alloc::string::String;

use super::*;

/// Passes `bytes` to a buffer in pieces of `size` bytes, and returns the lines that the buffer returns.
fn run(bytes: &[u8], size: usize, max: usize) -> Vec<String> {
    let mut receive = ReceiveBuffer::new(max);
    let mut seen = Vec::new();
    for mut piece in bytes.chunks(size) {
        while !piece.is_empty() {
            let space = receive.space().expect("every line was taken");
            let n = space.len().min(piece.len());
            space[..n].copy_from_slice(&piece[..n]);
            receive.filled(n);
            piece = &piece[n..];
            while let Some(input) = receive.next() {
                seen.push(match input {
                    FrameInput::Line(line) if line.as_ref().len() % 2 == 0 => {
                        String::from_utf8(Message::from(line).to_vec()).unwrap()
                    }
                    FrameInput::Line(line) => String::from_utf8(line.as_ref().to_vec()).unwrap(),
                    FrameInput::Overlong { .. } => "<long".into(),
                    FrameInput::OverlongEnd { tail } => alloc::format!("{}>", String::from_utf8(tail).unwrap()),
                });
            }
        }
    }
    seen.extend(receive.take_last().map(|line| String::from_utf8(line.as_ref().to_vec()).unwrap()));
    seen
}

#[test]
fn lines_do_not_depend_on_the_pieces() {
    let big = "x".repeat(200_000);
    let text = alloc::format!(
        "\u{feff}one\r\n\n  \ntwo\n{big}\nthree\n\u{feff}four\r\n\u{feff}\n\u{feff}\u{feff}five\n\u{feff}rest"
    );
    for size in [1, 2, 3, 7, 4096, 70_000, text.len()] {
        assert_eq!(
            run(text.as_bytes(), size, 1 << 20),
            ["one", "two", &big, "three", "four", "\u{feff}five", "rest"],
            "{size}"
        );
    }
}

#[test]
fn an_overlong_line_is_discarded_and_the_next_is_not() {
    let text = alloc::format!("a\n{}END\nb\n", "x".repeat(5000));
    let tail = alloc::format!("{}END>", "x".repeat(TAIL_LEN - 3));
    for size in [1, 100, 999, 100_000] {
        assert_eq!(run(text.as_bytes(), size, 1000), ["a", "<long", &tail, "b"], "{size}");
    }
}

#[test]
fn a_limit_below_what_is_told_of_a_line_is_kept_too() {
    let text = alloc::format!("a\n{}END\nb\n{}", "x".repeat(150), "y".repeat(150));
    let tail = alloc::format!("{}END>", "x".repeat(TAIL_LEN - 3));
    for size in [1, 99, 101, 100_000] {
        assert_eq!(run(text.as_bytes(), size, 100), ["a", "<long", &tail, "b"], "{size}");
    }
}

#[test]
fn a_line_of_exactly_the_limit_passes() {
    let text = alloc::format!("{}\n", "x".repeat(1000));
    assert_eq!(run(text.as_bytes(), 100, 1000).len(), 1);
    assert_eq!(run(text.as_bytes(), 100, 1000)[0].len(), 1000);
}

#[test]
fn a_big_message_leaves_a_small_buffer() {
    let mut receive = ReceiveBuffer::new(64 << 20);
    let big = alloc::vec![b'x'; 4 << 20];
    let mut rest = &big[..];
    while !rest.is_empty() {
        let space = receive.space().expect("the line goes on");
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        receive.filled(n);
        rest = &rest[n..];
        assert!(receive.next().is_none());
    }
    let space = receive.space().expect("the line goes on");
    space[..5].copy_from_slice(b"\nnext");
    receive.filled(5);
    assert!(receive.data.capacity() < (4 << 20) * 8 / 5, "{}", receive.data.capacity());
    let Some(FrameInput::Line(line)) = receive.next() else { panic!() };
    assert_eq!(Message::from(line).len(), 4 << 20);
    assert!(receive.lent.is_none(), "so much memory is not kept");
    assert!(receive.data.capacity() <= MAX_GROWTH);
    assert_eq!(&receive.data[..receive.end], b"next");
}

/// Passes a line of `len` bytes to the buffer, and returns the line as a message.
fn receive_line(receive: &mut ReceiveBuffer, len: usize) -> Message {
    let mut bytes = alloc::vec![b'x'; len];
    bytes.push(b'\n');
    let mut rest = &bytes[..];
    loop {
        let space = receive.space().expect("the line goes on");
        let n = space.len().min(rest.len());
        space[..n].copy_from_slice(&rest[..n]);
        receive.filled(n);
        rest = &rest[n..];
        if let Some(FrameInput::Line(line)) = receive.next() {
            return line.into();
        }
    }
}

#[test]
fn the_memory_of_a_large_message_receives_the_next_one_after_it_was_dropped() {
    let mut receive = ReceiveBuffer::new(64 << 20);
    let first = receive_line(&mut receive, 1 << 20);
    let memory = first.as_ptr();
    let second = receive_line(&mut receive, 1 << 20);
    assert_ne!(second.as_ptr(), memory, "the first message is still read");
    assert_eq!((first.len(), second.len()), (1 << 20, 1 << 20));
    let memory = second.as_ptr();
    drop(second);
    for _ in 0..3 {
        let next = receive_line(&mut receive, 1 << 20);
        assert_eq!(next.as_ptr(), memory);
        assert!(next.iter().all(|byte| *byte == b'x'));
    }
}

#[test]
fn the_memory_of_a_large_message_is_given_up_when_a_small_one_follows_or_the_connection_is_idle() {
    let mut receive = ReceiveBuffer::new(64 << 20);
    let small_line: fn(&mut ReceiveBuffer) = |receive| drop(receive_line(receive, 10));
    for give_up in [small_line, ReceiveBuffer::release_if_empty] {
        drop(receive_line(&mut receive, 1 << 20));
        assert!(receive.lent.is_some());
        assert!(receive.data.capacity() <= MAX_GROWTH);
        give_up(&mut receive);
        assert!(receive.lent.is_none());
    }
}

#[test]
fn a_reader_that_does_not_take_lines_gets_no_space() {
    let mut receive = ReceiveBuffer::new(1000);
    let mut total = 0;
    while let Some(space) = receive.space() {
        assert!(!space.is_empty(), "a read into no space would look like the end of the stream");
        space.fill(b'\n');
        let n = space.len();
        receive.filled(n);
        total += n;
        assert!(total < 1 << 20);
    }
    while receive.next().is_some() {}
    assert!(receive.space().is_some_and(|space| !space.is_empty()), "every line was taken");
}
