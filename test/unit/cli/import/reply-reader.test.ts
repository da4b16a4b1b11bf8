import { expect } from 'chai';
import { type ClientReply, ReplyError, ReplyReader } from '../../../../src/cli/import/reply-reader.js';

describe('replies in the import client', () => {
  const BYTES = '+OK\r\n:-7\r\n$3\r\na\r\n\r\n$-1\r\n*-1\r\n*2\r\n$1\r\nx\r\n*1\r\n:1\r\n-ERR no\r\n*0\r\n';
  const REPLIES: ClientReply[] = ['OK', -7, 'a\r\n', null, null, ['x', [1]], new ReplyError('ERR no'), []];

  it('are the same for any split of their bytes', () => {
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

  it('are refused when they are too large or of another protocol', () => {
    const read = (bytes: string) => {
      const reader = new ReplyReader();
      reader.feed(Buffer.from(bytes, 'latin1'));
      return reader.next();
    };
    expect(read('$536870912\r\n')).to.equal(undefined);
    expect(() => read('$536870913\r\n')).to.throw('the reply has an invalid or too large length: 536870913');
    expect(() => read('*1048577\r\n')).to.throw('the reply has an invalid or too large length: 1048577');
    expect(() => read('$x\r\n')).to.throw('the reply has an invalid or too large length: x');
    expect(() => read('HTTP/1.1 400 Bad Request\r\n')).to.throw('the server does not speak RESP');
    expect(() => read('+'.repeat(64 * 1024 + 1))).to.throw('the reply has no end');
  });
});
