/** Reading a response's body up to a limit. */
import { expect } from 'chai';
import { ResponseBody } from '../../../../src/adapters/http-delivery/response-body.js';

const bytes = (text: string) => Buffer.from(text);

describe('response body', () => {
  it('is empty without a piece', () => {
    expect(new ResponseBody(10).bytes()).to.have.length(0);
  });

  it('joins pieces of any size', () => {
    const body = new ResponseBody(1000);
    let all = '';
    for (let size = 0; size < 30; size += 1) {
      const piece = 'x'.repeat(size) + String(size);
      all += piece;
      expect(body.add(bytes(piece))).to.equal(false);
    }
    expect(Buffer.from(body.bytes()).toString()).to.equal(all);
  });

  it('takes exactly its limit and reports the first byte above it', () => {
    const body = new ResponseBody(4);
    expect(body.add(bytes('abcd'))).to.equal(false);
    expect(body.add(bytes('e'))).to.equal(true);
    expect(Buffer.from(body.bytes()).toString()).to.equal('abcd');
  });

  it('cuts the piece that crosses the limit', () => {
    const body = new ResponseBody(4);
    expect(body.add(bytes('abc'))).to.equal(false);
    expect(body.add(bytes('defgh'))).to.equal(true);
    expect(Buffer.from(body.bytes()).toString()).to.equal('abcd');
  });

  it('copies the pieces that it is given', () => {
    const piece = bytes('abcd');
    const body = new ResponseBody(4);
    body.add(piece);
    piece.fill(0);
    expect(Buffer.from(body.bytes()).toString()).to.equal('abcd');
  });

  it('may have a limit of 0', () => {
    const body = new ResponseBody(0);
    expect(body.add(bytes(''))).to.equal(false);
    expect(body.add(bytes('a'))).to.equal(true);
    expect(body.bytes()).to.have.length(0);
  });
});
