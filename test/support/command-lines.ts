/** Parses command lines as the program does, and calls handlers of the test in place of the commands. */
import { type JournalCommandDeps, journalCommand } from '../../src/cli/journal-command.js';
import { questionOf } from '../../src/cli/journal-question.js';
import { commandTree, type RunVerbs } from '../../src/cli/lines/tree.js';
import { type Output, type RunVerb, runLine } from '../../src/cli/parser.js';

const unexpected: RunVerb = async (verb) => {
  throw new Error(`an unexpected call of ${verb}`);
};
const UNEXPECTED: RunVerbs = {
  process: unexpected,
  data: unexpected,
  db: unexpected,
  account: unexpected,
  journal: unexpected,
  branch: unexpected,
  role: unexpected,
  usage: unexpected,
  vectors: unexpected,
  backup: unexpected,
  encryption: unexpected,
  cluster: unexpected,
};

/** The program's commands, with handlers that fail where the test gives none. */
export function treeOf(runs: Partial<RunVerbs> = {}): ReturnType<typeof commandTree> {
  return commandTree({ ...UNEXPECTED, ...runs });
}

/** @returns the exit code */
export function runTyped(argv: readonly string[], runs: Partial<RunVerbs>, output: Output): Promise<number> {
  return runLine(treeOf(runs), argv, output);
}

/** As `runTyped`, also with the output. */
export async function typed(argv: readonly string[], runs: Partial<RunVerbs> = {}) {
  let [out, err] = ['', ''];
  const output: Output = {
    write: (text) => {
      out += text;
    },
    writeError: (text) => {
      err += text;
    },
  };
  const code = await runTyped(argv, runs, output);
  return { code, out, err };
}

/** Runs `millrace journal` with these words. */
export function typedJournal(words: readonly string[], deps: JournalCommandDeps): Promise<number> {
  const journal: RunVerb = (verb, asked) => journalCommand(questionOf(verb, asked), deps);
  const output: Output = { write: (text) => void deps.write(text), writeError: (text) => deps.writeError(text) };
  return runTyped(['journal', ...words], { journal }, output);
}
