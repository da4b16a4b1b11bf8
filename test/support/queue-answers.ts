/** Expectations of answers to raw requests of the queue API, and tables of refused requests. */
import { expect } from 'chai';
import type { QueueProcess, RawAnswer, RawOptions } from './queue-process.js';

export interface PublishedRecord {
  readonly messageId: string;
  readonly url: string;
  readonly deduplicated?: boolean;
}

/** A mistake, its request, and the expected status and text. */
export type RefusedCall = readonly [
  call: string,
  method: string,
  target: string,
  options: RawOptions,
  status: number,
  words: RegExp,
];

/** Expects a refusal: JSON with an error text and no other member. */
export function expectRefused(answer: RawAnswer, status: number, words: RegExp): void {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/json');
  const body = answer.json as { error: string };
  expect(Object.keys(body)).to.deep.equal(['error']);
  expect(body.error).to.match(words);
}

/** Expects a status. @returns the answer's JSON */
export function expectAnswer<T>(answer: RawAnswer, status: number): T {
  expect(answer.status, answer.text).to.equal(status);
  expect(answer.headers['content-type']).to.equal('application/json');
  return answer.json as T;
}

/** Expects success of a request without content in its answer. */
export function expectDone(answer: RawAnswer): void {
  expect(answer.status, answer.text).to.equal(200);
}

/** Declares a test for each row. @param queueOf returns the process, which exists when the tests run */
export function itRefuses(queueOf: () => QueueProcess, rows: readonly RefusedCall[]): void {
  for (const [call, method, target, options, status, words] of rows) {
    it(`answers ${status} to ${call}`, async () => {
      expectRefused(await queueOf().request(method, target, options), status, words);
    });
  }
}
