import { expect } from 'chai';
import { credentialIn } from '../../../../src/adapters/workers/first-bytes.js';

describe('the credential in the first bytes of a connection', () => {
  const http = (text: string) => credentialIn('kv', Buffer.from(text.replaceAll('\n', '\r\n')));
  const resp = (text: string) => credentialIn('resp', Buffer.from(text.replaceAll('\n', '\r\n')));

  it('is the Authorization header of a request over HTTP, with any case of its name', () => {
    expect(http('GET /get/a HTTP/1.1\nHost: x\nAuthorization: Bearer abc\n\n')).to.equal('Bearer abc');
    expect(http('POST / HTTP/1.1\nAUTHORIZATION:  bare\nHost: x\n\n["GET","a"]')).to.equal('bare');
  });

  it('is not read from an incomplete head, or from the body', () => {
    expect(http('GET /get/a HTTP/1.1\nAuthorization: Bearer abc\n')).to.equal(undefined);
    expect(http('POST / HTTP/1.1\nHost: x\n\n\nAuthorization: Bearer abc\n\n')).to.equal(undefined);
  });

  it('is AUTH or HELLO over RESP, without the commands that follow', () => {
    const auth = '*2\n$4\nAUTH\n$3\nabc\n';
    const hello = '*5\n$5\nhello\n$1\n3\n$4\nAUTH\n$7\ndefault\n$3\na\nc\n';
    for (const text of [auth, `${auth}*1\n$4\nPING\n`]) expect(resp(text)).to.equal(auth.replaceAll('\n', '\r\n'));
    // A password may have any bytes.
    expect(resp(hello.replace('$3', '$4'))).to.equal(hello.replace('$3', '$4').replaceAll('\n', '\r\n'));
  });

  it('is not there over RESP before the command is complete, in another command, or in wrong lengths', () => {
    for (const text of [
      '*2\n$4\nAUTH\n$3\nab',
      '*1\n$4\nPING\n',
      'AUTH abc\n',
      '*2\n$4\nAUTH\n$x\nabc\n',
      '*2\n$4\nAUTH\n',
    ]) {
      expect(resp(text), text).to.equal(undefined);
    }
  });
});
