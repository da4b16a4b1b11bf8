/**
 * Tests that the simulation detects bugs of the single-writer protocol. Each test breaks one promise deliberately, at
 * a port or at a public method.
 */
import { KvPlane, type KvPlanePorts, type KvWork } from '../../src/actors/kv-shard/index.js';
import { type RecoveryStep, readJournalEnd, ShardActor, ShardWriter } from '../../src/actors/runtime/index.js';
import { decodeAnswer, decodeRemoteCommand, encodeRemoteCommand } from '../../src/codec/remote/index.js';
import { isMillraceError } from '../../src/kernel/index.js';
import type { AppendOutcome, Journal } from '../../src/ports/index.js';
import { insideOf, patched, type TakeOff } from '../support/patched.js';
import { type DeliberateBug, failsWithBugs } from './fails-with-bugs.js';
import { runSeed } from './run-seeds.js';
import { SimBus } from './sim-bus.js';
import { SimJournal } from './sim-journal.js';

/**
 * Most bugs are found within a few seeds, and the rarest by one seed in forty. The much higher limit allows for
 * changes of the workload.
 */
const MAX_SEEDS = 500;
/** A turn of no open or pending entry. */
const NO_TURN = -1;
const REPLAY_MS = 50;

const DELIBERATE_BUGS: Record<string, DeliberateBug> = {
  /** Replies leave before their entry is stored. */
  'reply-before-ack': () => [answersAtOnce(() => true)],

  /** A refused append is treated as stored. */
  'ignore-conflict': () => [
    appendsAnswer((outcome, position) => (outcome.kind === 'conflict' ? { kind: 'stored', position } : outcome)),
  ],

  /** A replaced owner reads the new end of the journal and appends after it. */
  'reread-tail-when-fenced': () => [appendsOnTop()],

  /** A new owner does not append its claim. */
  'skip-claim': () => [
    patched(ShardWriter.prototype, 'appendClaim', async function () {
      return this.head;
    }),
  ],

  /** A new owner answers before it has replayed everything up to its claim. */
  'serve-before-replay-ends': () => [
    patched(KvPlane.prototype, 'restore', async function (restore, steps) {
      const read: RecoveryStep[] = [];
      for await (const step of steps) read.push(step);
      const replay = async function* () {
        yield* read;
      };
      insideOf<{ ports: KvPlanePorts }>(this).ports.timers.after(REPLAY_MS, () => void restore(replay()));
    }),
  ],

  /** An unanswered append is reported as not applied. */
  'unknown-as-failure': () => [
    appendsAnswer((outcome) => (outcome.kind === 'unknown' ? { kind: 'conflict', last: undefined } : outcome)),
  ],

  /** An unanswered append is reported as stored. */
  'unknown-as-success': () => [
    appendsAnswer((outcome, position) => (outcome.kind === 'unknown' ? { kind: 'stored', position } : outcome)),
  ],

  /** A read of an uncommitted write is answered without delay. */
  'speculative-read-released-early': () => [answersAtOnce(({ hasWritten }) => !hasWritten)],

  /** An owner executes commands for its predecessor and commands past their deadline. */
  'executed-past-its-deadline': () => [
    patched(SimBus.prototype, 'serve', (serve, topic, onRequest) =>
      serve(topic, topic.kind === 'command' ? (asked) => insists(onRequest, asked) : onRequest),
    ),
    patched(ShardActor.prototype, 'submit', (submit, work: object) => {
      Object.defineProperty(work, 'deadlineMs', { get: () => Number.POSITIVE_INFINITY, set: () => {} });
      submit(work as never);
    }),
  ],
};

function answersAtOnce(which: (work: KvWork) => boolean): TakeOff {
  return patched(KvPlane.prototype, 'execute', (execute, work, turn, shouldStop) => {
    const step = execute(work, turn, shouldStop);
    if (step === 'done' && which(work)) work.waitsForTurn = NO_TURN;
    return step;
  });
}

function appendsAnswer(answer: (outcome: AppendOutcome, position: number) => AppendOutcome): TakeOff {
  return patched(SimJournal.prototype, 'append', async (append, shard, bytes, expectedLast) =>
    answer(await append(shard, bytes, expectedLast), expectedLast + 1),
  );
}

/** Sends a command for another owner again as a command for any owner. */
async function insists(onRequest: (asked: Uint8Array) => Promise<Uint8Array>, asked: Uint8Array): Promise<Uint8Array> {
  const answer = await onRequest(asked);
  const { result } = decodeAnswer(answer);
  if (!isMillraceError(result) || !('isElsewhere' in result.details)) return answer;
  return onRequest(encodeRemoteCommand({ ...decodeRemoteCommand(asked), before: undefined }));
}

/** A new writer for each append, because a refused one cannot be used again. */
function appendsOnTop(): TakeOff {
  const { appendBatch } = ShardWriter.prototype;
  const pens = new WeakMap<ShardWriter, ShardWriter>();
  return patched(ShardWriter.prototype, 'appendBatch', async function (_, ...batch) {
    const pen = pens.get(this) ?? this;
    try {
      return await appendBatch.apply(pen, batch);
    } catch (error) {
      if (!isMillraceError(error, 'FENCED')) throw error;
      const { parts } = insideOf<{ parts: ConstructorParameters<typeof ShardWriter>[0] }>(pen);
      const { journal } = insideOf<{ journal: Journal }>(parts.appender);
      const next = new ShardWriter(parts, (await readJournalEnd(journal, parts.shard)).head);
      next.adoptLinks(pen.links);
      pens.set(this, next);
      return appendBatch.apply(next, batch);
    }
  });
}

describe('simulation: deliberate bugs', () => {
  failsWithBugs(DELIBERATE_BUGS, MAX_SEEDS, runSeed);
});
