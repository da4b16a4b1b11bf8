/**
 * A gateway to in-memory partitions with real engines and without a journal. Tests of the edges use it and can make
 * it fail.
 */

import { PartitionAudience } from '../../src/actors/kv-shard/partition-audience.js';
import { admit, ErrorReply, findCommand, KvEngine, type Reply, replyBytes } from '../../src/domain/kv/index.js';
import type { PartitionName } from '../../src/kernel/index.js';
import type { KvGateway } from '../../src/ports/index.js';
import type { KvDelivery, KvRequest, KvResponse } from '../../src/protocol/index.js';
import { processorMicros } from './processor-time.js';

const RANDOM = { bytes: (count: number) => new Uint8Array(count), float: Math.random };

export class MemoryKvGateway implements KvGateway {
  /** All requests, in order. */
  readonly requests: KvRequest[] = [];
  keepsRequests = true;
  /** Errors to be thrown instead of answers, each once. */
  readonly failures: unknown[] = [];
  /** If set, answers wait for this promise. */
  gate: Promise<void> | undefined;
  /** Failing partitions, with their errors. */
  readonly failing = new Map<string, unknown>();
  readonly #audiences = new Map<string, PartitionAudience>();
  /** Called with each delivery to a registration. */
  onDelivery: (delivery: KvDelivery) => void = () => {};
  readonly #engines = new Map<string, KvEngine>();
  readonly #positions = new Map<string, number>();

  async execute(request: KvRequest): Promise<KvResponse> {
    if (this.keepsRequests) this.requests.push(request);
    const failure = this.failures.shift() ?? this.failing.get(request.partition);
    if (failure !== undefined) throw failure;
    if (this.gate !== undefined) await this.gate;
    const engine = this.engineOf(request.partition);
    const audience = this.audienceOf(request.partition);
    if (request.listen !== undefined) {
      const isKnown = audience.listen(request.listen, performance.now());
      return { replies: ['memory', isKnown ? 1 : 0], syncToken: '0-0' };
    }
    const nowMs = Date.now();
    const { said } = audience;
    const replies: Reply[] = [];
    let answerBytes = 0;
    for (const words of request.commands) {
      if (request.mode === 'pipeline' && answerBytes > (request.maxAnswerBytes ?? Number.POSITIVE_INFINITY)) break;
      // `admit` refuses commands that only processes send (SEARCH.*, VECTORS.*), so they are looked up directly.
      const spec = (/^(SEARCH|VECTORS)\./.test(words[0] ?? '') && findCommand(words)) || admit(words);
      replies.push(
        spec instanceof ErrorReply
          ? spec
          : (engine.execute(spec, words, nowMs, { endpoint: request.client?.face }) as Reply),
      );
      answerBytes += replyBytes(replies.at(-1) as Reply);
    }
    const position = (this.#positions.get(request.partition) ?? 0) + (engine.effects.count > 0 ? 1 : 0);
    this.#positions.set(request.partition, position);
    engine.effects.take();
    const hasSaid = audience.said > said;
    audience.flush();
    return { replies, syncToken: `${position}-0`, hasSaid };
  }

  audienceOf(partition: string): PartitionAudience {
    let audience = this.#audiences.get(partition);
    if (audience === undefined) {
      audience = new PartitionAudience((_edge, events) =>
        this.onDelivery({ partition: partition as PartitionName, activation: 'memory', events }),
      );
      this.#audiences.set(partition, audience);
    }
    return audience;
  }

  engineOf(partition: string): KvEngine {
    let engine = this.#engines.get(partition);
    if (engine === undefined) {
      const facts = { nowMicros: () => Date.now() * 1000, workedMicros: processorMicros, info: () => new Map() };
      engine = new KvEngine(RANDOM, facts, this.audienceOf(partition));
      this.#engines.set(partition, engine);
    }
    return engine;
  }
}
