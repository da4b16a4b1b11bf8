/**
 * The separate writer process of a ledger: writes over REST on several connections and keeps a synced record of its
 * intents and the answers. `Ledger` starts and stops it.
 */
import { type FileHandle, open } from 'node:fs/promises';
import { KvClient, type Outcome, type Words } from './kv-client.js';
import { ATOMIC_COUNTER } from './ledger-judge.js';
import { type Effect, type EffectOutcome, expanded, type Intent, type LedgerLine } from './ledger-operations.js';
import { seededRandom } from './seeded-random.js';

export interface WriterSettings {
  readonly file: string;
  /** The URLs, distributed over the workers. */
  readonly urls: readonly string[];
  readonly token: string;
  readonly workers: number;
  readonly seed: number;
  /** The pause between two operations of a worker, so that the servers get CPU time. */
  readonly paceMs: number;
  readonly timeoutMs: number;
}

/** Larger than a chunk of the journal, so that a kill also interrupts entries of several messages. */
const LARGE_VALUE_CHARACTERS = 600_000;
const LARGE_EVERY = 400;
/** The pause after a failed request, because the server is probably down. */
const PAUSE_AFTER_FAILURE_MS = 40;

/** A file of lines; lines that are written together share one sync. */
class SyncedLines {
  #waiting: { text: string; done: () => void }[] = [];
  #isWriting = false;

  constructor(private readonly file: FileHandle) {}

  /** Resolves when the line is on disk. */
  append(line: LedgerLine): Promise<void> {
    return new Promise((done) => {
      this.#waiting.push({ text: `${JSON.stringify(line)}\n`, done });
      if (!this.#isWriting) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      await this.file.appendFile(batch.map(({ text }) => text).join(''));
      await this.file.datasync();
      for (const { done } of batch) done();
    }
    this.#isWriting = false;
  }
}

const settings = JSON.parse(process.argv[2] as string) as WriterSettings;
const random = seededRandom(settings.seed);
const file = await open(settings.file, 'a');
const lines = new SyncedLines(file);
let lastId = 0;
let isStopping = false;

process.once('disconnect', () => process.exit(1));
process.on('message', () => {
  isStopping = true;
});
process.send?.('started');
await Promise.all(Array.from({ length: settings.workers }, (_, worker) => work(worker)));
await file.close();
process.send?.('stopped');
process.disconnect?.();

async function work(worker: number): Promise<void> {
  const url = settings.urls[worker % settings.urls.length] as string;
  const client = new KvClient({ url, token: settings.token, connections: 1, timeoutMs: settings.timeoutMs });
  while (!isStopping) {
    lastId += 1;
    const { intent, send } = nextOperation(lastId, worker);
    await lines.append({ is: 'intent', ...intent });
    const outcome = await send(client);
    await lines.append(lineOf(intent, outcome));
    await pause(outcome.kind === 'done' ? settings.paceMs : PAUSE_AFTER_FAILURE_MS);
  }
  client.close();
}

function nextOperation(id: number, worker: number): { intent: Intent; send(client: KvClient): Promise<Outcome> } {
  const kind = random.below(10);
  const put = (part = 0): Effect => ({ type: 'put', key: `put:${worker}:${id}:${part}`, value: valueFor(id) });
  if (kind < 4) return single(id, put());
  if (kind < 5) return single(id, { type: 'register', key: `register:${worker}`, value: `${id}` });
  if (kind < 7) return single(id, { type: 'add', key: 'counter:shared' });
  if (kind < 9) {
    const effects: Effect[] = Array.from({ length: 2 + random.below(8) }, (_, part) => put(part));
    effects.push({ type: 'add', key: 'counter:pipelined' });
    const intent = { id, effects, isAtomic: false };
    return { intent, send: (client) => client.pipeline(effects.map(wordsOf)) };
  }
  const effects: Effect[] = [put(0), put(1), put(2), { type: 'add', key: ATOMIC_COUNTER }];
  return { intent: { id, effects, isAtomic: true }, send: (client) => client.transaction(effects.map(wordsOf)) };
}

function single(id: number, effect: Effect) {
  const send = async (client: KvClient): Promise<Outcome> => {
    const outcome = await client.command(...wordsOf(effect));
    return outcome.kind === 'done' ? { kind: 'done', result: [{ result: outcome.result }] } : outcome;
  };
  return { intent: { id, effects: [effect], isAtomic: false }, send };
}

function valueFor(id: number): string {
  return id % LARGE_EVERY === 0 ? `${id}~x${LARGE_VALUE_CHARACTERS}` : `${id}-${random.below(1_000_000)}`;
}

function wordsOf(effect: Effect): Words {
  return effect.type === 'add' ? ['INCR', effect.key] : ['SET', effect.key, expanded(effect.value)];
}

function lineOf({ id, effects }: Intent, outcome: Outcome): LedgerLine {
  switch (outcome.kind) {
    case 'refused':
      return { is: 'failed', id, why: outcome.why };
    case 'unknown':
      return { is: 'unknown', id, why: outcome.why };
    case 'done': {
      const outcomes = outcome.result as EffectOutcome[];
      if (!Array.isArray(outcomes) || outcomes.length !== effects.length) {
        return { is: 'unknown', id, why: `an answer of another shape: ${JSON.stringify(outcomes).slice(0, 200)}` };
      }
      return { is: 'acked', id, outcomes };
    }
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
