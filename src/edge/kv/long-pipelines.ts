/**
 * Pipelines whose answers do not fit into one portion: the rest is asked for a portion at a time. The status and the
 * headers have left with the first one, the sync token of it among them.
 *
 * Invariants
 *  LP1 a portion is asked for when the client has read the one before, so that nothing is held that is not counted, and
 *      never once it has gone
 *  LP2 nothing runs for who may not come in any more, or may not do what is left
 *  LP3 what goes wrong is the answer of each command it concerns; the list has as many answers as there are commands
 */
import { ErrorReply, type Reply } from '../../domain/kv/index.js';
import type { KvGrant } from '../../ports/index.js';
import type { RequestDetails } from '../commands/partition-routing.js';
import type { Portions } from '../commands/portions.js';
import { REFUSALS, type Refusal, refusalOf } from '../error-map.js';
import type { AnswerHold } from './answer-hold.js';
import type { CommandBatch } from './command-batch.js';
import type { KvExchange } from './exchange.js';
import type { KvFace } from './kv-face.js';
import { AnswerInPieces } from './replies-answer.js';

const LOOK_AGAIN_MS = 10;

/** One of them, on its way. */
export interface LongPipeline {
  readonly exchange: KvExchange;
  readonly batch: CommandBatch;
  readonly portions: Portions;
  readonly room: AnswerHold;
  /** One portion has so many, where there is room for it. */
  readonly portionBytes: number;
  /** What lets its client in by now, or why nothing does. @throws CONTROL_STALE as Access does */
  signIn(): KvGrant | Refusal;
  details(grant: KvGrant, maxAnswerBytes: number): RequestDetails;
}

export class LongPipelines {
  constructor(private readonly face: KvFace) {}

  /** @param first the replies of its first portion, merged, whose room is counted */
  async answer(
    pipeline: LongPipeline,
    grant: KvGrant,
    first: readonly Reply[],
    syncToken: string | undefined,
    startedAtMs: number,
  ): Promise<void> {
    const { exchange, batch, portions } = pipeline;
    const answer = new AnswerInPieces(exchange, 'pipeline', syncToken, this.face.parts.timers);
    await answer.add(first);
    await answer.flush();
    this.#record(grant, batch, answer.sentBytes, startedAtMs);
    let current = grant;
    while (!portions.isOver && !exchange.response.destroyed) {
      const sentBytes = answer.sentBytes;
      const askedAtMs = this.face.parts.clock.monotonicMs();
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

  /** @returns who it has run for, if it has */
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
      if (hasSaid === true) await this.face.broadcasts.whenCaughtUp(grant.database);
      for (const refused of denials ?? []) this.face.parts.users?.noteDenied(grant.database, refused, '', 'lua');
      return { replies, ranFor: grant };
    } catch (failure) {
      return refuse(portions, this.face.incidents.told(refusalOf(failure), failure));
    }
  }

  /** @returns false when there was none for too long, or nobody is there any more to use it */
  async #untilThereIs({ room, exchange }: LongPipeline): Promise<boolean> {
    const { clock, timers, limits } = this.face.parts;
    const untilMs = clock.monotonicMs() + limits.maxRoomWaitMs;
    while (!room.isThere) {
      if (exchange.response.destroyed || clock.monotonicMs() >= untilMs) return false;
      await timers.pause(LOOK_AGAIN_MS);
    }
    return !exchange.response.destroyed;
  }

  #record({ database }: KvGrant, batch: CommandBatch, bytesOut: number, startedAtMs: number): void {
    const durationMs = this.face.parts.clock.monotonicMs() - startedAtMs;
    this.face.parts.meter.recordKv(database, batch.takeUsage(bytesOut, durationMs));
  }
}

/** (LP3) */
function refuse(portions: Portions, { text }: Refusal): { readonly replies: readonly Reply[] } {
  return { replies: portions.giveUp(new ErrorReply(text)) };
}
