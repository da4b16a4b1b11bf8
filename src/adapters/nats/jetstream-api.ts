/**
 * The requests that JetStream's API answers with JSON, each one try. Errors of the server arrive as
 * `JetStreamRefusal` with their code; a server that does not answer is JOURNAL_UNAVAILABLE.
 */
import type { StreamConfig } from '@nats-io/jetstream';
import { describeError, isMillraceError } from '../../kernel/index.js';
import { journalUnavailable, type NatsLink } from './link.js';
import { isForbidden } from './link-failure.js';
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

export class JetStreamRefusal extends Error {
  constructor(
    readonly status: number,
    readonly errorCode: number,
    readonly description: string,
  ) {
    super(`${description} (${errorCode})`);
    this.name = 'JetStreamRefusal';
  }
}

export function isRefusal(error: unknown, errorCode?: number): error is JetStreamRefusal {
  return error instanceof JetStreamRefusal && (errorCode === undefined || error.errorCode === errorCode);
}

/** Converts a refusal of the server. @throws JOURNAL_UNAVAILABLE; other errors unchanged */
export async function unavailableIfRefused<T>(
  question: () => Promise<T>,
  details: Record<string, unknown> = {},
): Promise<T> {
  try {
    return await question();
  } catch (error) {
    throw isRefusal(error) ? journalUnavailable(error, details) : error;
  }
}

export interface StreamStateInfo {
  readonly messages: number;
  readonly bytes: number;
  readonly first_seq: number;
  readonly last_seq: number;
  readonly num_deleted?: number;
  readonly subjects?: Readonly<Record<string, number>>;
}

export interface StreamDescription {
  readonly config: Partial<StreamConfig>;
  readonly created: string;
  readonly state: StreamStateInfo;
  /** Of streams with replicas. */
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly {
      readonly name: string;
      readonly current: boolean;
      readonly offline?: boolean;
      readonly lag?: number;
    }[];
  };
  /** The number of `state.subjects`, which come in pages. */
  readonly total?: number;
}

export interface MessageFound {
  readonly position: number;
  readonly bytes: Uint8Array;
  /** The header block in wire format, if there is one. */
  readonly headers: string;
  /** By the clock of the server that led the stream then. */
  readonly storedAtMs: number;
}

/** Long enough for an answer that waits for a disk, shorter than an election. */
const TIMEOUT_MS = 5000;
/** A stream without a leader does not answer, and its later leader does not get the request: it is sent again. */
const ASK_AGAIN_MS = 1000;

const UNANSWERED = Symbol('unanswered');

/** @throws errors that are answers, and a refusal for lack of rights, which a repeated request would get again */
function onlyUnavailable(error: unknown): typeof UNANSWERED {
  if (isMillraceError(error, 'JOURNAL_UNAVAILABLE') && !isForbidden(error.cause)) return UNANSWERED;
  throw error;
}

export class JetStreamApi {
  constructor(
    readonly link: NatsLink,
    readonly timeoutMs = TIMEOUT_MS,
  ) {}

  /** @throws JetStreamRefusal, JOURNAL_UNAVAILABLE */
  async call<T>(operation: string, body: unknown = undefined, timeoutMs = this.timeoutMs): Promise<T> {
    const payload = body === undefined ? '' : JSON.stringify(body);
    let answer: { error?: { code: number; err_code?: number; description?: string } };
    try {
      const message = await this.link.request(jetStreamApiSubject(operation), payload, { timeoutMs });
      answer = JSON.parse(message.string());
    } catch (cause) {
      throw journalUnavailable(cause, { operation, why: describeError(cause) });
    }
    const { error } = answer;
    if (error === undefined) return answer as T;
    throw new JetStreamRefusal(error.code, error.err_code ?? 0, error.description ?? 'refused');
  }

  streamInfo(stream: string, question: Record<string, unknown> = {}): Promise<StreamDescription> {
    return this.call(`STREAM.INFO.${stream}`, question);
  }

  /** Undefined when there is no such stream. While its servers elect a leader, the first answer after that counts. */
  async findStream(stream: string): Promise<StreamDescription | undefined> {
    try {
      return await this.#firstAnswer((timeoutMs) => this.call(`STREAM.INFO.${stream}`, {}, timeoutMs));
    } catch (error) {
      if (isRefusal(error, JETSTREAM_ERRORS.streamNotFound)) return undefined;
      throw error;
    }
  }

  /** For a request that may be repeated. A late answer to an earlier try counts as well. */
  async #firstAnswer<T>(ask: (timeoutMs: number) => Promise<T>): Promise<T> {
    const quick = () => ask(Math.min(ASK_AGAIN_MS, this.timeoutMs)).catch(onlyUnavailable);
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

  /** Streams with a subject that matches; the first page of them. */
  async streamNames(subject: string): Promise<readonly string[]> {
    const { streams } = await this.call<{ streams?: readonly string[] | null }>('STREAM.NAMES', { subject });
    return streams ?? [];
  }

  createStream(config: Partial<StreamConfig> & { name: string }): Promise<StreamDescription> {
    return this.call(`STREAM.CREATE.${config.name}`, config);
  }

  /** Removes the messages below `seq`, or all of one subject. */
  purge(stream: string, what: { seq: number } | { filter: string }): Promise<unknown> {
    return this.call(`STREAM.PURGE.${stream}`, what);
  }

  /** The subjects that match, with how many messages each has. */
  async subjects(stream: string, filter: string): Promise<Map<string, number>> {
    const counts = new Map<string, number>();
    for (;;) {
      const page = await this.streamInfo(stream, { subjects_filter: filter, offset: counts.size });
      const found = Object.entries(page.state.subjects ?? {});
      for (const [subject, count] of found) counts.set(subject, count);
      if (found.length === 0 || counts.size >= (page.total ?? 0)) return counts;
    }
  }

  /** Undefined when the server that answered does not have it. */
  async message(stream: string, which: { seq: number } | { last_by_subj: string }): Promise<MessageFound | undefined> {
    type Answer = { message: { seq: number; data?: string; hdrs?: string; time: string } };
    try {
      const { message } = await this.call<Answer>(`STREAM.MSG.GET.${stream}`, which);
      return {
        position: message.seq,
        bytes: Buffer.from(message.data ?? '', 'base64'),
        headers: Buffer.from(message.hdrs ?? '', 'base64').toString('latin1'),
        storedAtMs: Date.parse(message.time),
      };
    } catch (error) {
      const isGone = isRefusal(error) && error.status === 404 && error.errorCode !== JETSTREAM_ERRORS.streamNotFound;
      if (isGone) return undefined;
      throw error;
    }
  }
}
