/** The inside of a thread that answers questions: what AnsweringThread sends, and what is sent back to it. */
import type { MessagePort } from 'node:worker_threads';
import type { Timer } from '../../../ports/index.js';
import { onTheBeat } from '../beat.js';
import { type LogMessage, type PlainFailure, plainFailure } from '../beside.js';

/** What every thread of this kind says of itself. */
export interface AnsweringStatus {
  /** It has everything; a start may wait for that. */
  readonly isCaughtUp: boolean;
}

export type ToAnswering<Word> =
  | { readonly kind: 'word'; readonly word: Word }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Uint8Array }
  | { readonly kind: 'stop' };

export type FromAnswering<Status> =
  | { readonly kind: 'answer'; readonly id: number; readonly bytes: Uint8Array }
  | ({ readonly kind: 'failure'; readonly id: number } & PlainFailure)
  | { readonly kind: 'status'; readonly status: Status }
  | LogMessage;

export interface Answering<Word, Status> {
  answer(question: Uint8Array): Promise<Uint8Array>;
  /** What it is told beside questions. */
  hear(word: Word): void;
  status(): Status;
  /** Called once, when it has everything for the first time. */
  onCaughtUp?(): void;
}

/** So soon at first; then a little longer each time, up to the others. */
const STATUS_FIRST_MS = 5;
const STATUS_SLOWER_BY = 1.25;
/** Until it has everything. */
const STARTING_STATUS_EVERY_MS = 5;
const STATUS_EVERY_MS = 250;
/** While it stays the same it is not told, and looked at less often. */
const SAME_STATUS_EVERY_MS = 2000;

/** Settles when it is told to stop; the port is left open. */
export async function answerUntilStopped<Word, Status extends AnsweringStatus>(
  port: MessagePort,
  answering: Answering<Word, Status>,
): Promise<void> {
  const tell = (message: FromAnswering<Status>) => port.postMessage(message);
  let told = '';
  let isBehind = true;
  let statusTimer = lookAgainIn(STATUS_FIRST_MS);
  await new Promise<void>((resolve) => {
    port.on('message', (message: ToAnswering<Word>) => {
      if (message.kind === 'stop') resolve();
      else if (message.kind === 'word') hear(message.word);
      else void answerTo(message.id, message.question);
    });
  });
  statusTimer.cancel();

  function lookAtStatus(afterMs: number): void {
    const status = answering.status();
    const text = JSON.stringify(status);
    const everyMs = text === told ? SAME_STATUS_EVERY_MS : STATUS_EVERY_MS;
    const nextMs = Math.min(afterMs * STATUS_SLOWER_BY, status.isCaughtUp ? everyMs : STARTING_STATUS_EVERY_MS);
    if (text !== told) tell({ kind: 'status', status });
    told = text;
    if (isBehind && status.isCaughtUp) {
      isBehind = false;
      answering.onCaughtUp?.();
    }
    statusTimer = lookAgainIn(nextMs);
  }

  function lookAgainIn(ms: number): Timer {
    return onTheBeat(ms, () => lookAtStatus(ms));
  }

  function hear(word: Word): void {
    answering.hear(word);
    statusTimer.cancel();
    statusTimer = lookAgainIn(STATUS_FIRST_MS);
  }

  async function answerTo(id: number, question: Uint8Array): Promise<void> {
    try {
      const bytes = new Uint8Array(await answering.answer(question));
      port.postMessage({ kind: 'answer', id, bytes } satisfies FromAnswering<Status>, [bytes.buffer]);
    } catch (error) {
      tell({ kind: 'failure', id, ...plainFailure(error) });
    }
  }
}
