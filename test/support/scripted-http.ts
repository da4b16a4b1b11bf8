/** Destinations that answer when a test says so: every call is kept until then. */
import type { CallOutcome, HttpOut, OutgoingCall } from '../../src/ports/index.js';

export interface ScriptedCall extends OutgoingCall {
  /** True once its signal was aborted or it was answered. */
  isOver: boolean;
  answer(status: number, body?: string): void;
  fail(error: string): void;
  /** As when it would go out only now, and may not any more. */
  holdBack(): void;
}

export class ScriptedHttp implements HttpOut {
  /** All calls so far, in the order they were sent. */
  readonly calls: ScriptedCall[] = [];
  /** Set: calls are answered with this status at once. */
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
