//! The user's terminal and shell: no text of a server controls it, no server shares it, prompts restore it, and commands are completed.

use crate::support::mcpwire;

#[test]
fn each_shell_has_a_script() {
    for shell in ["bash", "fish", "powershell", "zsh"] {
        mcpwire(&["completions", shell]).exits(0).says_only("").shows(&["mcpwire complete-words"]);
    }
    mcpwire("completions tcsh").exits(2);
    mcpwire("completions elvish").exits(0).shows(&["doctor", "bearer-env"]).hides(&["demo-server"]);
    mcpwire("complete-words zsh -- server d").gives(0, "disable\tStop servers, and keep them from being started\ndoctor\tStart all enabled servers, and explain what is wrong with the servers that fail\n");
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_commands_servers_tools_and_arguments() {
    let script = mcpwire("completions bash").stdout;
    let place = crate::support::Place::with_demo();
    // From then on, the tools of the server are known.
    place.run("tools").exits(0);
    let directory = place.path().display().to_string();
    let program = std::path::Path::new(crate::support::MCPWIRE).parent().unwrap().display().to_string();
    for (line, completed) in [
        ("com", "complete completions\n"),
        ("server en", "enable\n"),
        ("call add --det", "--detach\n"),
        ("log", "login logout\n"),
        ("login notes --no-b", "--no-browser\n"),
        ("info ", "demo\n"),
        ("call demo ec", "echo\n"),
        ("call demo add a=1 ", "b=\n"),
        ("demo-s", "\n"),
    ] {
        let ask = format!("COMP_LINE='mcpwire {line}'; COMP_POINT=${{#COMP_LINE}}");
        let variables = format!("export PATH='{program}':$PATH MCPWIRE_CONFIG_DIR='{directory}'");
        let program = format!("{script}\n{variables}\n{ask}\n_mcpwire\necho \"${{COMPREPLY[@]}}\"");
        // The program is longer than an argument may be.
        let file = place.write("program", program);
        crate::support::run(std::process::Command::new("bash").args(["--norc", &file])).gives(0, completed);
    }
}

/// A shell would run what it inserts. The names of tools and the values of enumerations come from servers.
#[cfg(target_os = "linux")]
#[test]
fn words_that_a_shell_would_interpret_are_not_completed() {
    let place = crate::support::Place::new();
    let tools = r#"{"tools":[{"name":"fine","inputSchema":{"properties":{"x":{"enum":["$(id)","a b","ok","`id`"]}}}},
        {"name":"a;id","inputSchema":{}},{"name":"$(id)","inputSchema":{}},{"name":"a\nid","inputSchema":{}}]}"#;
    place.add_script("evil", &crate::support::servers::Script::with_tools(&tools.replace('\n', " ")).text());
    place.run("tools evil").exits(0).shows(&["fine("]);
    for (words, completed) in [(&["evil", ""][..], "fine\t\n"), (&["evil", "fine", "x="], "x=ok\t\n")] {
        let line = [&["complete-words", "bash", "--", "call"], words].concat();
        let mut command = crate::support::command(&line);
        crate::support::run(command.env("MCPWIRE_CONFIG_DIR", place.path())).gives(0, completed);
    }
}

/// No text of a server can control the terminal, on either stream. Colors appear only if they are wanted.
#[cfg(unix)]
mod text {
    use serde_json::json;

    use crate::support::servers::{Script, quoted, say, scripted};
    use crate::support::{Finished, command, mcpwire, run};

    #[track_caller]
    fn assert_tame(finished: Finished) -> Finished {
        for output in [&finished.stdout, &finished.stderr] {
            let wild = output.chars().find(|c| c.is_control() && *c != '\n' && *c != '\t' || *c == '\u{202e}');
            assert_eq!(wild, None, "{finished:?}");
        }
        finished
    }

    #[test]
    fn results_and_messages_of_a_server_are_made_harmless() {
        let evil = "\u{1b}]0;title\u{7}\u{1b}[2J\u{9b}31mred\u{202e}";
        let result = json!({ "content": [{ "type": "text", "text": evil }, { "type": evil }], "isError": true });
        let params = json!({ "level": evil, "logger": evil, "data": evil });
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params }).to_string();
        let code = format!("printf '%s\\n' {}; {}", quoted(&log), say(&result.to_string()));
        let server = Script::tools().does("tools/call", &code);
        for call in ["call t", "call t --json"] {
            assert_tame(server.run(call).fails());
        }
        for info in ["info --stderr show", "info --stderr tail"] {
            assert_tame(mcpwire(&scripted(info, r"printf '\033[2Jred\007\n' >&2; exit 1"))).says(&["red"]);
        }
    }

    #[test]
    fn colours_are_forced_on_and_off() {
        for (option, variable, is_colored) in [
            // A pipe is no terminal.
            ("", ("UNRELATED", "1"), false),
            ("", ("CLICOLOR_FORCE", "1"), true),
            ("--no-color", ("CLICOLOR_FORCE", "1"), false),
            ("", ("NO_COLOR", "1"), false),
        ] {
            let finished = run(command(&format!("tools --demo {option}")).envs([variable]));
            assert_eq!(finished.stdout.contains('\u{1b}'), is_colored, "{finished:?}");
        }
    }
}

/// Prompts and servers at a terminal.
#[cfg(target_os = "linux")]
mod processes {
    use std::fs;
    use std::io::Write as _;
    use std::os::fd::AsFd as _;
    use std::process::{Child, Command};

    use rustix::process::Signal;
    use rustix::termios::{LocalModes, tcgetattr};

    use crate::support::servers::scripted;
    use crate::support::{MCPWIRE, Mark, Place, Running, Terminal, Words as _, each, wait_for};

    #[test]
    fn the_terminal_shows_again_what_is_typed_however_the_secret_prompt_ends() {
        let place = Place::new();
        place.run(&format!("server add demo --secret TOKEN -- {MCPWIRE} demo-server")).exits(0);
        let list = || place.run("secret list demo");
        let is_echoing = |terminal: &Terminal| {
            tcgetattr(terminal.other_end().as_fd()).expect("a terminal").local_modes.contains(LocalModes::ECHO)
        };
        let prompt = |terminal: &Terminal| {
            let prompt = Running::at_terminal(&mut place.command("secret set demo TOKEN"), terminal);
            wait_for("the prompt", || (!is_echoing(terminal)).then_some(()));
            prompt
        };
        each([(Signal::INT, 130), (Signal::QUIT, 131), (Signal::TERM, 143), (Signal::HUP, 129)], |(signal, status)| {
            let terminal = Terminal::open();
            let prompt = prompt(&terminal);
            // A stopped process could not restore the terminal, so Ctrl-Z has no effect.
            prompt.signal(Signal::TSTP);
            prompt.signal(signal);
            prompt.finish().exits(status);
            assert!(is_echoing(&terminal));
        });
        list().shows(&["TOKEN: missing"]);

        let terminal = Terminal::open();
        let mut prompt = prompt(&terminal);
        prompt.types("hunter22\n");
        prompt.finish().exits(0);
        assert!(is_echoing(&terminal));
        list().gives(0, "TOKEN\n");
    }

    /// Starts a command with this terminal as its controlling terminal.
    fn in_terminal(terminal: &Terminal, words: &[&str]) -> Child {
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).args(words);
        command.stdin(terminal.other_end()).stdout(terminal.other_end()).stderr(terminal.other_end());
        command.spawn().expect("it starts")
    }

    #[test]
    fn a_server_cannot_open_the_terminal() {
        let place = Place::new();
        let opens = "(echo hello >/dev/tty) 2>/dev/null";
        let file = place.file("opened");
        let script = format!("if {opens}; then echo yes; else echo no; fi >{file}; exec {MCPWIRE} demo-server");
        place.add_script("demo", &script);
        // The terminal can be opened by programs that are not servers.
        let probe = format!("{opens} && echo yes >{file}");
        let ping = format!("{MCPWIRE} ping");
        let by_name = format!("{MCPWIRE} call echo message=a --server demo {}", place.option());
        for (words, opened) in
            [(vec!["sh", "-c", &probe], "yes\n"), (scripted(&ping, &script), "no\n"), (by_name.words(), "no\n")]
        {
            let terminal = Terminal::open();
            assert!(in_terminal(&terminal, &words).wait().unwrap().success(), "{words:?}");
            assert_eq!(place.read("opened"), opened, "{words:?}");
            fs::remove_file(&file).unwrap();
        }
    }

    /// A server that ends only with its input.
    const POLITE: &str = "trap '' TERM INT QUIT HUP; cat >/dev/null; exit";

    /// A server that nothing ends but a kill.
    const STUBBORN: &str = "trap '' TERM INT QUIT HUP; cat >/dev/null; while :; do sleep 1; done";

    #[test]
    fn the_keys_and_the_end_of_the_terminal_end_the_server_with_the_tool() {
        let cases = [
            ("Ctrl-C", b"\x03".as_slice(), POLITE),
            ("Ctrl-\\", b"\x1c", STUBBORN),
            ("a closed terminal", b"", POLITE),
        ];
        each(cases, |(_, keys, server)| {
            let mark = Mark::new();
            let mut terminal = Terminal::open();
            let info = format!("{MCPWIRE} info --timeout 600s --env {mark}");
            let mut tool = in_terminal(&terminal, &scripted(&info, server));
            wait_for("the server", || (mark.processes().len() >= 2).then_some(()));
            terminal.file.write_all(keys).unwrap();
            let still_open = (!keys.is_empty()).then_some(terminal);
            let status = wait_for("the end of the tool", || tool.try_wait().unwrap());
            assert_eq!(status.code(), Some(130));
            wait_for("the end of the server", || mark.processes().is_empty().then_some(()));
            drop(still_open);
        });
    }
}
