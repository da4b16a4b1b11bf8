/**
 * The operations of the clients and their answers, the input of every check.
 *
 * The instants of an operation are counts of events, not times: two operations in one event count as overlapping, and
 * an operation of an earlier event precedes all operations of later events.
 */
import { SimpleString } from '../../src/domain/kv/index.js';
import { describeError, type ErrorCode, isMillraceError, type MillraceError } from '../../src/kernel/index.js';
import type { KvResponse } from '../../src/protocol/index.js';
import type { Operation } from '../support/linearizability.js';
import type { CounterInput, CounterOutput, RegisterInput, RegisterOutput } from '../support/linearizability-models.js';

export type Input = RegisterInput | CounterInput;
export type Output = RegisterOutput | CounterOutput;

/** The outcome of an operation for its client. */
export type Ending =
  | { readonly kind: 'answered'; readonly output: Output }
  /** The operation certainly had no effect. */
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string }
  /** The operation may have taken effect and will not later, or there was no answer at all. */
  | { readonly kind: 'unknown' }
  /** The gateway failed with an undocumented error. */
  | { readonly kind: 'broken'; readonly error: unknown };

export interface Attempt {
  readonly client: string;
  readonly key: string;
  readonly input: Input;
  readonly process: string;
  readonly calledAt: number;
  endedAt: number | undefined;
  ending: Ending;
}

/** The errors of a gateway for operations without effect (ports/gateways.ts). */
const NOTHING_HAPPENED: readonly ErrorCode[] = [
  'MAILBOX_FULL',
  'SHARD_UNAVAILABLE',
  'STORAGE_FULL',
  'SHUTTING_DOWN',
  'NOT_APPLIED',
];

export class History {
  readonly attempts: Attempt[] = [];

  begin(client: string, key: string, input: Input, process: string, calledAt: number): Attempt {
    const attempt: Attempt = { client, key, input, process, calledAt, endedAt: undefined, ending: { kind: 'unknown' } };
    this.attempts.push(attempt);
    return attempt;
  }

  /** The operations for the checker, without those that certainly failed. */
  operations(): Operation<Input, Output>[] {
    return this.attempts.flatMap(({ client, key, input, calledAt, endedAt, ending }) => {
      if (ending.kind === 'failed' || ending.kind === 'broken') return [];
      const operation = { client, key, input, calledAt };
      // An operation with the answer "unknown" cannot take effect later.
      if (ending.kind === 'unknown') return [{ ...operation, finalAt: endedAt }];
      if (endedAt === undefined) return [operation];
      return [{ ...operation, returned: { at: endedAt, output: ending.output } }];
    });
  }

  count(kind: Ending['kind']): number {
    return this.attempts.filter(({ ending }) => ending.kind === kind).length;
  }
}

export function endingOfResponse(response: KvResponse): Ending {
  const reply = response.replies.at(-1);
  if (reply instanceof SimpleString) return { kind: 'answered', output: reply.text };
  if (typeof reply === 'string' || reply === null) return { kind: 'answered', output: reply };
  if (typeof reply === 'number' || typeof reply === 'bigint') return { kind: 'answered', output: Number(reply) };
  return { kind: 'broken', error: new Error(`an unexpected reply: ${JSON.stringify(reply)}`) };
}

/** A stopped shard executes no command, for any reason of the stop. */
export function isWithoutEffect({ code, details }: MillraceError): boolean {
  return NOTHING_HAPPENED.includes(code) || details.isStopped === true;
}

export function endingOfFailure(error: unknown): Ending {
  if (!isMillraceError(error)) return { kind: 'broken', error };
  if (error.code === 'OUTCOME_UNKNOWN') return { kind: 'unknown' };
  if (isWithoutEffect(error)) return { kind: 'failed', code: error.code, message: describeError(error) };
  return { kind: 'broken', error };
}

/** The Redis commands of an operation, to be run as one transaction; the last reply is its answer. */
export function commandsOf(key: string, input: Input): string[][] {
  switch (input.type) {
    case 'get':
      return [['GET', key]];
    case 'set':
      return [['SET', key, input.value]];
    case 'del':
      return [['DEL', key]];
    case 'cas':
      return [['SET', key, input.value, 'IFEQ', input.expected]];
    case 'incrby':
      // An increment of two is sent as two increments of one, so that a partly visible transaction is detected.
      return input.by === 2
        ? [
            ['INCR', key],
            ['INCR', key],
          ]
        : [['INCRBY', key, String(input.by)]];
  }
}
