//! Messages become lines and lines become messages, however they are cut.

use mcpwire_client::{LinesToMessages, MessagesToLines};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Reads all messages through buffers of these sizes, in turns.
fn lines(messages: &[Vec<u8>], sizes: &[usize]) -> Vec<u8> {
    let (mut lines, mut seen) = (MessagesToLines::default(), Vec::new());
    let mut sizes = sizes.iter().cycle();
    for message in messages {
        assert!(lines.needs_message());
        lines.set_message(message);
        while !lines.needs_message() {
            let mut buf = vec![0; *sizes.next().expect("it is a circle")];
            let n = lines.read(&mut buf);
            assert!(n > 0, "that would be the end of the stream");
            seen.extend_from_slice(&buf[..n]);
        }
    }
    seen
}

proptest! {
    #[test]
    fn each_message_is_one_line(
        messages in prop::collection::vec(prop::collection::vec(prop_oneof![Just(b'\n'), any::<u8>()], 0..40), 0..8),
        sizes in prop::collection::vec(1..20_usize, 1..8),
    ) {
        let seen = lines(&messages, &sizes);
        let mut seen: Vec<&[u8]> = seen.split(|byte| *byte == b'\n').collect();
        prop_assert_eq!(seen.pop(), Some(&b""[..]), "the last line is complete");
        let expected: Vec<Vec<u8>> = messages
            .iter()
            .map(|message| message.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }).collect())
            .collect();
        prop_assert_eq!(seen, expected);
    }

    #[test]
    fn a_line_has_the_meaning_of_its_message(texts in prop::collection::vec(any::<String>(), 0..5)) {
        let value = json!({"texts": texts, "more": [1, null]});
        let message = serde_json::to_vec_pretty(&value).expect("it is JSON");
        let line = lines(&[message], &[7]);
        prop_assert_eq!(line.iter().position(|byte| *byte == b'\n'), Some(line.len() - 1));
        prop_assert_eq!(serde_json::from_slice::<Value>(&line).expect("it is JSON"), value);
    }

    #[test]
    fn each_line_is_one_message(
        lines in prop::collection::vec("[^\n]{0,20}", 0..8),
        sizes in prop::collection::vec(1..20_usize, 1..8),
    ) {
        let bytes: Vec<u8> = lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect();
        let (mut messages, mut seen, mut rest) = (LinesToMessages::default(), Vec::new(), &bytes[..]);
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (taken, message) = messages.write(&rest[..rest.len().min(*size)]);
            prop_assert!(taken > 0);
            rest = &rest[taken..];
            seen.extend(message);
        }
        let expected: Vec<&String> = lines.iter().filter(|line| !line.is_empty()).collect();
        prop_assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
    }
}
