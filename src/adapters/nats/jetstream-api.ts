/**
 * JetStream through its client, with the deadlines and failures of a link: each request is one try. A refusal of the
 * server, and a server that does not answer, are JOURNAL_UNAVAILABLE; `refusalOf` tells them apart.
 */
import { setTimeout as pause } from 'node:timers/promises';
import {
  AckPolicy,
  type ConsumerConfig,
  type ConsumerInfo,
  type ConsumerMessages,
  DeliverPolicy,
  JetStreamApiError,
  type JetStreamManager,
  type JsMsg,
  jetstream,
  jetstreamManager,
  type MsgRequest,
  ReplayPolicy,
  type StoredMsg,
  type StreamConfig,
  type StreamInfo,
} from '@nats-io/jetstream';
import { nanos, nuid } from 'nats';
import { assert, describeError, isMillraceError } from '../../kernel/index.js';
import type { AppendOutcome } from '../../ports/index.js';
import { endingProcess, journalUnavailable, type NatsLink } from './link.js';
import { isForbidden, LinkFailure } from './link-failure.js';
import { outcomeOfFailure, outcomeOfRefusal } from './publish-once.js';
import { jetStreamApiSubject } from './subjects.js';

/** Codes of server errors that are handled specially. */
export const JETSTREAM_ERRORS = {
  streamNotFound: 10059,
  streamNameInUse: 10058,
  insufficientResources: 10023,
  noSuitablePeers: 10005,
  temporarilyUnavailable: 10008,
  anotherInFlight: 10164,
} as const;

/** The refusal of the server, with its code, when that is the cause. */
export function refusalOf(error: unknown): JetStreamApiError | undefined {
  const cause = isMillraceError(error, 'JOURNAL_UNAVAILABLE') ? error.cause : undefined;
  return cause instanceof JetStreamApiError ? cause : undefined;
}

/** Long enough for an answer that waits for a disk, shorter than an election. */
const TIMEOUT_MS = 5000;
/** A stream without a leader does not answer, and its later leader does not get the request: it is sent again. */
const ASK_AGAIN_MS = 1000;
/** The server that creates consumers is a leader too; a request lost with it is repeated after this time. */
const CONSUMER_MADE_WITHIN_MS = 2000;
/** The server removes the consumer of an ended process after this time. */
const INACTIVE_MS = 10_000;

/** The servers refuse requests while they elect their leader; a refused request is sent again after this pause. */
const LEADER_PAUSE_MS = 100;

const UNANSWERED = Symbol('unanswered');

/** @throws errors that are answers, and a refusal for lack of rights, which a repeated request would get again */
function onlyUnanswered(error: unknown): typeof UNANSWERED {
  if (refusalOf(error) !== undefined || (error instanceof Error && isForbidden(error.cause))) throw error;
  return UNANSWERED;
}

function hasNoLeader(cause: unknown): boolean {
  return cause instanceof JetStreamApiError && cause.code === JETSTREAM_ERRORS.temporarilyUnavailable;
}

export class JetStreamApi {
  readonly #client;
  readonly #manager: Promise<JetStreamManager>;

  constructor(
    readonly link: NatsLink,
    readonly timeoutMs = TIMEOUT_MS,
  ) {
    this.#client = jetstream(link.raw, { timeout: timeoutMs });
    this.#manager = jetstreamManager(link.raw, { timeout: timeoutMs, checkAPI: false });
  }

  /**
   * While the servers have no leader, they refuse every request without executing it. A refused request is therefore
   * sent again until its time is over.
   * @throws JOURNAL_UNAVAILABLE, also for a refusal (`refusalOf`)
   */
  async ask<T>(question: (manager: JetStreamManager) => Promise<T>, timeoutMs?: number): Promise<T> {
    const manager = await this.#manager;
    const lastMs = performance.now() + (timeoutMs ?? this.timeoutMs) - LEADER_PAUSE_MS;
    for (;;) {
      try {
        return await this.link.ask(() => question(manager), timeoutMs);
      } catch (cause) {
        if (!hasNoLeader(cause) || performance.now() > lastMs) {
          throw journalUnavailable(cause, { why: describeError(cause) });
        }
      }
      await pause(LEADER_PAUSE_MS);
    }
  }

  /** Undefined when there is no such stream. While its servers elect a leader, the first answer after that counts. */
  async findStream(stream: string): Promise<StreamInfo | undefined> {
    try {
      return await this.#firstAnswer((timeoutMs) => this.ask(({ streams }) => streams.info(stream), timeoutMs));
    } catch (error) {
      if (refusalOf(error)?.code === JETSTREAM_ERRORS.streamNotFound) return undefined;
      throw error;
    }
  }

  /** For a request that may be repeated. A late answer to an earlier try counts as well. */
  async #firstAnswer<T>(ask: (timeoutMs: number) => Promise<T>): Promise<T> {
    const quick = () => ask(Math.min(ASK_AGAIN_MS, this.timeoutMs)).catch(onlyUnanswered);
    const first = await quick();
    if (first !== UNANSWERED) return first;
    const slow = ask(this.timeoutMs);
    slow.catch(() => undefined);
    for (let askedMs = ASK_AGAIN_MS; askedMs < this.timeoutMs; askedMs += ASK_AGAIN_MS) {
      const answer = await Promise.race([slow, quick()]);
      if (answer !== UNANSWERED) return answer;
    }
    return slow;
  }

  createStream(config: Partial<StreamConfig> & { name: string }): Promise<StreamInfo> {
    return this.ask(({ streams }) => streams.add({ ...config }));
  }

  /** Removes the messages below `seq`, or all of one subject. */
  purge(stream: string, selection: { seq: number } | { filter: string }): Promise<unknown> {
    return this.ask(({ streams }) => streams.purge(stream, selection));
  }

  /** The subjects that match, with how many messages each has. */
  async subjects(stream: string, filter: string): Promise<Map<string, number>> {
    const { state } = await this.ask(({ streams }) => streams.info(stream, { subjects_filter: filter }));
    return new Map(Object.entries(state.subjects ?? {}));
  }

  /** From the stream's leader. Undefined when the server that answered does not have it. */
  async message(stream: string, which: MsgRequest): Promise<StoredMsg | undefined> {
    return (await this.ask(({ streams }) => streams.getMessage(stream, which))) ?? undefined;
  }

  /**
   * One try to store a message; never throws.
   * @param expectedLastOnSubject  position of the subject's last message, 0 when it must have none
   */
  async publish(
    { stream, subject }: { readonly stream: string; readonly subject: string },
    bytes: Uint8Array | string,
    expectedLastOnSubject?: number,
  ): Promise<AppendOutcome> {
    const expect = {
      streamName: stream,
      ...(expectedLastOnSubject === undefined ? {} : { lastSubjectSequence: expectedLastOnSubject }),
    };
    try {
      const answer = await this.link.ask(() => this.#client.publish(subject, bytes, { expect }));
      assert(answer.stream === stream && answer.seq > 0, 'an answer of another stream', { ...answer });
      return { kind: 'stored', position: answer.seq };
    } catch (cause) {
      if (cause instanceof JetStreamApiError) return outcomeOfRefusal(cause.code, cause.message);
      return cause instanceof LinkFailure ? outcomeOfFailure(cause) : { kind: 'unknown', cause };
    }
  }

  /** A consumer without acknowledgements, which has no name on disk and no replicas. */
  createConsumer(
    stream: string,
    config: Partial<ConsumerConfig> & { readonly name: string; readonly opt_start_seq: number },
    timeoutMs = CONSUMER_MADE_WITHIN_MS,
  ): Promise<ConsumerInfo> {
    const settings = {
      deliver_policy: DeliverPolicy.StartSequence,
      ack_policy: AckPolicy.None,
      max_deliver: 1,
      replay_policy: ReplayPolicy.Instant,
      inactive_threshold: nanos(INACTIVE_MS),
      mem_storage: true,
      num_replicas: 1,
      ...config,
    };
    return this.ask(({ consumers }) => consumers.add(stream, settings), Math.min(timeoutMs, CONSUMER_MADE_WITHIN_MS));
  }

  newConsumerName(): string {
    return `feed-${nuid.next()}`;
  }

  /**
   * What a consumer sends to a subject; begins before the consumer exists. An error of `onMessage` ends the process.
   * @throws when the connection is closing
   */
  async receive(subject: string, onMessage: (message: JsMsg) => void): Promise<ConsumerMessages> {
    const consumer = await this.#client.consumers.getBoundPushConsumer({ deliver_subject: subject });
    return consumer.consume({ callback: endingProcess(onMessage) });
  }

  /** Best effort: the server removes it later anyway. */
  deleteConsumer(stream: string, name: string): void {
    if (!this.link.raw.isClosed()) this.ask(({ consumers }) => consumers.delete(stream, name)).catch(() => {});
  }

  /** Asks the leader to let another server lead. The client has no function for it. @throws JOURNAL_UNAVAILABLE */
  async moveLeader(stream: string, to: string): Promise<void> {
    const subject = jetStreamApiSubject(`STREAM.LEADER.STEPDOWN.${stream}`);
    const question = JSON.stringify({ placement: { preferred: to } });
    const answer = await this.link.request(subject, question, { timeoutMs: this.timeoutMs }).catch((cause: unknown) => {
      throw journalUnavailable(cause, { stream, why: describeError(cause) });
    });
    const { error } = JSON.parse(answer.string()) as { error?: { description?: string } };
    if (error !== undefined) throw journalUnavailable(error, { stream, why: error.description });
  }
}
