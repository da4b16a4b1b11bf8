/**
 * The common parts of all commands, on the parser `commander` (docs/decisions/dependencies.md): help and version on
 * every level, suggestions for unknown words and options, and exit codes.
 *
 *  PAR1 a command's code is loaded when the command runs: its declaration loads no modules
 *  PAR2 a wrong command line is refused before any connection, file or process is opened
 */
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { VERSION } from '../adapters/node/index.js';
import { describeError } from '../kernel/index.js';

/** All exit codes are in docs/operations/command-line.md. */
const DONE = 0;
export const FAILED = 1;
const WRONG_USAGE = 2;

/** The parsed command line, as strings. */
export interface ParsedArguments {
  readonly words: readonly string[];
  /** By long names, without dashes; the values of a repeated option, one on each line. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly flags: ReadonlySet<string>;
}

/** Runs a verb. @returns the exit code. @throws UsageError, or any error of the command */
export type RunVerb = (verb: string, asked: ParsedArguments) => Promise<number>;

/** An error about the command line, in one line. */
export class UsageError extends Error {}

export interface Output {
  write(text: string): void;
  writeError(text: string): void;
}

/** The error of a command, with the command for its usage text. */
class CommandFailed extends Error {
  constructor(
    readonly command: Command,
    override readonly cause: unknown,
  ) {
    super();
  }
}

/** A command with subcommands, or the program itself. */
export function level(name: string, summary: string): Command {
  const command = new Command(name)
    .description(summary)
    .version(VERSION, '-V, --version', 'prints the version')
    .helpOption('-h, --help', 'prints this help')
    .configureHelp({ styleTitle: (title) => title.toLowerCase(), showGlobalOptions: false })
    .exitOverride((error) => {
      throw new CommandFailed(command, error);
    });
  return command;
}

/** A level whose verbs print data, as JSON on request. */
export function group(name: string, summary: string): Command {
  return level(name, summary).helpCommand('help [command]', 'prints the help of a command');
}

/**
 * Adds a verb below `parent`.
 * @param words its name and arguments in `commander`'s notation: `<one>`, `[one]`, `[more...]`
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
  return verb(parent, words, summary, run).option('--json', 'prints JSON for programs, one value per line');
}

/** An option with an integer, which stays a string. */
export function wholeOption(flags: string, summary: string): Option {
  return new Option(flags, summary).argParser((text) => {
    if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('It must be a whole number.');
    return text;
  });
}

/** @param text the output without `--json`, which ends with a line feed */
export function shown({ flags }: ParsedArguments, value: unknown, text: () => string): string {
  return flags.has('json') ? `${JSON.stringify(value)}\n` : text();
}

/** The exit code of the verb that ran, by root command. */
const codes = new WeakMap<Command, number>();

/**
 * Parses the words and runs the command. Never throws.
 * @param argv without the program's own name
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong usage
 */
export async function runLine(root: Command, argv: readonly string[], output: Output): Promise<number> {
  for (const command of withAllBelow(root)) {
    // Errors are written below, in one line.
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
    output.writeError(wrong === undefined ? line : line + usageLine(command));
    return wrong === undefined ? FAILED : WRONG_USAGE;
  }
}

/** The command's form, and where its options are explained. */
function usageLine(command: Command): string {
  const [usage = ''] = command.helpInformation({ error: true }).split('\n');
  return `${usage}; see ${usage.replace(/^usage: /, '').replace(/ [[<].*$/, '')} --help\n`;
}

export function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

function wrongUsage(error: unknown): string | undefined {
  if (error instanceof UsageError) return error.message;
  if (!(error instanceof CommanderError)) return undefined;
  return error.code === 'commander.help' ? 'no command was given: see --help' : error.message.replace(/^error: /, '');
}

function askedOf(command: Command): ParsedArguments {
  const options: Record<string, string | undefined> = {};
  const flags = new Set<string>();
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (typeof value === 'string') options[option.name()] = value;
    else if (Array.isArray(value)) options[option.name()] = value.join('\n');
    else if (value === true) flags.add(option.name());
  }
  return { words: command.args, options, flags };
}

/** `millrace db` for the group and each of its verbs; `millrace` outside of groups. */
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
