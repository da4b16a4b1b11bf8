/**
 * Composes the messages that commands of one database send to the queue: judges their options as the queue does, and
 * makes records for the outbox.
 */
import { encodeOutboxRecord } from '../../codec/queue/index.js';
import { type ComposedMessage, ErrorReply, type MessageComposer, type OutboxCallKind } from '../../domain/kv/index.js';
import { askedCall } from '../../domain/queue/index.js';
import {
  type AccountId,
  type ByteString,
  bufferOver,
  bytesOfBuffer,
  bytesOfText,
  type DatabaseId,
  textOfBytes,
} from '../../kernel/index.js';
import type { HttpOut, OutboxAccounts, Random } from '../../ports/index.js';

/** Accounts that have refused a record for the moment; further commands are refused until they accept it. */
export class AccountRefusals {
  readonly #reasons = new Map<AccountId, string>();

  note(account: AccountId, reason: string): void {
    this.#reasons.set(account, reason);
  }

  clear(account: AccountId): void {
    this.#reasons.delete(account);
  }

  of(account: AccountId): string | undefined {
    return this.#reasons.get(account);
  }
}

export interface QueueMessagesPorts {
  readonly accounts: OutboxAccounts;
  readonly random: Random;
  readonly destinations: Pick<HttpOut, 'refusalOf'>;
  readonly refusals: AccountRefusals;
}

export class QueueMessages implements MessageComposer {
  constructor(
    private readonly ports: QueueMessagesPorts,
    private readonly database: DatabaseId,
  ) {}

  compose(kind: OutboxCallKind, words: readonly ByteString[], named: ByteString, nowMs: number): ComposedMessage {
    const { accounts, random, destinations, refusals } = this.ports;
    const found = accounts.outboxAccountOf(this.database, textOfBytes(named));
    if ('problem' in found) throw refused(found.problem);
    const { account, terms, formatLevel } = found;
    const refusal = refusals.of(account);
    if (refusal !== undefined) throw refused(refusal);
    const refusalOf = (url: string) => destinations.refusalOf(url);
    const asked = askedCall(kind, words.slice(1), { account: terms, nowMs, random, formatLevel, refusalOf });
    if (!asked.isOk) throw refused(asked.message);
    const bytes = encodeOutboxRecord({ account, call: asked.call });
    const record = bytesOfBuffer(bufferOver(bytes));
    return { record, id: bytesOfText(asked.id) };
  }
}

function refused(reason: string): ErrorReply {
  return new ErrorReply(`ERR queue: ${reason}`);
}
