/** The thread's side of AnsweringThread. */
import type { MessagePort } from 'node:worker_threads';
import type { Timer } from '../../../ports/index.js';
import { coalescedTimer } from '../coalesced-timer.js';
import { type LogMessage, type PlainFailure, plainFailure } from '../worker-support.js';

/** The status that every such thread reports. */
export interface AnsweringStatus {
  /** True when it has everything; a start may wait for that. */
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
  /** Receives messages that are not questions. */
  hear(word: Word): void;
  status(): Status;
  /** Called once, when it has caught up for the first time. */
  onCaughtUp?(): void;
}

/** The first interval of status reports; each further one is slightly longer. */
const STATUS_FIRST_MS = 5;
const STATUS_SLOWER_BY = 1.25;
/** Until it has caught up. */
const STARTING_STATUS_EVERY_MS = 5;
const STATUS_EVERY_MS = 250;
/** An unchanged status is not sent, and checked less often. */
const SAME_STATUS_EVERY_MS = 2000;

/** Settles when it is told to stop; the port stays open. */
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
    return coalescedTimer(ms, () => lookAtStatus(ms));
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
