/** Destinations that hold each call until the test answers it. */
import type { CallOutcome, HttpOut, OutgoingCall } from '../../src/ports/index.js';

export interface ScriptedCall extends OutgoingCall {
  /** True when the call was aborted or answered. */
  isOver: boolean;
  answer(status: number, body?: string): void;
  fail(error: string): void;
  /** Ends the call as one that was not permitted to be sent. */
  holdBack(): void;
}

export class ScriptedHttp implements HttpOut {
  /** All calls, in the order of sending. */
  readonly calls: ScriptedCall[] = [];
  /** If set, calls are answered with this status without delay. */
  answersWith: number | undefined;

  get open(): ScriptedCall[] {
    return this.calls.filter(({ isOver }) => !isOver);
  }

  send(call: OutgoingCall): Promise<CallOutcome> {
    return new Promise((resolve) => {
      const scripted: ScriptedCall = {
        ...call,
        isOver: false,
        answer: (status, body = '') => settle({ ...RESPONSE, status, body: Buffer.from(body) }),
        fail: (error) => settle({ kind: 'no-response', error, durationMs: 1 }),
        holdBack: () => settle({ kind: 'held-back' }),
      };
      const settle = (outcome: CallOutcome) => {
        scripted.isOver = true;
        resolve(outcome);
      };
      call.signal.addEventListener('abort', () => settle({ kind: 'interrupted' }));
      this.calls.push(scripted);
      if (this.answersWith !== undefined) scripted.answer(this.answersWith);
    });
  }

  refusalOf(): undefined {
    return undefined;
  }

  async close(): Promise<void> {}
}

const RESPONSE = { kind: 'response', header: [], isCut: false, durationMs: 1 } as const;
