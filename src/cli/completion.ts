/**
 * Shell completion. The shell script calls `millrace complete` with the typed words, so it always knows the commands
 * and options of the installed program and need not be updated.
 */
import type { Command, Option } from 'commander';
import { UsageError } from './parser.js';

/**
 * @param words after the program's name; the last one is being typed, and may be empty
 * @returns a line for each candidate: the word, a tab, and its description
 */
export function candidates(root: Command, words: readonly string[]): string[] {
  const before = words.slice(0, -1);
  const typed = words.at(-1) ?? '';
  const last = before.at(-1);
  const at = commandAt(root, before);
  const hungry = at.options.find((option) => takesValue(option) && (option.long === last || option.short === last));
  if (hungry !== undefined) return [];
  const help = at.createHelp();
  const found = typed.startsWith('-')
    ? help.visibleOptions(at).map(({ long, description }) => [long ?? '', description])
    : help.visibleCommands(at).map((command) => [command.name(), command.description()]);
  return found.filter(([word = '']) => word.startsWith(typed)).map((pair) => pair.join('\t'));
}

/** The deepest command that the words name; options and their values are skipped. */
function commandAt(root: Command, words: readonly string[]): Command {
  let at = root;
  for (const word of words) at = at.commands.find((command) => command.name() === word) ?? at;
  return at;
}

function takesValue({ required, optional }: Option): boolean {
  return required || optional;
}

const BASH = `# bash: source <(millrace completion bash)
_millrace() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1)" -- "$2"))
}
complete -o default -F _millrace millrace
`;
const ZSH = `#compdef millrace
# zsh: source <(millrace completion zsh), or a file _millrace in a folder of $fpath
_millrace() {
  local -a found
  local line
  for line in "\${(@f)$("\${words[1]}" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && found+=("\${line%%$'\\t'*}:\${line#*$'\\t'}")
  done
  if (( $#found )); then _describe millrace found; else _files; fi
}
compdef _millrace millrace
`;
const FISH = `# fish: millrace completion fish | source
function __millrace_complete
    set -l words (commandline -opc) (commandline -ct)
    $words[1] complete -- $words[2..-1] 2>/dev/null
end
complete -c millrace -a '(__millrace_complete)'
`;
const SCRIPTS = new Map([
  ['bash', BASH],
  ['zsh', ZSH],
  ['fish', FISH],
]);

/** @throws UsageError */
export function completionScript(shell: string): string {
  const script = SCRIPTS.get(shell);
  if (script === undefined) throw new UsageError(`completion is available for ${[...SCRIPTS.keys()].join(', ')}`);
  return script;
}
