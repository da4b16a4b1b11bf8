/**
 * Runs the commands of a request: takes them from the quota, asks the partitions, and answers in one piece, in
 * several, or, for a long pipeline, portion by portion.
 */
import { isLongReply } from '../../codec/json/index.js';
import { ErrorReply } from '../../domain/kv/index.js';
import type { KvGrant } from '../../ports/index.js';
import type { KvMode } from '../../protocol/index.js';
import { PartitionRouter } from '../commands/partition-routing.js';
import type { RequestDetails, RoutedReplies } from '../commands/portions.js';
import { QUOTA_EXCEEDED, takeSingly } from '../commands/quota.js';
import { badRequest, REFUSALS, refusalOf } from '../error-map.js';
import { AnswerHold } from './answer-hold.js';
import { authenticate } from './authentication.js';
import type { KvExchange } from './exchange.js';
import type { JsonCommand } from './json-command-reader.js';
import type { KvEndpoint } from './kv-endpoint.js';
import { LongPipelines } from './long-pipelines.js';
import { answer, answerInPieces } from './replies-answer.js';
import type { RequestTarget } from './request-target.js';
import { countAhead, isCountedAhead, RestBatch } from './rest-batch.js';

/** A request with its grant and mode. */
export interface KvCall {
  readonly exchange: KvExchange;
  readonly grant: KvGrant;
  readonly target: RequestTarget;
  readonly mode: KvMode;
}

/** Longer answers are encoded and written in pieces. */
const LONG_ANSWER_BYTES = 256 * 1024;
const NOTHING_ASKED: RoutedReplies = { replies: [], syncToken: undefined };
const NOT_IN_TRANSACTION = new ErrorReply('ERR ACL commands are not allowed in a transaction');

export class RequestRunner {
  readonly #router: PartitionRouter;
  readonly #longPipelines: LongPipelines;
  /** Limit of the answer of one transaction. */
  readonly #maxAnswerBytes: number;
  /** Bytes of a pipeline's portion, if the budget has room. */
  readonly #portionBytes: number;

  constructor(private readonly endpoint: KvEndpoint) {
    const { budget, parts } = endpoint;
    const { limits } = parts;
    this.#router = new PartitionRouter(endpoint.parts.gateway, endpoint.parts);
    this.#longPipelines = new LongPipelines(endpoint);
    this.#maxAnswerBytes = Math.min(limits.maxAnswerBytes, budget.maxAnswerBytes);
    this.#portionBytes = Math.min(limits.answerPortionBytes, this.#maxAnswerBytes);
  }

  start(asked: KvCall, commands: readonly JsonCommand[]): void {
    const { endpoint } = this;
    const { exchange, grant } = asked;
    // Unread answers count against the tenant's budget.
    if (!endpoint.budget.hasRoom(grant.database)) {
      exchange.refuse(REFUSALS.overloaded);
      return;
    }
    const batch = new RestBatch(grant, commands, endpoint.parts.users);
    const room = new AnswerHold(endpoint.budget, grant.database, exchange.response);
    this.#run(asked, batch, room).catch((failure: unknown) => {
      room.free();
      exchange.refuse(endpoint.incidents.told(refusalOf(failure), failure));
    });
  }

  async #run(asked: KvCall, batch: RestBatch, room: AnswerHold): Promise<void> {
    const { exchange, grant, mode } = asked;
    const { clock, users, timers, meter } = this.endpoint.parts;
    const startedAtMs = clock.monotonicMs();
    const mayRun = this.#mayRun(asked, batch);
    if (mayRun !== true && !(await mayRun)) return;
    const { length } = batch.commands;
    const portions = mode === 'pipeline' && length > 1 ? this.#router.portions(grant, batch) : undefined;
    let routed = NOTHING_ASKED;
    if (portions !== undefined) {
      routed = await portions.next(grant, this.#details(grant, exchange, room.reserve(this.#portionBytes)));
    } else if (length > 0) {
      const details = this.#details(grant, exchange, length > 1 ? this.#maxAnswerBytes : undefined);
      try {
        routed = await this.#router.run(grant, mode, batch, details);
      } catch (failure) {
        routed = await this.#router.runAgain(failure, grant, mode, batch, () => details);
      }
    }
    const { replies, syncToken, denials, hasSaid, isAborted } = routed;
    exchange.indexLag = routed.indexLag;
    // The owner has discarded the transaction before its first command.
    if (isAborted === true && replies[0] instanceof ErrorReply) {
      room.free();
      exchange.refuse(badRequest(replies[0].restText));
      return;
    }
    // A publishing client waits while too many messages are still being written to listeners.
    if (hasSaid === true) await this.endpoint.broadcasts.whenCaughtUp(grant.database);
    for (const denial of denials ?? []) users?.noteDenied(grant.database, denial, '', 'lua');
    if (isCountedAhead(replies[0])) for (const _ of countAhead(replies[0])) await timers.yieldToEventLoop();
    const merged = batch.merge(replies);
    room.count(batch.replyBytes);
    if (portions?.isOver === false) {
      const long = { exchange, batch, portions, room, portionBytes: this.#portionBytes, ...this.#laterOn(asked) };
      await this.#longPipelines.answer(long, grant, merged, syncToken, startedAtMs);
      return;
    }
    const isLong = batch.replyBytes > LONG_ANSWER_BYTES || merged.some(isLongReply);
    const bytesOut = isLong
      ? await answerInPieces(exchange, mode, merged, syncToken, timers)
      : answer(exchange, mode, merged, syncToken);
    const durationMs = clock.monotonicMs() - startedAtMs;
    meter.recordKv(grant.database, batch.takeUsage(bytesOut, durationMs));
  }

  /** Takes the commands from the quota. @returns false if the request was refused */
  #mayRun(asked: KvCall, batch: RestBatch): boolean | Promise<boolean> {
    if (asked.mode === 'transaction') return this.#mayRunWhole(asked, batch);
    if (batch.ofEdge.length > 0) return this.#runOfEdge(asked, batch);
    const { commands, bytes } = batch;
    const taken = commands.length === 0 || this.endpoint.parts.quota.take(asked.grant, commands.length, bytes);
    return taken === true || this.#takeWhatIsLeft(asked, batch, taken);
  }

  async #takeWhatIsLeft({ grant }: KvCall, batch: RestBatch, taken: boolean | Promise<boolean>): Promise<boolean> {
    if (!(await taken)) batch.keepFirst(await takeSingly(this.endpoint.parts.quota, grant, batch.commands.length));
    return true;
  }

  /** A transaction runs whole or not at all. */
  async #mayRunWhole({ exchange, grant }: KvCall, batch: RestBatch): Promise<boolean> {
    const problem = await this.#discardReason(grant, batch);
    if (problem !== undefined) exchange.refuse(badRequest(problem.restText));
    return problem === undefined;
  }

  async #discardReason(grant: KvGrant, batch: RestBatch): Promise<ErrorReply | undefined> {
    if (batch.ofEdge.length > 0) return batch.firstProblem ?? NOT_IN_TRANSACTION;
    const problem = batch.firstProblem ?? this.#router.transactionProblem(grant, batch);
    if (problem !== undefined || batch.commands.length === 0) return problem;
    return (await this.endpoint.parts.quota.take(grant, batch.commands.length, batch.bytes))
      ? undefined
      : QUOTA_EXCEEDED;
  }

  /**
   * Runs ACL commands one after the other, before the commands for partitions; the two kinds do not see each other's
   * changes.
   */
  async #runOfEdge(asked: KvCall, batch: RestBatch): Promise<boolean> {
    const { grant } = asked;
    for (const { position, spec, words } of batch.ofEdge) {
      const mayRun = await this.endpoint.parts.quota.take(grant, 1);
      const reply = mayRun ? await this.endpoint.parts.users?.run(grant, spec, words) : QUOTA_EXCEEDED;
      batch.settle(position, reply ?? null);
    }
    const { commands, bytes } = batch;
    const taken = commands.length === 0 || this.endpoint.parts.quota.take(grant, commands.length, bytes);
    return this.#takeWhatIsLeft(asked, batch, taken);
  }

  /** Functions that a long pipeline calls between its portions. */
  #laterOn({ exchange, grant, target }: KvCall) {
    const { endpoint } = this;
    const { access } = endpoint.parts;
    let current = grant;
    let { version } = access;
    return {
      signIn: () => {
        if (version !== undefined && access.version === version) return current;
        const judged = authenticate(endpoint, exchange.request, target.token);
        if ('status' in judged) return judged;
        current = judged;
        version = access.version;
        return current;
      },
      details: (renewed: KvGrant, maxAnswerBytes: number) => this.#details(renewed, exchange, maxAnswerBytes),
    };
  }

  /** Rules are included because the owner checks each command of a script against them. */
  #details(
    { user, rules }: KvGrant,
    { request, response }: KvExchange,
    maxAnswerBytes: number | undefined,
  ): RequestDetails {
    const { trace } = request;
    const isGone = () => response.destroyed;
    const by = `${user}@${this.endpoint.addresses.of(request)}`;
    const details = maxAnswerBytes === undefined ? { by, isGone, trace } : { by, isGone, trace, maxAnswerBytes };
    return rules === undefined ? details : { ...details, client: { ...REST_CLIENT, user, rules } };
  }
}

const REST_CLIENT = { face: 'rest', protocol: 2, id: '', address: '0.0.0.0:0' } as const;
