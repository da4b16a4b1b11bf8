/** Trace headers do not count against limits and do not change the content of a message. */
import { expect } from 'chai';
import { type HeaderList, MAX_HEADERS } from '../../../../src/domain/queue/index.js';
import { deduplicationKeyOf } from '../../../../src/domain/queue/messages/deduplication-key.js';
import { headerListProblem } from '../../../../src/domain/queue/model/settings/header-names.js';

const TRACE: HeaderList = [
  ['Traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['Tracestate', 'vendor=1'],
];
const MOST: HeaderList = Array.from({ length: MAX_HEADERS }, (_, at) => [`X-${at}`, 'value']);

describe('trace headers', () => {
  it('do not count for the limit of headers', () => {
    expect(headerListProblem(MOST)).to.equal(undefined);
    expect(headerListProblem([...MOST, ...TRACE])).to.equal(undefined);
    expect(headerListProblem([...MOST, ['X-More', 'value'], ...TRACE])).to.match(/^more than 128 headers/);
  });

  it('count from the second of a name on, and when they are long', () => {
    expect(headerListProblem([...MOST, ...TRACE, ...TRACE])).to.match(/^more than 128 headers/);
    expect(headerListProblem([...MOST, ['Tracestate', 'x'.repeat(513)]])).to.match(/^more than 128 headers/);
  });

  it('are no part of the content for deduplication', () => {
    const keyOf = (header: HeaderList) =>
      deduplicationKeyOf('content', {
        destination: 'https://a.example/',
        endpointUrl: undefined,
        body: Buffer.from('x'),
        header,
      });
    expect(keyOf([...TRACE, ['X-Key', 'a']])).to.equal(keyOf([['X-Key', 'a']]));
    expect(keyOf([['X-Key', 'b']])).to.not.equal(keyOf([['X-Key', 'a']]));
  });
});
