/**
 * What every command of the command line has in common, on the parser `commander` (docs/adr/0070-…): help and version on
 * every level, words and options that there are not refused with the nearest one named, and the exit codes.
 *
 *  PAR1 what a command does is loaded when it is asked for: declaring it loads nothing
 *  PAR2 a line that is wrong is refused before anything is connected, opened or started
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../adapters/node/index.js';
import { describeError } from '../kernel/index.js';

/** docs/operations/command-line.md has all of them. */
const DONE = 0;
export const FAILED = 1;
const WRONG_USAGE = 2;

/** What a command was asked, as strings. */
export interface Asked {
  readonly words: readonly string[];
  /** By their long names, without the dashes. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
}

/** Does what a verb says. @returns the exit code. @throws UsageError, or whatever went wrong */
export type RunVerb = (verb: string, asked: Asked) => Promise<number>;

/** What is wrong with the command line; its message is one line. */
export class UsageError extends Error {}

export interface Output {
  write(text: string): void;
  writeError(text: string): void;
}

/** Something went wrong at a command, of which the usage may be wanted. */
class CommandFailed extends Error {
  constructor(
    readonly command: Command,
    override readonly cause: unknown,
  ) {
    super();
  }
}

/** A command with others below it, or the program itself. */
export function level(name: string, summary: string): Command {
  const command = new Command(name)
    .description(summary)
    .version(VERSION, '-V, --version', 'prints the version')
    .helpOption('-h, --help', 'prints this')
    .configureHelp({ styleTitle: (title) => title.toLowerCase(), showGlobalOptions: false })
    .exitOverride((error) => {
      throw new CommandFailed(command, error);
    });
  return command;
}

/** A level whose verbs print data, as JSON where that is asked for. */
export function group(name: string, summary: string): Command {
  return level(name, summary).helpCommand('help [command]', 'prints how a command is used');
}

/**
 * Adds a verb below `parent`.
 * @param words its name, and the words behind it as `commander` spells them: `<one>`, `[one]`, `[more...]`
 */
export function verb(
  parent: Command,
  words: string,
  summary: string,
  run: RunVerb,
  { hidden = false }: { readonly hidden?: boolean } = {},
): Command {
  const [name = '', ...rest] = words.split(' ');
  const command = level(name, summary).allowExcessArguments(false);
  if (rest.length > 0) command.arguments(rest.join(' '));
  command.action(async () => {
    try {
      codes.set(rootOf(command), await run(name, askedOf(command)));
    } catch (error) {
      throw new CommandFailed(command, error);
    }
  });
  parent.addCommand(command, { hidden });
  return command;
}

/** A verb that prints data. */
export function dataVerb(parent: Command, words: string, summary: string, run: RunVerb): Command {
  return verb(parent, words, summary, run).option('--json', 'prints JSON, a value a line, for programs');
}

/** An option that takes a whole number, which stays a string. */
export function wholeOption(flags: string, summary: string): Option {
  return new Option(flags, summary).argParser((text) => {
    if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It accepts a whole number.');
    return text;
  });
}

/** @param text for people, where `--json` is not given; a line feed ends it */
export function shown({ flags }: Asked, value: unknown, text: () => string): string {
  return flags.has('json') ? `${JSON.stringify(value)}\n` : text();
}

/** Of the verb that ran, by the root above it. */
const codes = new WeakMap<Command, number>();

/**
 * Parses the words and does what they say. Never throws.
 * @param argv without the program's own name
 * @returns the exit code: 0 done, 1 refused or failed, 2 asked wrongly
 */
export async function runLine(root: Command, argv: readonly string[], output: Output): Promise<number> {
  for (const command of withAllBelow(root)) {
    // What is wrong is written below, in one line.
    command.configureOutput({ writeOut: (text) => output.write(text), writeErr: () => undefined });
  }
  try {
    await root.parseAsync(argv, { from: 'user' });
    return codes.get(root) ?? DONE;
  } catch (error) {
    const { command, cause } = error instanceof CommandFailed ? error : { command: root, cause: error };
    if (cause instanceof CommanderError && cause.exitCode === 0) return DONE;
    const wrong = wrongUsage(cause);
    const line = `${nameOf(command)}: ${oneLine(wrong ?? describeError(cause))}\n`;
    output.writeError(wrong === undefined ? line : line + command.helpInformation({ error: true }));
    return wrong === undefined ? FAILED : WRONG_USAGE;
  }
}

export function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

function wrongUsage(error: unknown): string | undefined {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof CommanderError)) return undefined;
  return error.code === 'commander.help' ? 'what is to be done?' : error.message.replace(/^error: /, '');
}

function askedOf(command: Command): Asked {
  const options: Record<string, string | undefined> = {};
  const flags = new Set<string>();
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string') options[option.name()] = value;
    else if (value === true) flags.add(option.name());
  }
  return { words: command.args, options, flags };
}

/** `millrace db`, of the group and of each verb in it; `millrace` of what stands in none. */
function nameOf(command: Command): string {
  const names: string[] = [];
  const isVerb = command.commands.length === 0;
  for (let at = isVerb ? command.parent : command; at !== null; at = at.parent) names.unshift(at.name());
  return names.join(' ');
}

function rootOf(command: Command): Command {
  let root = command;
  while (root.parent !== null) root = root.parent;
  return root;
}

function* withAllBelow(command: Command): Iterable<Command> {
  yield command;
  for (const below of command.commands) yield* withAllBelow(below);
}
