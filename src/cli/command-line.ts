/** What commands for the control actor have in common: asking until there is an answer, and notes of what was done. */
import type { ControlClient } from '../actors/control/index.js';
import {
  type AuditAction,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
} from '../domain/control/index.js';
import { type AccountId, assert, isMillraceError } from '../kernel/index.js';
import type { Asked } from './parser.js';

/** Each try waits as long as the client does: together longer than a change of owners. */
const MAX_TRIES = 3;

/** What the control actor refused, or cannot be found. */
export class RefusedCommand extends Error {}

/** What a command can be told to do, by its first word. */
export type Verbs<Deps> = Readonly<Record<string, (asked: Asked, deps: Deps) => Promise<void>>>;

/** @returns the exit code. @throws UsageError, RefusedCommand, and what asking throws */
export async function doVerb<Deps>(verbs: Verbs<Deps>, verb: string, asked: Asked, deps: Deps): Promise<0> {
  const run = verbs[verb];
  assert(run, 'a verb that is declared and not there', { verb });
  await run(asked, deps);
  return 0;
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

/** An option that was declared as a whole number. */
export function wholeOf({ options }: Asked, name: string): number | undefined {
  const text = options[name];
  return text === undefined ? undefined : Number(text);
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
