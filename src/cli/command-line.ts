/** Common parts of commands for the control actor: retries until there is a reply, and audit notes. */
import type { ControlClient } from '../actors/control/index.js';
import {
  type AuditAction,
  auditActionNumber,
  type ControlCommand,
  type ControlReply,
} from '../domain/control/index.js';
import { type AccountId, assert, isMillraceError } from '../kernel/index.js';
import type { ParsedArguments } from './parser.js';

/** Each try waits as long as the client does; together longer than a change of owners. */
const MAX_TRIES = 3;

/** A refusal by the control actor, or an object that was not found. */
export class RefusedCommand extends Error {}

/** The verbs of a command, by name. */
export type Verbs<Deps> = Readonly<Record<string, (asked: ParsedArguments, deps: Deps) => Promise<void>>>;

/** @returns the exit code. @throws UsageError, RefusedCommand, errors of asking */
export async function doVerb<Deps>(verbs: Verbs<Deps>, verb: string, asked: ParsedArguments, deps: Deps): Promise<0> {
  const run = verbs[verb];
  assert(run, 'the command has no implementation', { verb });
  await run(asked, deps);
  return 0;
}

type ReplyOf<Type extends ControlReply['type']> = Extract<ControlReply, { readonly type: Type }>;

/** A lost reply is requested again: the same command, with the same id and secrets, is executed once. */
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

/** @throws Refused for a reply of another type */
export async function askFor<Type extends ControlReply['type']>(
  client: ControlClient,
  command: ControlCommand,
  type: Type,
): Promise<ReplyOf<Type>> {
  const reply = await ask(client, command);
  if (reply.type === type) return reply as ReplyOf<Type>;
  throw new RefusedCommand(reply.type === 'Rejected' ? reply.message : `unexpected reply type: ${reply.type}`);
}

/** The value of an integer option. */
export function wholeOf({ options }: ParsedArguments, name: string): number | undefined {
  const text = options[name];
  return text === undefined ? undefined : Number(text);
}

/**
 * Wraps a command so that the audit log of its account records it.
 * @param entity name of the changed object
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
