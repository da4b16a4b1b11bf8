/** The families assembled: every Redis command there is, found by name. */
import type { ByteString } from '../../kernel/index.js';
import type { CommandSpec } from './command-spec.js';
import { FAMILIES } from './families/index.js';
import {
  ERRORS,
  ErrorReply,
  notAvailable,
  notOverRest,
  unknownCommand,
  unknownSubcommand,
  wrongArity,
} from './reply.js';

const specsByName = new Map<string, CommandSpec>();
/** Names that have subcommands: their second word belongs to the name. */
const containers = new Set<string>();

/** Not flagged `fast` by Redis, because writing a large value takes its time. */
const QUICK_TOO = new Set(['SET', 'SETEX', 'PSETEX']);

for (const row of FAMILIES.flat()) {
  const spec: CommandSpec = { ...row, isQuick: row.flags.includes('fast') || QUICK_TOO.has(row.name) };
  specsByName.set(spec.name, spec);
  specsByName.set(spec.name.toLowerCase(), spec);
  const blank = spec.name.indexOf(' ');
  if (blank > 0) containers.add(spec.name.slice(0, blank));
}

const rows: readonly CommandSpec[] = [...new Set(specsByName.values())];

export function allCommands(): readonly CommandSpec[] {
  return rows;
}

/** The row of exactly that name, in upper case. */
export function rowOf(name: string): CommandSpec | undefined {
  return specsByName.get(name);
}

/** The name found last and its row, where it has no subcommands: what comes in pipelines is mostly alike. */
let lastName: ByteString = '';
let lastSpec: CommandSpec | undefined;

/** The row for a command as typed, in any case; its subcommand's row where it has one. */
export function findCommand(words: readonly ByteString[]): CommandSpec | undefined {
  const name = words[0] as ByteString;
  if (name === lastName) return lastSpec;
  const direct = specsByName.get(name);
  if (direct !== undefined) {
    if (!containers.has(direct.name)) {
      lastName = name;
      lastSpec = direct;
      return direct;
    }
    if (words.length === 1) return direct;
  }
  const upper = name.toUpperCase();
  if (containers.has(upper) && words.length > 1) {
    const sub = specsByName.get(`${upper} ${(words[1] as ByteString).toUpperCase()}`);
    // A word that is none of its subcommands is no argument either.
    return sub;
  }
  return specsByName.get(upper);
}

/** The row of a command that may be queued, or the error a client gets instead: unknown, or of wrong arity. */
export function admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
  if (words.length === 0 || (words[0] === '' && words.length === 1)) return ERRORS.emptyCommand;
  const spec = findCommand(words);
  if (spec === undefined) return unknown(words);
  const { arity } = spec;
  if (arity >= 0 ? words.length !== arity : words.length < -arity) {
    const problem = wrongArity(spec.name.replace(' ', '|'));
    // Over REST the command is refused, whatever its words.
    if (spec.flags.includes('connection')) return new ErrorReply(problem.text, notOverRest(spec.name).text);
    return spec.rest === 'refused' ? new ErrorReply(problem.text, notAvailable(spec.name).text) : problem;
  }
  return spec;
}

function unknown(words: readonly ByteString[]): ErrorReply {
  const name = (words[0] as ByteString).toUpperCase();
  if (!containers.has(name)) return unknownCommand(words);
  // A container without its subcommand lacks a word; Redis says so too.
  const problem = words.length === 1 ? wrongArity(name) : unknownSubcommand(words);
  const isOfConnection = specsByName.get(`${name} HELP`)?.flags.includes('connection') === true;
  return isOfConnection ? new ErrorReply(problem.text, notOverRest(name).text) : problem;
}
