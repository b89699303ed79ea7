//! `mcpwire completions`: the script of each shell, and what bash completes with it.

use crate::support::mcpwire;
#[cfg(target_os = "linux")]
use crate::support::scratch;

#[test]
fn each_shell_has_a_script_without_hidden_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = mcpwire(&["completions", shell]);
        assert_eq!((script.code(), script.stderr.as_str()), (0, ""), "{script:?}");
        assert!(script.stdout.contains("doctor") && script.stdout.contains("bearer-env"), "{script:?}");
        assert!(!script.stdout.contains("demo-server"), "{shell} offers a hidden command");
    }
    assert_eq!(mcpwire(&["completions", "tcsh"]).code(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn bash_completes_commands_and_options() {
    let script = mcpwire(&["completions", "bash"]).stdout;
    let completed = |words: &str, current: &str| {
        let ask = format!("COMP_WORDS=(mcpwire {words} {current}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))");
        let program = format!("{script}\n{ask}\n_mcpwire mcpwire '{current}' ''\necho \"${{COMPREPLY[@]}}\"");
        // The program is longer than an argument may be.
        let path = scratch(&format!("complete-{current}"));
        std::fs::write(&path, program).expect("it is written");
        let run = std::process::Command::new("bash").arg("--norc").arg(path).output().expect("bash runs");
        String::from_utf8(run.stdout).expect("text")
    };
    assert_eq!(completed("", "com"), "complete completions\n");
    assert_eq!(completed("server", "en"), "enable\n");
    assert_eq!(completed("call add", "--det"), "--detach\n");
    assert_eq!(completed("", "log"), "login logout\n");
    assert_eq!(completed("login notes", "--no-b"), "--no-browser\n");
}
