/**
 * Embeddings by `POST <url>/embeddings`, in the form that most servers of models speak.
 *
 *  EMB1 a text that was embedded lately is not sent again: vectors are kept by model and text, up to a bound in bytes
 *  EMB2 texts of one call are sent in batches of bounded number and length, each once for equal texts
 *  EMB3 a batch is repeated after a refused connection, a timeout, 429 and 5xx, a few times; every call ends in time
 *  EMB4 calls at a time and their queue are bounded; the key appears in no answer and no log
 */
import { createHash } from 'node:crypto';
import { describeError } from '../../kernel/index.js';
import type { Embeddings, Log, Timers } from '../../ports/index.js';

export interface ProvidedEmbeddingsOptions {
  /** With the version in its path, as `http://127.0.0.1:11434/v1`. */
  readonly url: string;
  readonly key: string | undefined;
  /** Sent in place of the index's model; undefined: that one. */
  readonly model: string | undefined;
  readonly bounds?: Partial<typeof BOUNDS>;
}

interface ProvidedEmbeddingsPorts {
  readonly timers: Timers;
  readonly log: Log;
}

const MIB = 1024 * 1024;

const BOUNDS = {
  /** Texts of one request: servers accept 96 or more. */
  batchTexts: 64,
  batchCharacters: 256 * 1024,
  /** Bytes of one answer: 64 vectors of 4,096 numbers as JSON. */
  answerBytes: 16 * MIB,
  /** Bytes of kept vectors. */
  keptBytes: 32 * MIB,
  callsAtOnce: 4,
  waitingCalls: 64,
  tries: 3,
  /** The pause before the second try; it doubles. */
  pauseMs: 200,
  /** All tries of a call together: less than clients wait for an upsert. */
  callMs: 15_000,
};

/** Anything that another try may change. */
class Passing extends Error {}

export class ProvidedEmbeddings implements Embeddings {
  readonly #bounds: typeof BOUNDS;
  readonly #kept = new Map<string, Float32Array>();
  #keptBytes = 0;
  #running = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(
    private readonly options: ProvidedEmbeddingsOptions,
    private readonly ports: ProvidedEmbeddingsPorts,
  ) {
    this.#bounds = { ...BOUNDS, ...options.bounds };
  }

  async embed(model: string, dimension: number, texts: readonly string[]): Promise<readonly Float32Array[] | string> {
    const found = new Map<string, Float32Array>();
    const missing = new Set<string>();
    for (const text of texts) {
      const kept = this.#kept.get(keyOf(model, text));
      if (kept?.length === dimension) found.set(text, kept);
      else missing.add(text);
    }
    try {
      for (const batch of this.#batches(missing)) {
        const vectors = await this.#inTurn(() => this.#asked(model, dimension, batch));
        batch.forEach((text, at) => {
          const vector = vectors[at] as Float32Array;
          found.set(text, vector);
          this.#keep(keyOf(model, text), vector);
        });
      }
    } catch (failure) {
      const reason = describeError(failure);
      this.ports.log.warn('embeddings.failed', { model, texts: missing.size, reason });
      return `the provider of embeddings has not embedded the texts: ${reason}`;
    }
    return texts.map((text) => found.get(text) as Float32Array);
  }

  *#batches(texts: Iterable<string>): Iterable<string[]> {
    const { batchTexts, batchCharacters } = this.#bounds;
    let batch: string[] = [];
    let characters = 0;
    for (const text of texts) {
      if (batch.length > 0 && (batch.length >= batchTexts || characters + text.length > batchCharacters)) {
        yield batch;
        batch = [];
        characters = 0;
      }
      batch.push(text);
      characters += text.length;
    }
    if (batch.length > 0) yield batch;
  }

  async #inTurn<T>(call: () => Promise<T>): Promise<T> {
    const { callsAtOnce, waitingCalls } = this.#bounds;
    if (this.#running < callsAtOnce) {
      this.#running += 1;
    } else {
      if (this.#waiting.length >= waitingCalls) throw new Error('too many calls wait for it');
      // A finished call hands its turn over, so the number of running ones stays.
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    try {
      return await call();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }

  async #asked(model: string, dimension: number, texts: readonly string[]): Promise<readonly Float32Array[]> {
    const { tries, pauseMs, callMs } = this.#bounds;
    const signal = AbortSignal.timeout(callMs);
    for (let tried = 1; ; tried += 1) {
      try {
        return vectorsIn(await this.#answer(model, texts, signal), texts.length, dimension);
      } catch (failure) {
        if (!(failure instanceof Passing) || tried >= tries || signal.aborted) throw failure;
        await this.ports.timers.pause(pauseMs * 2 ** (tried - 1), signal);
      }
    }
  }

  async #answer(model: string, texts: readonly string[], signal: AbortSignal): Promise<unknown> {
    const { url, key, model: sent = model } = this.options;
    let response: Response;
    try {
      response = await fetch(`${url.replace(/\/+$/, '')}/embeddings`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        },
        body: JSON.stringify({ model: sent, input: texts, encoding_format: 'float' }),
        redirect: 'error',
        signal,
      });
    } catch (failure) {
      throw new Passing(signal.aborted ? 'it did not answer in time' : `it is not reachable (${causeOf(failure)})`);
    }
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel();
      throw new Passing(`it answered ${response.status}`);
    }
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`it answered ${response.status}`);
    }
    return this.#jsonOf(response);
  }

  async #jsonOf({ body }: Response): Promise<unknown> {
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of body ?? []) {
      bytes += part.byteLength;
      if (bytes > this.#bounds.answerBytes)
        throw new Error(`its answer has more than ${this.#bounds.answerBytes} bytes`);
      parts.push(part);
    }
    try {
      return JSON.parse(Buffer.concat(parts).toString('utf8'));
    } catch {
      throw new Error('its answer is no JSON');
    }
  }

  #keep(key: string, vector: Float32Array): void {
    this.#kept.set(key, vector);
    this.#keptBytes += vector.byteLength;
    for (const [oldest, { byteLength }] of this.#kept) {
      if (this.#keptBytes <= this.#bounds.keptBytes) return;
      this.#kept.delete(oldest);
      this.#keptBytes -= byteLength;
    }
  }
}

function keyOf(model: string, text: string): string {
  return createHash('sha256').update(`${model}\n${text}`).digest('base64');
}

function causeOf(failure: unknown): string {
  const { cause } = failure as Error;
  return typeof cause === 'object' && cause !== null && 'code' in cause ? String(cause.code) : describeError(failure);
}

/** In the order of the texts. @throws if the answer has another form */
function vectorsIn(answer: unknown, count: number, dimension: number): readonly Float32Array[] {
  const { data } = answer as { data?: unknown };
  if (!Array.isArray(data) || data.length !== count) throw new Error(`its answer has no list of ${count} vectors`);
  const vectors: Float32Array[] = [];
  for (const [at, item] of data.entries()) {
    const { embedding, index = at } = item as { embedding?: unknown; index?: unknown };
    if (!Array.isArray(embedding) || !embedding.every(Number.isFinite))
      throw new Error('its answer has no list of numbers');
    if (embedding.length !== dimension) {
      throw new Error(`its vectors have ${embedding.length} dimensions, the index has ${dimension}`);
    }
    if (!Number.isInteger(index) || Number(index) < 0 || Number(index) >= count)
      throw new Error('its answer has a wrong index');
    vectors[Number(index)] = Float32Array.from(embedding);
  }
  for (let at = 0; at < count; at += 1) if (vectors[at] === undefined) throw new Error('its answer lacks a vector');
  return vectors;
}
