//! Finds programs as a shell of Windows does, and checks the arguments of scripts. The system itself finds only `.exe` files, but
//! `npx`, for example, is the script `npx.cmd`.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use mcpwire_client::McpServerDef;

/// The file extensions of scripts.
const SCRIPTS: [&str; 2] = [".bat", ".cmd"];

/// The file extensions that the system can start. `PATHEXT` can contain others, such as `.js`, which only a shell can start.
const PROGRAMS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// Returns the file that the command refers to, as the program to start. If it is a script (`.cmd`, `.bat`), std starts
/// `cmd.exe` with its absolute path, and quotes the arguments.
pub(crate) fn program(def: &McpServerDef) -> OsString {
    super::find_program(def).map_or_else(|| def.command.clone().into(), PathBuf::into_os_string)
}

pub(crate) fn is_executable(file: &Path) -> bool {
    file.is_file() && has_extension(file.as_os_str(), &PROGRAMS)
}

/// Returns the directories of `PATH`, as the definition sets it, or else of this program. The case of the name does not matter,
/// and an empty entry does not mean the current directory.
pub(super) fn directories(def: &McpServerDef) -> Vec<PathBuf> {
    let set = def.env.iter().find(|(name, _)| name.eq_ignore_ascii_case("PATH")).map(|(_, path)| path.into());
    let path: OsString = set.or_else(|| env::var_os("PATH")).unwrap_or_default();
    env::split_paths(&path).filter(|directory| !directory.as_os_str().is_empty()).collect()
}

/// Returns the first file that one of `paths` refers to.
pub(super) fn first_file(paths: impl Iterator<Item = PathBuf>, exists: fn(&Path) -> bool) -> Option<PathBuf> {
    search(&paths.collect::<Vec<_>>(), &env::var("PATHEXT").unwrap_or_default(), exists)
}

/// Returns the first of `paths` that exists with the extension of a program, in the order of `path_ext` (the value of `PATHEXT`).
/// If there is none, returns the first of `paths` that exists without such an extension.
///
/// A file without an extension is usually no program: npm puts a script for other systems beside `npx.cmd`.
fn search(paths: &[PathBuf], path_ext: &str, exists: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let is_program = |extension: &&str| PROGRAMS.iter().any(|program| program.eq_ignore_ascii_case(extension));
    let mut extensions: Vec<&str> = path_ext.split(';').filter(is_program).collect();
    if extensions.is_empty() {
        extensions = PROGRAMS.to_vec();
    }
    let files = |path: &PathBuf| {
        let unchanged = has_extension(path.as_os_str(), &PROGRAMS).then(|| path.clone());
        let with_extensions = extensions.iter().map(|extension| {
            let mut file = path.clone().into_os_string();
            file.push(extension);
            PathBuf::from(file)
        });
        unchanged.into_iter().chain(with_extensions).collect::<Vec<_>>()
    };
    paths.iter().flat_map(files).chain(paths.iter().cloned()).find(|file| exists(file))
}

/// Returns an error if the command is a script, and `cmd.exe` would change its path or an argument: it replaces `%NAME%` by the
/// value of a variable, even within quotes, and a line break ends its command. Std quotes all other special characters.
///
/// Std also replaces `%` so that most scripts get it unchanged, but not those that read it twice, such as with `call`.
pub(crate) fn check_script_arguments(command: &Command) -> io::Result<()> {
    let script = command.get_program();
    if !has_extension(script, &SCRIPTS) {
        return Ok(());
    }
    let changed = |text: &OsStr| text.as_encoded_bytes().iter().find(|byte| b"%\r\n".contains(byte)).copied();
    let places = ["its path".to_owned()].into_iter().chain((1..).map(|number| format!("argument {number}")));
    let texts = [script].into_iter().chain(command.get_args());
    let Some((place, byte)) = places.zip(texts).find_map(|(place, text)| Some((place, changed(text)?))) else {
        return Ok(());
    };
    let character = if byte == b'%' { "`%`" } else { "a line break" };
    let script = Path::new(script).display();
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "{place} contains {character}, which the script {script} would not get unchanged. Put the value into an environment \
             variable, or start the program that the script starts"
        ),
    ))
}

/// Returns whether the name of a file ends with one of `extensions`. Windows ignores case, and dots and spaces after the name.
fn has_extension(file: &OsStr, extensions: &[&str]) -> bool {
    let name = file.to_string_lossy().to_ascii_lowercase();
    let name = name.trim_end_matches(['.', ' ']);
    extensions.iter().any(|extension| name.ends_with(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns what the search for `command` in the directories `first` and `second` finds among `files`.
    fn found(command: &str, path_ext: &str, files: &[&str]) -> Option<String> {
        let files: Vec<String> = files.iter().map(|file| file.to_ascii_lowercase()).collect();
        let paths = ["first", "second"].map(|directory| Path::new(directory).join(command));
        let name = |path: &Path| path.to_str().unwrap().replace('\\', "/").to_ascii_lowercase();
        search(&paths, path_ext, |path| files.contains(&name(path))).map(|path| name(&path))
    }

    #[test]
    fn a_command_is_found_with_the_extensions_of_programs_in_the_order_of_pathext() {
        const USUAL: &str = ".COM;.EXE;.BAT;.CMD;.VBS;.JS";
        for (name, command, path_ext, files, expected) in [
            ("npm's script for other systems", "npx", USUAL, &["first/npx", "first/npx.cmd"][..], "first/npx.cmd"),
            ("a directory before an extension", "x", USUAL, &["second/x.exe", "first/x.cmd"], "first/x.cmd"),
            ("a program before a script", "x", USUAL, &["first/x.cmd", "first/x.exe"], "first/x.exe"),
            ("the order of PATHEXT", "x", ".CMD;.EXE", &["first/x.cmd", "first/x.exe"], "first/x.cmd"),
            ("no PATHEXT", "x", "", &["first/x.cmd"], "first/x.cmd"),
            ("what only a shell can start", "x", USUAL, &["first/x.js", "second/x.exe"], "second/x.exe"),
            ("a command with its extension", "X.Cmd", USUAL, &["second/x.cmd"], "second/x.cmd"),
            ("a name with a dot", "python3.11", USUAL, &["first/python3.11.exe"], "first/python3.11.exe"),
            (
                "a script with a dot",
                "my.server",
                USUAL,
                &["first/my.server", "second/my.server.cmd"],
                "second/my.server.cmd",
            ),
            ("a file that is no program", "server.py", USUAL, &["second/server.py"], "second/server.py"),
        ] {
            assert_eq!(found(command, path_ext, files).as_deref(), Some(expected), "{name}");
        }
        assert_eq!(found("x", USUAL, &["first/x.js", "first/x.exe.txt"]), None);
    }

    fn refusal(program: &str, arguments: &[&str]) -> Option<String> {
        check_script_arguments(Command::new(program).args(arguments)).err().map(|error| error.to_string())
    }

    #[test]
    fn arguments_that_a_script_would_change_are_refused() {
        assert_eq!(refusal("C:\\x\\tool.exe", &["50%", "a\nb"]), None);
        assert_eq!(refusal("C:\\x\\tool.cmd", &["plain", "a b", "\"&|<>^!()"]), None);
        for (program, arguments, expected) in [
            ("tool.cmd", &["plain", "50%"][..], "argument 2 contains `%`, which the script tool.cmd would not get"),
            ("tool.BAT", &["a\nb"], "argument 1 contains a line break"),
            ("tool.bat. .", &["\r"], "argument 1 contains a line break"),
            ("C:\\50%\\tool.cmd", &[], "its path contains `%`"),
        ] {
            let message = refusal(program, arguments).unwrap();
            assert!(message.starts_with(expected), "{message}");
        }
    }
}
