/** What says of which trace a message is, is in nobody's way. */
import { expect } from 'chai';
import { type HeaderList, MAX_HEADERS } from '../../../../src/domain/queue/index.js';
import { deduplicationKeyOf } from '../../../../src/domain/queue/messages/deduplication-key.js';
import { headerListProblem } from '../../../../src/domain/queue/settings/header-names.js';

const TRACE: HeaderList = [
  ['Traceparent', '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'],
  ['Tracestate', 'vendor=1'],
];
const MOST: HeaderList = Array.from({ length: MAX_HEADERS }, (_, at) => [`X-${at}`, 'value']);

describe('headers of a trace', () => {
  it('do not count among those that a message may have', () => {
    expect(headerListProblem(MOST)).to.equal(undefined);
    expect(headerListProblem([...MOST, ...TRACE])).to.equal(undefined);
    expect(headerListProblem([...MOST, ['X-More', 'value'], ...TRACE])).to.match(/^more than 128 headers/);
  });

  it('count from the second of a name on, and when they are long', () => {
    expect(headerListProblem([...MOST, ...TRACE, ...TRACE])).to.match(/^more than 128 headers/);
    expect(headerListProblem([...MOST, ['Tracestate', 'x'.repeat(513)]])).to.match(/^more than 128 headers/);
  });

  it('are no part of the content by which a message is found again', () => {
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
