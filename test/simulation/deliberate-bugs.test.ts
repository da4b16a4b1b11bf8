/** Promises of the single-writer protocol. Each test breaks one on purpose at a port or at a public method. */
import { KvPlane, type KvPlanePorts, type KvWork } from '../../src/actors/kv-shard/index.js';
import { type RecoveryStep, readJournalEnd, ShardActor, ShardWriter } from '../../src/actors/runtime/index.js';
import { decodeAnswer, decodeRemoteCommand, encodeRemoteCommand } from '../../src/codec/remote/index.js';
import { isMillraceError } from '../../src/kernel/index.js';
import type { AppendOutcome, Journal } from '../../src/ports/index.js';
import { insideOf, patched, type TakeOff } from '../support/patched.js';
import { runSeed } from './run-seeds.js';
import { SimBus } from './sim-bus.js';
import { SimJournal } from './sim-journal.js';
import { type DeliberateBug, turnsRed } from './turns-red.js';

/**
 * Most are found within a few seeds, the rarest by one seed in forty; a bound far above that leaves room for changes of
 * the workload.
 */
const MAX_SEEDS = 500;
/** Of no entry that is open or in flight. */
const NO_TURN = -1;
const REPLAY_MS = 50;

const DELIBERATE_BUGS: Record<string, DeliberateBug> = {
  /** Replies leave before their entry is stored. */
  'reply-before-ack': () => [answersAtOnce(() => true)],

  /** A refused append is taken for a stored one. */
  'ignore-conflict': () => [
    appendsAnswer((outcome, position) => (outcome.kind === 'conflict' ? { kind: 'stored', position } : outcome)),
  ],

  /** An overtaken owner reads the new tail and appends on top of it. */
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

  /** A read of an uncommitted write is answered at once. */
  'speculative-read-released-early': () => [answersAtOnce(({ hasWritten }) => !hasWritten)],

  /** An owner executes what was meant for the one before it, and what has waited for too long. */
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

/** The owner that was not meant is asked as if anybody were. */
async function insists(onRequest: (asked: Uint8Array) => Promise<Uint8Array>, asked: Uint8Array): Promise<Uint8Array> {
  const answer = await onRequest(asked);
  const { result } = decodeAnswer(answer);
  if (!isMillraceError(result) || !('isElsewhere' in result.details)) return answer;
  return onRequest(encodeRemoteCommand({ ...decodeRemoteCommand(asked), before: undefined }));
}

/** Each time by another pen: the one that was refused is broken. */
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
  turnsRed(DELIBERATE_BUGS, MAX_SEEDS, runSeed);
});
