/** Questions to the read models, on their way between threads and processes. */
import { expect } from 'chai';
import type { DlqSelector } from '../../../src/domain/queue/index.js';
import { type DlqId, isMillraceError, type MessageId, MillraceError, type RunId } from '../../../src/kernel/index.js';
import type {
  Backlog,
  Counts,
  DlqPage,
  LogPage,
  LogQuery,
  MessageLog,
  RunEntries,
  RunEventPage,
  RunLog,
  RunPage,
} from '../../../src/ports/index.js';
import { answer, askOverBus, ReadModelsClient } from '../../../src/query/index.js';
import { ManualTime, MemoryNetwork } from '../../support/memory/index.js';
import { ACCOUNT, ANYTHING, PLAIN_ENVELOPE } from '../../support/message-log-stand.js';
import { ALL_RUN_EVENTS, ALL_RUNS } from '../../support/run-log-stand.js';

const body = new Uint8Array([0, 200, 255]);
const event = {
  atMs: 1_790_000_000_000,
  state: 'ERROR' as const,
  messageId: 'msg_1' as MessageId,
  envelope: PLAIN_ENVELOPE,
  body,
  nextDeliveryAtMs: undefined,
  error: 'HTTP status 500',
  response: { status: 500, header: [['A', 'b'] as const], body: new Uint8Array([1]) },
};
const entry = {
  dlqId: '1790000000000-4' as DlqId,
  messageId: 'msg_1' as MessageId,
  envelope: PLAIN_ENVELOPE,
  body,
  createdAtMs: 1,
  notBeforeMs: 2,
  failedAtMs: 3,
  retried: 4,
  response: { status: 0, header: [], body: new Uint8Array(), error: 'connection refused' },
};

const run = {
  runId: 'wfr_ä' as RunId,
  url: 'https://app.example/flow',
  createdAtMs: 1_790_000_000_000,
  labels: ['one'],
  callerIp: '',
  isAlias: true,
};
const page = {
  runs: [{ ...run, state: 'RUN_FAILED', dlqId: entry.dlqId, groups: [{ type: 'next', deliveries: [] }] }],
  cursor: '1790000000000-281474976710655',
} as unknown as RunPage;
const eventPage = {
  events: [{ ...run, atMs: 1_790_000_000_001, state: 'RUN_FAILED', header: [['A', 'b']] }],
  cursor: '1790000000001-1048576',
} as unknown as RunEventPage;

const entries = {
  run: { ...run, state: 'RUN_FAILED', entries: [{ body: Uint8Array.from([1]), createdAtMs: 5 }] },
} as unknown as RunEntries;

class ScriptedLog implements MessageLog, RunLog {
  readonly asked: unknown[] = [];
  failure: Error | undefined;

  async events(...question: unknown[]): Promise<LogPage> {
    this.asked.push(question);
    if (this.failure !== undefined) throw this.failure;
    return {
      events: [event, { ...event, state: 'RETRY', response: undefined }],
      cursor: '1790000000000-9007199254740991',
    };
  }

  async dlq(...question: unknown[]): Promise<DlqPage> {
    this.asked.push(question);
    return { entries: [entry], after: undefined };
  }

  async dlqCounts(...question: unknown[]): Promise<Counts> {
    this.asked.push(question);
    return { counts: { 0: 1, 500: 2 }, isWhole: false };
  }

  async eventCounts(...question: unknown[]): Promise<Counts> {
    this.asked.push(question);
    return { counts: { FAILED: 2 }, isWhole: true };
  }

  async backlog(...question: unknown[]): Promise<Backlog> {
    this.asked.push(question);
    return { points: [[5, 0]] };
  }

  async runCounts(...question: unknown[]): Promise<Counts> {
    this.asked.push(question);
    return { counts: { RUN_FAILED: 2 }, isWhole: true };
  }

  async runEntries(...question: unknown[]): Promise<RunEntries> {
    this.asked.push(question);
    return entries;
  }

  async runs(...question: unknown[]): Promise<RunPage> {
    this.asked.push(question);
    return page;
  }

  async runEvents(...question: unknown[]): Promise<RunEventPage> {
    this.asked.push(question);
    return eventPage;
  }
}

describe('questions to the read models', () => {
  const log = new ScriptedLog();
  const asked = new ReadModelsClient((question) => answer(log, question));

  it('arrive unchanged, and so do the answers', async () => {
    const query: LogQuery = {
      ...ANYTHING,
      filter: { label: ['ä'], fromMs: 5 },
      states: ['ERROR'],
      cursor: '1-2',
      groupBy: 'message',
    };
    const page = await asked.events(ACCOUNT, query, 77);
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, query, 77]);
    expect(page.cursor).to.equal('1790000000000-9007199254740991');
    expect(page.events.map((one) => ({ ...one, envelope: one.envelope.url, body: [...one.body] }))).to.deep.equal([
      { ...without(event, 'nextDeliveryAtMs'), envelope: PLAIN_ENVELOPE.url, body: [0, 200, 255] },
      {
        ...without(event, 'nextDeliveryAtMs', 'response'),
        state: 'RETRY',
        envelope: PLAIN_ENVELOPE.url,
        body: [0, 200, 255],
      },
    ]);
    expect(page.events[0]?.envelope).to.equal(page.events[1]?.envelope);
    const selector: DlqSelector = { kind: 'ids', dlqIds: [entry.dlqId] };
    const { entries, after } = await asked.dlq(ACCOUNT, selector, 78, 9);
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, selector, 78, 9]);
    expect([entries[0]?.response.error, entries[0]?.retried, after]).to.deep.equal([
      'connection refused',
      4,
      undefined,
    ]);
  });

  it('about runs arrive unchanged, and so do the answers', async () => {
    const filter = { runs: [{ runId: run.runId, createdAtMs: run.createdAtMs }], label: ['ä'] };
    const query = { ...ALL_RUNS, filter, stepStates: ['STEP_RETRY' as const], trimBytes: -1 };
    expect(await asked.runs(ACCOUNT, query, 79)).to.deep.equal(page);
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, without(query, 'cursor'), 79]);
    const eventQuery = { ...ALL_RUN_EVENTS, filter, states: ['INVOKED' as const], cursor: '1-2', trimBytes: 5 };
    expect(await asked.runEvents(ACCOUNT, eventQuery, 80)).to.deep.equal(eventPage);
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, eventQuery, 80]);
    const entriesQuery = { runId: run.runId, createdAtMs: 5, maxBytes: 100 };
    expect(await asked.runEntries(ACCOUNT, entriesQuery, 81)).to.deep.equal(entries);
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, entriesQuery, 81]);
  });

  it('may be about the age of a backlog', async () => {
    const query = { queueName: 'mail', momentsMs: [1, 2], waitingSinceMs: 1 };
    expect(await asked.backlog(ACCOUNT, query, 4)).to.deep.equal({ points: [[5, 0]] });
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, query, 4]);
  });

  it('may ask for counts', async () => {
    expect(await asked.dlqCounts(ACCOUNT, { label: ['x'] }, 5)).to.deep.equal({
      counts: { 0: 1, 500: 2 },
      isWhole: false,
    });
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, { label: ['x'] }, 5]);
    expect((await asked.eventCounts(ACCOUNT, { toMs: 3 }, ['FAILED'], 6)).counts).to.deep.equal({ FAILED: 2 });
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, { toMs: 3 }, ['FAILED'], 6]);
    expect(await asked.runCounts(ACCOUNT, { fromMs: 1 }, 6)).to.deep.equal({
      counts: { RUN_FAILED: 2 },
      isWhole: true,
    });
    expect(log.asked.pop()).to.deep.equal([ACCOUNT, { fromMs: 1 }, 6]);
  });

  it('report the lag of an answer, and add it to the metrics', async () => {
    const behind = { positions: 3, ms: 1500 };
    const told: unknown[] = [];
    const stale: MessageLog & RunLog = {
      events: async () => ({ events: [], cursor: undefined, behind }),
      dlq: async () => ({ entries: [], after: undefined, behind }),
      eventCounts: async () => ({ counts: {}, isWhole: true, behind }),
      dlqCounts: async () => ({ counts: {}, isWhole: true, behind }),
      backlog: async () => ({ points: [], behind }),
      runCounts: async () => ({ counts: {}, isWhole: true, behind }),
      runs: async () => ({ ...page, behind }),
      runEntries: async () => ({ run: undefined, behind }),
      runEvents: async () => ({ ...eventPage, behind: { positions: 4, ms: undefined } }),
    };
    const counted = new ReadModelsClient(
      (question) => answer(stale, question),
      (one) => told.push(one),
    );
    expect((await counted.events(ACCOUNT, ANYTHING, 9)).behind).to.deep.equal(behind);
    const selector: DlqSelector = { kind: 'ids', dlqIds: [entry.dlqId] };
    expect((await counted.dlq(ACCOUNT, selector, 9)).behind).to.deep.equal(behind);
    expect((await counted.dlqCounts(ACCOUNT, {}, 9)).behind).to.deep.equal(behind);
    expect((await counted.runCounts(ACCOUNT, {}, 9)).behind).to.deep.equal(behind);
    expect((await counted.runs(ACCOUNT, ALL_RUNS, 9)).behind).to.deep.equal(behind);
    expect((await counted.runEvents(ACCOUNT, ALL_RUN_EVENTS, 9)).behind).to.deep.equal({ positions: 4 });
    expect(told).to.deep.equal([behind, behind, behind, behind, behind, { positions: 4 }]);
  });

  it('are refused when they cannot be read', async () => {
    for (const bytes of [[], [0xc1], [0x91, 1], [0x92, 2, 0x80], [0x92, 1, 0x80], [0x92, 1, 0xc0]]) {
      const error = await answer(log, new Uint8Array(bytes)).catch((thrown: unknown) => thrown);
      expect(isMillraceError(error, 'INVALID'), String(bytes)).to.equal(true);
    }
  });

  describe('questions to the read models over the bus', () => {
    const time = new ManualTime();
    const network = new MemoryNetwork(time);
    const remote = new ReadModelsClient(askOverBus(network.connect(), 'query', 1000));

    it('fail with SHARD_UNAVAILABLE when no process has the read models', async () => {
      const error = await remote.events(ACCOUNT, ANYTHING, 0).catch((thrown: unknown) => thrown);
      expect(isMillraceError(error, 'SHARD_UNAVAILABLE')).to.equal(true);
    });

    it('are answered by a process that has them, and repeated after a failure', async () => {
      const served = network.connect().serve({ kind: 'query' }, (question) => answer(log, question));
      expect((await remote.events(ACCOUNT, ANYTHING, 0)).events).to.have.length(2);
      log.failure = new MillraceError('SHARD_UNAVAILABLE', 'being rebuilt');
      log.asked.length = 0;
      const error = await remote.events(ACCOUNT, ANYTHING, 0).catch((thrown: unknown) => thrown);
      expect([isMillraceError(error, 'SHARD_UNAVAILABLE'), log.asked.length]).to.deep.equal([true, 2]);
      log.failure = new MillraceError('INVALID', 'not a cursor of this list');
      const refusal = await remote.events(ACCOUNT, ANYTHING, 0).catch((thrown: unknown) => thrown);
      expect(isMillraceError(refusal, 'INVALID')).to.equal(true);
      served.stop();
    });
  });
});

function without<T extends object>(value: T, ...names: (keyof T)[]): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name as keyof T))) as Partial<T>;
}
