import { expect } from 'chai';
import { bytesOfText, textOfHeader } from '../../../src/kernel/index.js';

describe('kernel: the text of a header', () => {
  it('is UTF-8 where its bytes are valid UTF-8, and Latin-1 otherwise', () => {
    for (const text of ['', 'plain', 'grün', '日本', '😀']) expect(textOfHeader(bytesOfText(text))).to.equal(text);
    expect(textOfHeader('gr\xfcn')).to.equal('grün');
    expect(textOfHeader(`${bytesOfText('ü')}\xfc`)).to.equal('Ã¼ü');
    // A surrogate and an overlong form are no UTF-8.
    for (const bytes of ['\xed\xa0\x80', '\xc0\xaf']) expect(textOfHeader(bytes)).to.equal(bytes);
  });

  it('is the value itself where that is a text already', () => {
    expect(textOfHeader('日本 Ã¼')).to.equal('日本 Ã¼');
  });
});
