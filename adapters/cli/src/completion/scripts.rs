//! The completion scripts of the shells. Each of them calls `mcpwire complete-words SHELL -- WORD...`, and offers the lines that are
//! printed: a candidate and, after a tab, its description.

use clap_complete::Shell;

/// Returns the completion script of a shell, or `None` if clap writes it, without servers and tools.
pub(crate) fn script(shell: Shell) -> Option<&'static str> {
    match shell {
        Shell::Bash => Some(BASH),
        Shell::Zsh => Some(ZSH),
        Shell::Fish => Some(FISH),
        Shell::PowerShell => Some(POWER_SHELL),
        _ => None,
    }
}

/// Bash splits words at `=` and `:`. The words are therefore joined again, and what stands before the last separator is removed from
/// the candidates.
const BASH: &str = r#"_mcpwire() {
    local line=${COMP_LINE:0:COMP_POINT} cur prefix word
    local -a words=()
    read -r -a words <<<"$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    (( ${#words[@]} > 1 )) || return 0
    cur=${words[${#words[@]}-1]}
    prefix=""
    [[ $cur == *[=:]* && $COMP_WORDBREAKS == *=* ]] && prefix=${cur%"${cur##*[=:]}"}
    COMPREPLY=()
    while IFS=$'\t' read -r word _; do
        [[ -n $word ]] && COMPREPLY+=("${word#"$prefix"}")
    done < <(mcpwire complete-words bash -- "${words[@]:1}" 2>/dev/null)
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    [[ ${#COMPREPLY[@]} -eq 0 ]] && compopt -o default 2>/dev/null
    return 0
}
complete -F _mcpwire mcpwire
"#;

const ZSH: &str = r#"#compdef mcpwire
_mcpwire() {
    local -a complete open
    local line word help
    while IFS= read -r line; do
        word=${line%%$'\t'*}
        help=${line#*$'\t'}
        [[ -n $word ]] || continue
        if [[ $word == *= ]]; then open+=("${word//:/\\:}:$help"); else complete+=("${word//:/\\:}:$help"); fi
    done < <(mcpwire complete-words zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)
    if (( ${#complete} + ${#open} == 0 )); then
        _files
        return
    fi
    (( ${#open} )) && _describe -V mcpwire open -S ''
    (( ${#complete} )) && _describe -V mcpwire complete
}
if [ "$funcstack[1]" = "_mcpwire" ]; then _mcpwire "$@"; else compdef _mcpwire mcpwire; fi
"#;

const FISH: &str = r"function __mcpwire_complete
    set -l words (commandline -opc) (commandline -ct)
    mcpwire complete-words fish -- $words[2..-1] 2>/dev/null
end
complete -c mcpwire -f -a '(__mcpwire_complete)'
complete -c mcpwire -n 'not __mcpwire_complete | string length -q' -F
";

const POWER_SHELL: &str = r#"Register-ArgumentCompleter -Native -CommandName mcpwire -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '') { $words += '""' }
    mcpwire complete-words powershell -- @words 2>$null | ForEach-Object {
        $word, $help = $_ -split "`t", 2
        if (-not $help) { $help = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $help)
    }
}
"#;
