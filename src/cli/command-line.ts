/** What commands for the control actor have in common: words, exit codes, notes, and asking until there is an answer. */
import { parseArgs } from 'node:util';
import type { ControlClient } from '../actors/control/index.js';
import {
  type AuditAction,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
} from '../domain/control/index.js';
import { type AccountId, describeError, isMillraceError } from '../kernel/index.js';

/** Each try waits as long as the client does: together longer than a change of owners. */
const MAX_TRIES = 3;

const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** What is wrong with the command line; its message is one line. */
export class UsageError extends Error {}
/** What the control actor refused, or cannot be found. */
export class RefusedCommand extends Error {}

/** What a command can be told to do, by its first word. */
export type Verbs<Deps> = Readonly<Record<string, (argv: readonly string[], deps: Deps) => Promise<void>>>;

/**
 * Does what the first word says. Never throws.
 * @param name of the command, for its errors
 * @returns the exit code: 0 done, 1 refused or failed, 2 wrong usage
 */
export async function runVerb<Deps extends { writeError(text: string): void }>(
  [name, usage, verbs]: readonly [name: string, usage: string, verbs: Verbs<Deps>],
  [verb, ...rest]: readonly string[],
  deps: Deps,
): Promise<number> {
  try {
    if (verb === undefined) throw new UsageError('what is to be done?');
    const run = Object.hasOwn(verbs, verb) ? verbs[verb] : undefined;
    if (run === undefined) throw new UsageError(`${verb} is not one of its commands`);
    await run(rest, deps);
    return DONE;
  } catch (error) {
    if (error instanceof UsageError) {
      deps.writeError(`millrace ${name}: ${error.message}\n${usage}`);
      return WRONG_USAGE;
    }
    deps.writeError(`millrace ${name}: ${describeError(error)}\n`);
    return FAILED;
  }
}

type ReplyOf<Type extends ControlReply['type']> = Extract<ControlReply, { readonly type: Type }>;

/** A lost answer is asked for again: the same command, with the same id and secrets, is carried out once. */
export async function ask(client: ControlClient, command: ControlCommand): Promise<ControlReply> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await client.send(command);
    } catch (error) {
      const mayAskAgain = isMillraceError(error) && (error.retryable || error.code === 'OUTCOME_UNKNOWN');
      if (!mayAskAgain || tries >= MAX_TRIES) throw error;
    }
  }
}

/** @throws Refused for any other answer than one of that type */
export async function askFor<Type extends ControlReply['type']>(
  client: ControlClient,
  command: ControlCommand,
  type: Type,
): Promise<ReplyOf<Type>> {
  const reply = await ask(client, command);
  if (reply.type === type) return reply as ReplyOf<Type>;
  throw new RefusedCommand(
    reply.type === 'Rejected' ? reply.message : `an answer that was not expected: ${reply.type}`,
  );
}

type Options = Readonly<Record<string, string | undefined>>;

interface Parsed {
  readonly words: readonly string[];
  readonly options: Options;
  readonly flags: ReadonlySet<string>;
}

/** @param which  what to say when a word is missing */
export function parse(
  argv: readonly string[],
  options: readonly string[],
  flags: readonly string[],
  words: number,
  which = '',
): Parsed {
  const spec = Object.fromEntries([
    ...options.map((name) => [name, { type: 'string' }] as const),
    ...flags.map((name) => [name, { type: 'boolean' }] as const),
  ]);
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...argv], options: spec, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(describeError(error).split('\n')[0] as string);
  }
  const { values, positionals } = parsed as { values: Record<string, unknown>; positionals: string[] };
  if (positionals.length < words) throw new UsageError(which);
  if (positionals.length > words) throw new UsageError(`${positionals[words]} is one word too many`);
  return {
    words: positionals,
    options: Object.fromEntries(options.map((name) => [name, values[name] as string | undefined])),
    flags: new Set(flags.filter((name) => values[name] === true)),
  };
}

export function wholeOption(options: Options, name: string): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new UsageError(`--${name} accepts a whole number`);
  return Number(text);
}

/**
 * What an operator does on the command line is in the audit log of the account that it concerns.
 * @param entity name of what is changed
 */
export function noted(
  account: AccountId,
  action: AuditAction,
  entity: string,
  command: Exclude<ControlCommand, { readonly type: 'Audited' }>,
): ControlCommand {
  const note = {
    actor: 'operator',
    action: auditActionNumber(action),
    source: 'COMMAND LINE',
    entity,
    secondaryEntity: '',
    thirdEntity: '',
    ip: '',
    reason: '',
  };
  return { type: 'Audited', account, note, command };
}
