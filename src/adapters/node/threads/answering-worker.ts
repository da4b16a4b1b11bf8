/** The inside of a thread that answers questions: what AnsweringThread sends, and what is sent back to it. */
import type { MessagePort } from 'node:worker_threads';
import type { LogMessage, PlainFailure } from '../thread-job.js';
import { plainFailure } from './worker-thread.js';

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
}

const STATUS_EVERY_MS = 250;

/** Settles when it is told to stop; the port is left open. */
export async function answerUntilStopped<Word, Status>(
  port: MessagePort,
  answering: Answering<Word, Status>,
): Promise<void> {
  const tell = (message: FromAnswering<Status>) => port.postMessage(message);
  const statusTimer = setInterval(() => tell({ kind: 'status', status: answering.status() }), STATUS_EVERY_MS);
  await new Promise<void>((resolve) => {
    port.on('message', (message: ToAnswering<Word>) => {
      if (message.kind === 'stop') resolve();
      else if (message.kind === 'word') answering.hear(message.word);
      else void answerTo(message.id, message.question);
    });
  });
  clearInterval(statusTimer);

  async function answerTo(id: number, question: Uint8Array): Promise<void> {
    try {
      const bytes = new Uint8Array(await answering.answer(question));
      port.postMessage({ kind: 'answer', id, bytes } satisfies FromAnswering<Status>, [bytes.buffer]);
    } catch (error) {
      tell({ kind: 'failure', id, ...plainFailure(error) });
    }
  }
}
