/**
 * A table of Redis commands, found by name. It knows no command by itself: its rows are handed to it, and it is handed
 * to whoever looks commands up, so that rows may use the engine and the engine rows (`commands.ts` has the whole one).
 */
import type { ByteString } from '../../kernel/index.js';
import { type CommandSpec, isForScripts } from './command-spec.js';
import {
  ERRORS,
  ErrorReply,
  notAvailable,
  notOverRest,
  unknownCommand,
  unknownSubcommand,
  wrongArity,
} from './reply.js';

/**
 * All that a row may have. Every row has all of it, in this order: where rows have fields of their own, reading one of any
 * command's is a search, and a command is asked some twenty of them.
 */
const NOTHING_SAID: { readonly [Field in keyof CommandSpec]-?: undefined } = {
  name: undefined,
  family: undefined,
  arity: undefined,
  flags: undefined,
  keys: undefined,
  keyUse: undefined,
  keyNeeds: undefined,
  channels: undefined,
  tips: undefined,
  handler: undefined,
  sliced: undefined,
  isLong: undefined,
  isQuick: undefined,
  isQuickRead: undefined,
  isForScripts: undefined,
  isWriting: undefined,
  mayGrow: undefined,
  isBlocking: undefined,
  runsScript: undefined,
  isBeforeAuth: undefined,
  categories: undefined,
  allCategories: undefined,
  rulesMayNameParts: undefined,
  summary: undefined,
  since: undefined,
  rest: undefined,
  restProblem: undefined,
  deviations: undefined,
  acrossPartitions: undefined,
  countsAsWrite: undefined,
  mayFollowSubscribe: undefined,
  endsScript: undefined,
  waitsForGroup: undefined,
  readsOnly: undefined,
  readOnlyToken: undefined,
  isLook: undefined,
};

export class CommandTable {
  readonly rows: readonly CommandSpec[];
  readonly #specsByName = new Map<string, CommandSpec>();
  /** Names that have subcommands: their second word belongs to the name. */
  readonly #containers = new Set<string>();
  /** The name found last and its row, where it has no subcommands: what comes in pipelines is mostly alike. */
  #lastName: ByteString = '';
  #lastSpec: CommandSpec | undefined;

  constructor(rows: readonly CommandSpec[]) {
    this.rows = rows.map(completed);
    for (const spec of this.rows) {
      this.#specsByName.set(spec.name, spec);
      this.#specsByName.set(spec.name.toLowerCase(), spec);
      const blank = spec.name.indexOf(' ');
      if (blank > 0) this.#containers.add(spec.name.slice(0, blank));
    }
  }

  /** The row of exactly that name, in upper or in lower case. */
  rowOf(name: string): CommandSpec | undefined {
    return this.#specsByName.get(name);
  }

  /** The row for a command as typed, in any case; its subcommand's row where it has one. */
  find(words: readonly ByteString[]): CommandSpec | undefined {
    const name = words[0] as ByteString;
    if (name === this.#lastName) return this.#lastSpec;
    const direct = this.#specsByName.get(name);
    if (direct !== undefined) {
      if (!this.#containers.has(direct.name)) {
        this.#lastName = name;
        this.#lastSpec = direct;
        return direct;
      }
      if (words.length === 1) return direct;
    }
    const upper = name.toUpperCase();
    if (this.#containers.has(upper) && words.length > 1) {
      // A word that is none of its subcommands is no argument either.
      return this.#specsByName.get(`${upper} ${(words[1] as ByteString).toUpperCase()}`);
    }
    return this.#specsByName.get(upper);
  }

  /** The row of a command that may be queued, or the error a client gets instead: unknown, or of wrong arity. */
  admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
    if (words.length === 0 || (words[0] === '' && words.length === 1)) return ERRORS.emptyCommand;
    const spec = this.find(words);
    if (spec === undefined) return this.#unknown(words);
    const { arity } = spec;
    if (arity >= 0 ? words.length !== arity : words.length < -arity) {
      const problem = wrongArity(spec.name.replace(' ', '|'));
      // Over REST the command is refused, whatever its words.
      if (spec.flags.includes('connection')) return new ErrorReply(problem.text, notOverRest(spec.name).text);
      return spec.rest === 'refused' ? new ErrorReply(problem.text, notAvailable(spec.name).text) : problem;
    }
    return spec;
  }

  #unknown(words: readonly ByteString[]): ErrorReply {
    const name = (words[0] as ByteString).toUpperCase();
    if (!this.#containers.has(name)) return unknownCommand(words);
    // A container without its subcommand lacks a word; Redis says so too.
    const problem = words.length === 1 ? wrongArity(name) : unknownSubcommand(words);
    const isOfConnection = this.#specsByName.get(`${name} HELP`)?.flags.includes('connection') === true;
    return isOfConnection ? new ErrorReply(problem.text, notOverRest(name).text) : problem;
  }
}

function completed(row: CommandSpec): CommandSpec {
  const { flags } = row;
  const isQuick = row.isQuick ?? flags.includes('fast');
  const isInOneGo = row.sliced === undefined && !flags.includes('blocking') && !flags.includes('script');
  return {
    ...NOTHING_SAID,
    ...row,
    isQuick,
    isQuickRead: isQuick && isInOneGo && flags.includes('readonly'),
    isForScripts: isForScripts(row),
    isWriting: flags.includes('write'),
    mayGrow: flags.includes('denyoom'),
    isBlocking: flags.includes('blocking'),
    runsScript: flags.includes('script'),
    isBeforeAuth: flags.includes('noauth'),
  } as CommandSpec;
}
