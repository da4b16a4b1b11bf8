import { expect } from 'chai';
import { type ClientReply, ReplyError, ReplyReader } from '../../../../src/cli/import/reply-reader.js';

describe('replies as a client reads them', () => {
  const BYTES = '+OK\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n-ERR no\r\n*0\r\n';
  const REPLIES: ClientReply[] = ['OK', -7, 'a\r\n', null, null, ['x', [1]], new ReplyError('ERR no'), []];

  it('are the same, however they are cut', () => {
    for (let size = 1; size <= BYTES.length; size += 1) {
      const reader = new ReplyReader();
      const replies: ClientReply[] = [];
      for (let at = 0; at < BYTES.length; at += size) {
        reader.feed(Buffer.from(BYTES.slice(at, at + size), 'latin1'));
        for (let reply = reader.next(); reply !== undefined; reply = reader.next()) replies.push(reply);
      }
      expect(replies, String(size)).to.deep.equal(REPLIES);
    }
  });

  it('are of bounded size, and of that protocol', () => {
    const read = (bytes: string) => {
      const reader = new ReplyReader();
      reader.feed(Buffer.from(bytes, 'latin1'));
      return reader.next();
    };
    expect(read('$536870912\r\n')).to.equal(undefined);
    expect(() => read('$536870913\r\n')).to.throw('a reply of 536870913 bytes or items');
    expect(() => read('*1048577\r\n')).to.throw('a reply of 1048577 bytes or items');
    expect(() => read('$x\r\n')).to.throw('a reply of x bytes or items');
    expect(() => read('HTTP/1.1 400 Bad Request\r\n')).to.throw('what answers does not speak RESP');
    expect(() => read('+'.repeat(64 * 1024 + 1))).to.throw('a reply without an end');
  });
});
