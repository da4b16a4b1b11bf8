/**
 * Pipelines whose answers do not fit into one portion: the rest is requested portion by portion. Status, headers and
 * sync token are sent with the first one.
 *
 *  LP1 a portion is requested when the client has read the one before, and not after it has disconnected; so all held
 *      bytes are counted
 *  LP2 no command runs after the client's grant is revoked or no longer permits it
 *  LP3 an error is the reply of each command it concerns; the list has one reply per command
 */
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { KvGrant } from '../../ports/index.js';
import type { Portions, RequestDetails } from '../commands/portions.js';
import { REFUSALS, type Refusal, refusalOf } from '../error-map.js';
import type { AnswerHold } from './answer-hold.js';
import type { KvExchange } from './exchange.js';
import type { KvEndpoint } from './kv-endpoint.js';
import { AnswerInPieces } from './replies-answer.js';
import type { RestBatch } from './rest-batch.js';

const LOOK_AGAIN_MS = 10;

/** A pipeline that is being answered. */
export interface LongPipeline {
  readonly exchange: KvExchange;
  readonly batch: RestBatch;
  readonly portions: Portions;
  readonly room: AnswerHold;
  /** Bytes of one portion, if the budget has room. */
  readonly portionBytes: number;
  /** The client's grant, checked again, or a refusal. @throws CONTROL_STALE as Access does */
  signIn(): KvGrant | Refusal;
  details(grant: KvGrant, maxAnswerBytes: number): RequestDetails;
}

export class LongPipelines {
  constructor(private readonly endpoint: KvEndpoint) {}

  /** @param first the merged replies of its first portion, already counted */
  async answer(
    pipeline: LongPipeline,
    grant: KvGrant,
    first: readonly Reply[],
    syncToken: string | undefined,
    startedAtMs: number,
  ): Promise<void> {
    const { exchange, batch, portions } = pipeline;
    const answer = new AnswerInPieces(exchange, 'pipeline', syncToken, this.endpoint.parts.timers);
    await answer.add(first);
    await answer.flush();
    this.#record(grant, batch, answer.sentBytes, startedAtMs);
    let current = grant;
    while (!portions.isOver && !exchange.response.destroyed) {
      const sentBytes = answer.sentBytes;
      const askedAtMs = this.endpoint.parts.clock.monotonicMs();
      const { replies, ranFor } = await this.#next(pipeline, current);
      const merged = batch.merge(replies);
      pipeline.room.count(batch.replyBytes);
      await answer.add(merged);
      await answer.flush();
      if (ranFor === undefined) continue;
      current = ranFor;
      this.#record(current, batch, answer.sentBytes - sentBytes, askedAtMs);
    }
    answer.end();
  }

  /** @returns the replies, and the grant of the commands that ran */
  async #next(
    pipeline: LongPipeline,
    before: KvGrant,
  ): Promise<{ readonly replies: readonly Reply[]; readonly ranFor?: KvGrant }> {
    const { portions, room } = pipeline;
    try {
      room.free();
      if (!room.isThere && !(await this.#untilThereIs(pipeline))) return refuse(portions, REFUSALS.overloaded);
      const grant = pipeline.signIn();
      if ('status' in grant) return refuse(portions, grant);
      const denial = grant === before ? undefined : pipeline.batch.denialOfRest(grant);
      if (denial !== undefined) return { replies: portions.giveUp(denial) };
      const details = pipeline.details(grant, room.reserve(pipeline.portionBytes));
      const { replies, denials, hasSaid } = await portions.next(grant, details);
      if (hasSaid === true) await this.endpoint.broadcasts.whenCaughtUp(grant.database);
      for (const refused of denials ?? []) this.endpoint.parts.users?.noteDenied(grant.database, refused, '', 'lua');
      return { replies, ranFor: grant };
    } catch (failure) {
      return refuse(portions, this.endpoint.incidents.told(refusalOf(failure), failure));
    }
  }

  /** @returns false if the wait was too long or the client has disconnected */
  async #untilThereIs({ room, exchange }: LongPipeline): Promise<boolean> {
    const { clock, timers, limits } = this.endpoint.parts;
    const untilMs = clock.monotonicMs() + limits.maxRoomWaitMs;
    while (!room.isThere) {
      if (exchange.response.destroyed || clock.monotonicMs() >= untilMs) return false;
      await timers.pause(LOOK_AGAIN_MS);
    }
    return !exchange.response.destroyed;
  }

  #record({ database }: KvGrant, batch: RestBatch, bytesOut: number, startedAtMs: number): void {
    const durationMs = this.endpoint.parts.clock.monotonicMs() - startedAtMs;
    this.endpoint.parts.meter.recordKv(database, batch.takeUsage(bytesOut, durationMs));
  }
}

/** Answers each remaining command with the refusal (LP3: an error is the reply of each command it concerns). */
function refuse(portions: Portions, { text }: Refusal): { readonly replies: readonly Reply[] } {
  return { replies: portions.giveUp(new ErrorReply(text)) };
}
