/** Proves AUN1–AUN5. */
import { expect } from 'chai';
import { DefiniteAppender } from '../../../src/journal/index.js';
import { type ErrorCode, isMillraceError, MillraceError, type ShardName } from '../../../src/kernel/index.js';
import { type AppendOutcome, type Journal, type JournalTail, Timers } from '../../../src/ports/index.js';

const SHARD = 'KV_0' as ShardName;
const OURS = Uint8Array.of(1, 2, 3);
const THEIRS = Uint8Array.of(9);
const UNKNOWN: AppendOutcome = { kind: 'unknown', cause: new Error('timeout') };
const BUSY: AppendOutcome = { kind: 'rejected', reason: '10164', retryable: true };
const stored = (position: number): AppendOutcome => ({ kind: 'stored', position });
const conflict = (last?: number): AppendOutcome => ({ kind: 'conflict', last });

type Read = Uint8Array | undefined | MillraceError;

/** Gives scripted answers in order, and records its calls. */
class ScriptedJournal implements Pick<Journal, 'append' | 'readAt' | 'tail'> {
  readonly appended: { bytes: Uint8Array; expectedLast: number }[] = [];
  readonly read: number[] = [];

  constructor(
    private readonly outcomes: AppendOutcome[],
    private readonly reads: Read[] = [],
    private readonly first = 1,
  ) {}

  async append(_shard: ShardName, bytes: Uint8Array, expectedLast: number): Promise<AppendOutcome> {
    this.appended.push({ bytes, expectedLast });
    return must(this.outcomes.shift());
  }

  async readAt(_shard: ShardName, position: number): Promise<Uint8Array | undefined> {
    this.read.push(position);
    if (this.reads.length === 0) throw new Error('the script has no more reads');
    const found = this.reads.shift();
    if (found instanceof MillraceError) throw found;
    return found;
  }

  async tail(): Promise<JournalTail> {
    return { first: this.first, last: 100, bytes: 0, holes: 0, createdAt: '' };
  }
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the script is over');
  return value;
}

/** Waits take no time, and their lengths are recorded. */
class NoWaiting extends Timers {
  readonly delaysMs: number[] = [];
  override after(delayMs: number, action: () => void) {
    this.delaysMs.push(delayMs);
    let isCancelled = false;
    queueMicrotask(() => {
      if (!isCancelled) action();
    });
    return {
      cancel: () => {
        isCancelled = true;
      },
    };
  }
  override soon(action: () => void): void {
    queueMicrotask(action);
  }
}

async function append(
  journal: ScriptedJournal,
  { messages = [OURS], onUnknown }: { messages?: Uint8Array[]; onUnknown?: (abort: AbortController) => void } = {},
) {
  const timers = new NoWaiting();
  const abort = new AbortController();
  let unknowns = 0;
  const appender = new DefiniteAppender(journal as unknown as Journal, timers, { firstRetryMs: 10, maxRetryMs: 40 });
  const watch = {
    signal: abort.signal,
    onUnknown() {
      unknowns += 1;
      onUnknown?.(abort);
    },
  };
  try {
    const position = await appender.append(SHARD, messages, 7, watch);
    return { position, unknowns, delaysMs: timers.delaysMs };
  } catch (error) {
    return { error, unknowns, delaysMs: timers.delaysMs };
  }
}

function expectFailure(error: unknown, code: ErrorCode, outcome?: string): void {
  if (!isMillraceError(error, code)) expect.fail(`not ${code}: ${String(error)}`);
  expect(error.details.outcome).to.equal(outcome);
}

describe('journal: an append until its outcome is known', () => {
  it('is stored at the expected position', async () => {
    const { position, unknowns } = await append(new ScriptedJournal([stored(8)]));
    expect([position, unknowns]).to.deep.equal([8, 0]);
  });

  it('is a defect when it is stored at another position', async () => {
    expectFailure((await append(new ScriptedJournal([stored(9)]))).error, 'DEFECT');
  });

  it('is fenced, and not applied, at a conflict on the first try', async () => {
    for (const outcome of [conflict(8), conflict(undefined)]) {
      const journal = new ScriptedJournal([outcome]);
      expectFailure((await append(journal)).error, 'FENCED', 'not-applied');
      expect(journal.read).to.deep.equal([]);
    }
  });

  it('reports lost data at a conflict below the expected position, also after an unknown answer', async () => {
    expectFailure((await append(new ScriptedJournal([conflict(6)]))).error, 'JOURNAL_DAMAGED');
    expectFailure((await append(new ScriptedJournal([UNKNOWN, conflict(6)]))).error, 'JOURNAL_DAMAGED');
  });

  it('sends the same bytes with the same expectation after an unknown answer', async () => {
    const journal = new ScriptedJournal([UNKNOWN, UNKNOWN, stored(8)]);
    const { position, unknowns } = await append(journal);
    expect([position, unknowns]).to.deep.equal([8, 2]);
    expect(journal.appended).to.deep.equal(Array(3).fill({ bytes: OURS, expectedLast: 7 }));
  });

  it('is stored when a conflict after an unknown answer finds its own bytes', async () => {
    const journal = new ScriptedJournal([UNKNOWN, conflict(8)], [OURS]);
    expect((await append(journal)).position).to.equal(8);
    expect(journal.read).to.deep.equal([8]);
  });

  it('is fenced, and not applied, when a conflict after an unknown answer finds other bytes', async () => {
    const journal = new ScriptedJournal([UNKNOWN, conflict(9)], [THEIRS]);
    expectFailure((await append(journal)).error, 'FENCED', 'not-applied');
  });

  it('reads again while a lagging server does not show the message', async () => {
    const journal = new ScriptedJournal([UNKNOWN, conflict(8)], [undefined, undefined, OURS]);
    expect((await append(journal)).position).to.equal(8);
    expect(journal.read).to.deep.equal([8, 8, 8]);
  });

  it('reads again when the journal is temporarily unavailable', async () => {
    const unavailable = new MillraceError('JOURNAL_UNAVAILABLE', 'no leader');
    const journal = new ScriptedJournal([UNKNOWN, conflict(8)], [unavailable, OURS]);
    expect((await append(journal)).position).to.equal(8);
  });

  it('is fenced with an unknown outcome when a successor has compacted that position', async () => {
    const journal = new ScriptedJournal([UNKNOWN, conflict(50)], [undefined], 40);
    expectFailure((await append(journal)).error, 'FENCED', 'unknown');
  });

  it('waits and tries again when another append is in flight or the stream has no leader', async () => {
    const { position, unknowns, delaysMs } = await append(new ScriptedJournal([BUSY, BUSY, BUSY, BUSY, stored(8)]));
    expect([position, unknowns]).to.deep.equal([8, 0]);
    expect(delaysMs).to.deep.equal([10, 20, 40, 40]);
  });

  it('is fenced, and not applied, at a conflict after refusals alone', async () => {
    const journal = new ScriptedJournal([BUSY, conflict(8)]);
    expectFailure((await append(journal)).error, 'FENCED', 'not-applied');
    expect(journal.read).to.deep.equal([]);
  });

  it('still compares bytes after an unknown answer and a refusal', async () => {
    expect((await append(new ScriptedJournal([UNKNOWN, BUSY, conflict(8)], [OURS]))).position).to.equal(8);
  });

  it('is a defect when the journal refuses it permanently', async () => {
    const refused: AppendOutcome = { kind: 'rejected', reason: '10054 too large', retryable: false };
    expectFailure((await append(new ScriptedJournal([refused]))).error, 'DEFECT');
  });

  it('is unknown when its owner gives up while the answer is open', async () => {
    const { error } = await append(new ScriptedJournal([UNKNOWN]), { onUnknown: (abort) => abort.abort() });
    expectFailure(error, 'OUTCOME_UNKNOWN');
  });

  it('is unknown when its owner gives up while it looks for its bytes', async () => {
    const unavailable = new MillraceError('JOURNAL_UNAVAILABLE', 'no leader');
    let unknowns = 0;
    const giveUpLater = (abort: AbortController) => {
      unknowns += 1;
      if (unknowns === 2) abort.abort();
    };
    const { error } = await append(new ScriptedJournal([UNKNOWN, conflict(8)], [unavailable]), {
      onUnknown: giveUpLater,
    });
    expectFailure(error, 'OUTCOME_UNKNOWN');
  });

  describe('of a chunk set', () => {
    const set = [Uint8Array.of(1), Uint8Array.of(2), Uint8Array.of(3)];

    it('sends its messages one after the other, each expecting the one before', async () => {
      const journal = new ScriptedJournal([stored(8), stored(9), stored(10)]);
      expect((await append(journal, { messages: set })).position).to.equal(10);
      expect(journal.appended.map(({ bytes, expectedLast }) => [bytes[0], expectedLast])).to.deep.equal([
        [1, 7],
        [2, 8],
        [3, 9],
      ]);
    });

    it('settles a message before it sends the next, and may find that it was stored', async () => {
      const journal = new ScriptedJournal([stored(8), UNKNOWN, conflict(9), stored(10)], [set[1] as Uint8Array]);
      expect((await append(journal, { messages: set })).position).to.equal(10);
      expect(journal.appended.map(({ expectedLast }) => expectedLast)).to.deep.equal([7, 8, 8, 9]);
      expect(journal.read).to.deep.equal([9]);
    });

    it('stops once another owner has written at the position of one of its parts', async () => {
      for (const script of [
        [stored(8), conflict(9)],
        [stored(8), UNKNOWN, conflict(9)],
      ]) {
        const journal = new ScriptedJournal(script, [THEIRS]);
        expectFailure((await append(journal, { messages: set })).error, 'FENCED', 'not-applied');
        expect(journal.appended.some(({ bytes }) => bytes[0] === 3)).to.equal(false);
      }
    });
  });
});
