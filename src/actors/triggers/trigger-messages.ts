/** Makes the messages of a trigger: the call of a publish, with ids that follow from the change. */
import { createHash } from 'node:crypto';
import type { Trigger } from '../../domain/control/index.js';
import { type AccountTerms, askedCall, derivedMessageId, type OutboxCall } from '../../domain/queue/index.js';
import {
  type AccountId,
  type ByteString,
  bufferOfBytes,
  bytesOfText,
  MillraceError,
  type TriggerId,
} from '../../kernel/index.js';
import type { HttpOut, Random } from '../../ports/index.js';
import { type ChangedKey, changeId, changeRecord } from './change-record.js';

export interface MessagePorts {
  readonly random: Random;
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
}

const JSON_TYPE: readonly ByteString[] = ['HEADER', 'Content-Type', 'application/json'] as ByteString[];

/** The queues that keep the order of a trigger's records; none where it keeps no order, or names a queue. */
export function laneQueues({ id, order, lanes, destination }: Trigger): readonly string[] {
  if (order === 'none' || destination.queue !== '' || destination.kind === 'workflow') return [];
  return Array.from({ length: lanes }, (_, lane) => (lane === 0 ? `trigger-${id}` : `trigger-${id}-${lane}`));
}

/** Queues of this form are made for triggers alone. */
export function isLaneQueue(name: string): boolean {
  return /^trigger-tr-[a-z2-7]{16}(-\d+)?$/.test(name);
}

/**
 * The call for one change.
 * @throws INVALID with the queue's text
 */
export function messageOf(
  { random, destinations }: MessagePorts,
  trigger: Trigger,
  terms: AccountTerms,
  change: ChangedKey,
): OutboxCall {
  const { id, destination } = trigger;
  const identity = `trigger ${id} ${changeId(change)}`;
  const kind = destination.kind === 'workflow' ? 'trigger' : 'publish';
  const words = [bytesOfText(destination.target), bytesOfText(changeRecord(trigger, change)), ...optionWords(trigger)];
  const queue = queueFor(trigger, change.key);
  if (queue !== '') words.push('QUEUE' as ByteString, bytesOfText(queue));
  if (kind === 'trigger') words.push('RUN' as ByteString, bytesOfText(runIdOf(id, identity)));
  const refusalOf = (url: string) => destinations.refusalOf(url);
  const asked = askedCall(kind, words, { account: terms, nowMs: change.atMs, random, refusalOf });
  if (!asked.isOk) throw new MillraceError('INVALID', asked.message, { trigger: id });
  if (asked.call.kind !== 'publish') throw new MillraceError('DEFECT', 'a trigger publishes', { trigger: id });
  return { kind: 'publish', item: { ...asked.call.item, id: derivedMessageId(identity) } };
}

function optionWords({ options }: Trigger): ByteString[] {
  const words = options.flatMap(({ name, value }) => ['HEADER' as ByteString, bytesOfText(name), bytesOfText(value)]);
  const hasType = options.some(({ name }) => name.toLowerCase() === 'content-type');
  return hasType ? words : [...JSON_TYPE, ...words];
}

function queueFor(trigger: Trigger, key: ByteString | undefined): string {
  if (trigger.destination.queue !== '') return trigger.destination.queue;
  const queues = laneQueues(trigger);
  if (queues.length < 2 || key === undefined) return queues[0] ?? '';
  return queues[hashOf(key) % queues.length] as string;
}

function hashOf(key: ByteString): number {
  return createHash('sha256').update(bufferOfBytes(key)).digest().readUInt32BE(0);
}

function runIdOf(id: TriggerId, identity: string): string {
  return `${id}-${createHash('sha256').update(identity).digest('base64url').slice(0, 22)}`;
}

export interface TriggerAccounts {
  termsOf(account: AccountId): AccountTerms | undefined;
}
