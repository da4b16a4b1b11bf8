/**
 * A table of Redis commands by name. Its rows are passed in, and the table is passed to its users, so that rows can use
 * the engine and the engine can look up rows (`commands.ts` has the complete table).
 */
import { type ByteString, FIRST_FORMAT_LEVEL, FORMAT_LEVEL } from '../../kernel/index.js';
import { isForScripts } from './command-description.js';
import type { CommandContext, CommandSpec } from './command-spec.js';
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
 * All fields of a row. Every row gets all of them in this order, because V8 reads a field faster when all objects have
 * one shape, and each command reads some twenty of them.
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
  takesFieldSet: undefined,
  mayFollowSubscribe: undefined,
  asksReadiness: undefined,
  endsScript: undefined,
  readsUnnamedKeys: undefined,
  waitsForIndex: undefined,
  waitsForGroup: undefined,
  judge: undefined,
  readsOnly: undefined,
  formatLevel: undefined,
  readOnlyToken: undefined,
  isLook: undefined,
};

export class CommandTable {
  readonly rows: readonly CommandSpec[];
  readonly #specsByName = new Map<string, CommandSpec>();
  /** Names with subcommands: their second word belongs to the name. */
  readonly #containers = new Set<string>();
  /** The most recent lookup, for names without subcommands: commands of a pipeline are mostly alike. */
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

  /** The row of exactly that name, in upper or lower case. */
  rowOf(name: string): CommandSpec | undefined {
    return this.#specsByName.get(name);
  }

  /** The row for a command as typed, in any case; for a container, its subcommand's row. */
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
      // An unknown subcommand gives undefined; the word is not taken as an argument.
      return this.#specsByName.get(`${upper} ${(words[1] as ByteString).toUpperCase()}`);
    }
    return this.#specsByName.get(upper);
  }

  /** The row of a command that may be queued, or the error for an unknown command or a wrong arity. */
  admit(words: readonly ByteString[]): CommandSpec | ErrorReply {
    if (words.length === 0 || (words[0] === '' && words.length === 1)) return ERRORS.emptyCommand;
    const spec = this.find(words);
    if (spec === undefined) return this.#unknown(words);
    const { arity } = spec;
    if (arity >= 0 ? words.length !== arity : words.length < -arity) {
      const problem = wrongArity(spec.name.replace(' ', '|'));
      // REST refuses the command with any arguments.
      if (spec.flags.includes('connection')) return new ErrorReply(problem.text, notOverRest(spec.name).text);
      return spec.rest === 'refused' ? new ErrorReply(problem.text, notAvailable(spec.name).text) : problem;
    }
    return spec;
  }

  #unknown(words: readonly ByteString[]): ErrorReply {
    const name = (words[0] as ByteString).toUpperCase();
    if (!this.#containers.has(name)) return unknownCommand(words);
    // A container without a subcommand has the wrong arity, as in Redis.
    const problem = words.length === 1 ? wrongArity(name) : unknownSubcommand(words);
    const isOfConnection = this.#specsByName.get(`${name} HELP`)?.flags.includes('connection') === true;
    return isOfConnection ? new ErrorReply(problem.text, notOverRest(name).text) : problem;
  }
}

/**
 * Refuses a command whose effects need a higher format level than the one in force: in a rolling upgrade a program of
 * the previous release may be the next owner. @throws ErrorReply
 */
export function requireFormat({ isReplay, server }: CommandContext, feature: string, level = FIRST_FORMAT_LEVEL): void {
  if (isReplay || level <= (server.formatLevel?.() ?? FORMAT_LEVEL)) return;
  throw new ErrorReply(`ERR ${feature} needs format level ${level}: run millrace cluster upgrade`);
}

/** The handlers of a row, which ask first whether its effects may be stored. */
function gated({ name, formatLevel, handler, sliced }: CommandSpec): Pick<CommandSpec, 'handler' | 'sliced'> {
  return {
    handler: (context) => {
      requireFormat(context, name, formatLevel);
      return handler(context);
    },
    ...(sliced !== undefined && {
      sliced: function* (context) {
        requireFormat(context, name, formatLevel);
        return yield* sliced(context);
      },
    }),
  };
}

function completed(row: CommandSpec): CommandSpec {
  const { flags } = row;
  const isQuick = row.isQuick ?? flags.includes('fast');
  const isInOneGo = row.sliced === undefined && !flags.includes('blocking') && !flags.includes('script');
  return {
    ...NOTHING_SAID,
    ...row,
    ...(row.formatLevel !== undefined && gated(row)),
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
