/** All commands of the database, for completion and help. */
import { pipeline, type Reply } from '../../../api/kv.js';

export interface KnownCommand {
  /** `CONFIG GET`. */
  readonly name: string;
  readonly summary: string;
  readonly since: string;
  readonly group: string;
  /** Number of words with the name; negative for a minimum. */
  readonly words: number;
}

/** @throws CallError */
export async function knownCommands(id: string): Promise<readonly KnownCommand[]> {
  const [docs, infos] = await pipeline(id, [
    ['COMMAND', 'DOCS'],
    ['COMMAND', 'INFO'],
  ]);
  const arity = new Map(listIn(infos).flatMap((info) => aritiesIn(info as readonly Reply[])));
  return commandsIn(listIn(docs), '', arity);
}

function listIn(result: Awaited<ReturnType<typeof pipeline>>[number] | undefined): readonly Reply[] {
  return result !== undefined && 'result' in result && Array.isArray(result.result) ? result.result : [];
}

/** Of the command and of its subcommands. */
function aritiesIn(info: readonly Reply[]): readonly (readonly [string, number])[] {
  const below = (info[9] ?? []) as readonly (readonly Reply[])[];
  return [[nameOf(info[0]), Number(info[1])], ...below.flatMap(aritiesIn)];
}

/** `config|get` becomes `CONFIG GET`. */
function nameOf(reply: Reply | undefined): string {
  return String(reply).replace('|', ' ').toUpperCase();
}

function commandsIn(
  flat: readonly Reply[],
  above: string,
  arity: ReadonlyMap<string, number>,
): readonly KnownCommand[] {
  const commands: KnownCommand[] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const told = fieldsOf(flat[at + 1] as readonly Reply[]);
    const own = nameOf(flat[at]);
    const name = above === '' || own.startsWith(`${above} `) ? own : `${above} ${own}`;
    const [summary, since, group] = ['summary', 'since', 'group'].map((word) => String(told.get(word) ?? ''));
    commands.push({
      name,
      summary: summary ?? '',
      since: since ?? '',
      group: group ?? '',
      words: arity.get(name) ?? 0,
    });
    commands.push(...commandsIn((told.get('subcommands') ?? []) as readonly Reply[], name, arity));
  }
  return commands;
}

function fieldsOf(flat: readonly Reply[]): ReadonlyMap<string, Reply> {
  const pairs = Array.from(
    { length: Math.floor(flat.length / 2) },
    (_, at) => [String(flat[2 * at]), flat[2 * at + 1] ?? null] as const,
  );
  return new Map(pairs);
}

const SHOWN_COMPLETIONS = 8;

/** Commands that begin with the typed text; complete matches first. */
export function completionsOf(commands: readonly KnownCommand[], typed: string): readonly KnownCommand[] {
  const letters = typed.trimStart().toUpperCase();
  if (letters === '') return [];
  const found = commands.filter(({ name }) => name.startsWith(letters));
  return found.sort((a, b) => a.name.length - b.name.length).slice(0, SHOWN_COMPLETIONS);
}

/** The command at the start of a line; of two matches the longer name. */
export function commandOf(commands: readonly KnownCommand[], typed: string): KnownCommand | undefined {
  const words = typed.trim().toUpperCase().split(/\s+/);
  const named = (count: number) => commands.find(({ name }) => name === words.slice(0, count).join(' '));
  return named(2) ?? named(1);
}

/** `3 words`, `at least 2 words`, including the name. */
export function wordsTold(words: number): string {
  if (words === 0) return '';
  return words < 0 ? `at least ${-words} words` : `${words} words`;
}
