/** Bytes above ASCII in request targets, as some clients send them. Proves PDC1, PDC2, PLC5. */
import { expect } from 'chai';
import { formDecoded, percentDecoded, withEncodedTarget } from '../../../../src/edge/http/percent-encoding.js';

const encoded = (text: string) => withEncodedTarget(Buffer.from(text, 'utf8')).toString('utf8');

describe('edge/http: bytes above ASCII in a request target', () => {
  it('are percent-encoded, and the rest of the connection is unchanged', () => {
    const rest = ' HTTP/1.1\r\nX-Name: é\r\n\r\nGET /é HTTP/1.1\r\n\r\n';
    expect(encoded(`GET /set/é/日?ü=%C3%BC${rest}`)).to.equal(`GET /set/%C3%A9/%E6%97%A5?%C3%BC=%C3%BC${rest}`);
    expect(encoded(`\r\nPOST /é${rest}`)).to.equal(`\r\nPOST /%C3%A9${rest}`);
  });

  it('stay unchanged where the request line is incomplete or invalid', () => {
    for (const text of ['GET /é', 'é', '', '\r\n', 'é\r\n', 'GET\r\nX: é\r\n']) expect(encoded(text)).to.equal(text);
    const bytes = Buffer.from('GET /a HTTP/1.1\r\nX: é\r\n\r\n');
    expect(withEncodedTarget(bytes)).to.equal(bytes);
  });

  it('give the same bytes as percent-encoded ones', () => {
    const bytes = Buffer.from('é').toString('latin1');
    expect([percentDecoded('%C3%A9'), percentDecoded(bytes)]).to.deep.equal([bytes, bytes]);
    expect(formDecoded('a+b%2B%FF')).to.equal('a b+\xff');
    expect([percentDecoded('%'), percentDecoded('%4'), percentDecoded('%zz')]).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
