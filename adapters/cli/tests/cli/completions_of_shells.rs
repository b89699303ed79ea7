//! `mcpwire completions`: the script of each shell, and what bash completes with it.

use crate::support::mcpwire;

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
        let run = std::process::Command::new("bash").args(["--norc", "-c", &program]).output().expect("bash runs");
        String::from_utf8(run.stdout).expect("text")
    };
    assert_eq!(completed("", "com"), "complete completions\n");
    assert_eq!(completed("server", "en"), "enable\n");
    assert_eq!(completed("call add", "--det"), "--detach\n");
}
