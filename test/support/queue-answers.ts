/** What raw calls of the queue's face are expected to answer, and tables of calls that are refused. */
import { expect } from 'chai';
import type { QueueProcess, RawAnswer, RawOptions } from './queue-process.js';

export interface PublishedRecord {
  readonly messageId: string;
  readonly url: string;
  readonly deduplicated?: boolean;
}

/** A mistake, its call, and the status and the words that it gets. */
export type RefusedCall = readonly [
  call: string,
  method: string,
  target: string,
  options: RawOptions,
  status: number,
  words: RegExp,
];

/** Refusals are JSON with a text of their own, and nothing else. */
export function expectRefused(answer: RawAnswer, status: number, words: RegExp): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/json');
  const body = answer.json as { error: string };
  expect(Object.keys(body)).to.deep.equal(['error']);
  expect(body.error).to.match(words);
}

/** @returns the JSON of the answer */
export function expectAnswer<T>(answer: RawAnswer, status: number): T {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/json');
  return answer.json as T;
}

/** Of calls whose answer nobody reads. */
export function expectDone(answer: RawAnswer): void {
  expect(answer.status, answer.text).to.equal(200);
}

/** A test for each row. @param queueOf the process, which is there when the tests run */
export function itRefuses(queueOf: () => QueueProcess, rows: readonly RefusedCall[]): void {
  for (const [call, method, target, options, status, words] of rows) {
    it(`answers ${status} to ${call}`, async () => {
      expectRefused(await queueOf().request(method, target, options), status, words);
    });
  }
}
